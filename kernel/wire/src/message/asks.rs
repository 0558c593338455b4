use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};

/// Who asks and how long there is, in the ext of a DECISION_REQ ([`crate::ext::ASK_FACTS`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskFacts<'a> {
    /// The process that asks.
    pub pid: u32,
    /// Time left for an answer, in milliseconds.
    pub left_ms: u32,
    /// Its program, at most 255 bytes.
    pub program: &'a [u8],
}

impl<'a> Message<'a> for AskFacts<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.pid)?;
        to.u32(self.left_ms)?;
        to.short_string(self.program)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { pid: from.u32()?, left_ms: from.u32()?, program: from.short_string()? })
    }
}

/// ASKS: waiting asks from number `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsksRequest {
    /// Number of asks to skip.
    pub start: u16,
}

impl Message<'_> for AsksRequest {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u16(self.start)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { start: from.u16()? })
    }
}

/// One waiting ask in the response to ASKS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingAsk<'a> {
    /// Its `seq`, by which ANSWER names it.
    pub seq: u32,
    /// Its intent: see [`crate::code`].
    pub code: u16,
    /// Who asks and how long there is.
    pub facts: AskFacts<'a>,
    /// The question.
    pub question: &'a [u8],
    /// The rest of the ext of its DECISION_REQ: everything but [`AskFacts`].
    pub ext: &'a [u8],
}

impl<'a> Message<'a> for PendingAsk<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.seq)?;
        to.u16(self.code)?;
        self.facts.put(to)?;
        to.long_string(self.question)?;
        to.long_string(self.ext)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            seq: from.u32()?,
            code: from.u16()?,
            facts: AskFacts::get(from)?,
            question: from.long_string()?,
            ext: from.long_string()?,
        })
    }
}

/// One of the answers that an ask takes, in the ext ([`crate::ext::ASK_CHOICES`]); choices follow each other to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice<'a>(pub &'a [u8]);

impl<'a> Message<'a> for Choice<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.short_string(self.0)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self(from.short_string()?))
    }
}

/// Something that helps to answer, in the ext ([`crate::ext::ASK_CONTEXT`]); pairs follow each other to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    /// What it is.
    pub key: &'a [u8],
    /// Bytes of any kind.
    pub value: &'a [u8],
}

impl<'a> Message<'a> for Context<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.short_string(self.key)?;
        to.long_string(self.value)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { key: from.short_string()?, value: from.long_string()? })
    }
}

/// What is said to an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    /// The answer the program gets.
    Answer(&'a [u8]),
    /// No answer is given: the program gets EACCES.
    Refuse,
}

/// ANSWER: settles an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerRequest<'a> {
    /// `seq` of the ask.
    pub ask: u32,
    /// What is said to it.
    pub decision: Decision<'a>,
}

impl<'a> Message<'a> for AnswerRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.ask)?;
        match self.decision {
            Decision::Answer(answer) => {
                to.u8(0)?;
                to.bytes(answer)
            }
            Decision::Refuse => to.u8(1),
        }
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let ask = from.u32()?;
        let decision = match from.u8()? {
            0 => Decision::Answer(from.take_rest()),
            1 => Decision::Refuse,
            _ => return Err(DecodeError::Value),
        };
        Ok(Self { ask, decision })
    }
}

/// Body of the response to ANSWER.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AnswerReply {
    /// The program gets it.
    Accepted = 0,
    /// It was an ask of this boot, but it is settled already.
    Late = 1,
    /// Nobody asked that since this boot.
    Unknown = 2,
    /// The ask has choices, and the answer is none of them; it waits on.
    NotAChoice = 3,
}

impl Message<'_> for AnswerReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(*self as u8)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match from.u8()? {
            0 => Ok(Self::Accepted),
            1 => Ok(Self::Late),
            2 => Ok(Self::Unknown),
            3 => Ok(Self::NotAChoice),
            _ => Err(DecodeError::Value),
        }
    }
}
