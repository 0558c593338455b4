//! From a line to a typed command.

use std::time::Duration;

use askr_wire::code::ASK_SEQ_FIRST;
use askr_wire::message::WriteMode;
use serde_json::Value;

use super::error::{Error, Problem};
use super::fields::{Fields, missing};
use super::name;
use crate::session::{AskId, BootId};

/// Longest time without progress, unless the request says otherwise.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
/// Bounds of what a request may say.
const TIMEOUT_MAX: Duration = Duration::from_secs(600);
/// How long `asks.wait` waits unless the request says otherwise.
const WAIT_DEFAULT: Duration = Duration::from_secs(30);
/// Longest that `asks.wait` waits.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// How an ask is named in JSON: the first four bytes of the boot id in hex, a colon, and its number in that boot,
/// so that an answer never reaches an ask of another boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskName {
    /// The first bytes of the boot id.
    pub boot: [u8; 4],
    /// Its sequence number.
    pub seq: u32,
}

impl AskName {
    /// The ask in this boot, if it is of this boot.
    #[must_use]
    pub fn in_boot(self, boot: BootId) -> Option<AskId> {
        boot.0.starts_with(&self.boot).then_some(AskId { boot, seq: self.seq })
    }
}

impl From<AskId> for AskName {
    fn from(id: AskId) -> Self {
        let [a, b, c, d, ..] = id.boot.0;
        Self { boot: [a, b, c, d], seq: id.seq }
    }
}

impl std::fmt::Display for AskName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.seq.wrapping_sub(ASK_SEQ_FIRST).wrapping_add(1);
        write!(f, "{:08x}:{number}", u32::from_be_bytes(self.boot))
    }
}

impl std::str::FromStr for AskName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (boot, number) = text.split_once(':').ok_or(())?;
        if boot.len() != 8 || !boot.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(());
        }
        let boot = u32::from_str_radix(boot, 16).map_err(|_| ())?.to_be_bytes();
        let number: u32 = number.parse().map_err(|_| ())?;
        Ok(Self { boot, seq: number.wrapping_sub(1).wrapping_add(ASK_SEQ_FIRST) })
    }
}

/// What a client wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the operations, which docs/host.md tells one by one")]
pub enum Command {
    Status,
    Ping,
    Stats,
    Stat {
        path: Vec<u8>,
    },
    List {
        path: Vec<u8>,
    },
    Read {
        path: Vec<u8>,
        offset: u64,
        length: Option<u64>,
    },
    Write {
        path: Vec<u8>,
        content: Vec<u8>,
        mode: WriteMode,
    },
    Mkdir {
        path: Vec<u8>,
    },
    Remove {
        path: Vec<u8>,
    },
    Processes,
    Asks,
    WaitAsks {
        wait: Duration,
    },
    /// `None` refuses.
    Answer {
        ask: AskName,
        answer: Option<Vec<u8>>,
    },
    Subscribe {
        asks: bool,
        events: bool,
    },
}

/// A request as it came: its id and what it wants, or what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Whatever the client put there; given back in the reply.
    pub id: Value,
    /// Longest time without progress.
    pub timeout: Duration,
    /// What to do.
    pub command: Result<Command, Error>,
}

/// Takes a line apart. A line that is no request has the id null.
#[must_use]
pub fn parse(line: &[u8]) -> Envelope {
    let refuse = |message: String| Envelope {
        id: Value::Null,
        timeout: TIMEOUT_DEFAULT,
        command: Err(Error::new(Problem::BadRequest, message)),
    };
    let map = match serde_json::from_slice(line) {
        Ok(Value::Object(map)) => map,
        Ok(_) => return refuse("the line is no JSON object".into()),
        Err(error) => return refuse(format!("the line is no JSON: {error}")),
    };
    let mut fields = Fields(map);
    let id = fields.0.remove(name::ID).unwrap_or(Value::Null);
    let timeout = fields.number(name::TIMEOUT_MS);
    match timeout {
        Ok(timeout) => Envelope {
            id,
            timeout: timeout.map_or(TIMEOUT_DEFAULT, |ms| Duration::from_millis(ms).min(TIMEOUT_MAX)),
            command: command(fields),
        },
        Err(error) => Envelope { id, timeout: TIMEOUT_DEFAULT, command: Err(error) },
    }
}

fn command(mut fields: Fields) -> Result<Command, Error> {
    let op = fields.text(name::OP)?.ok_or_else(|| missing(name::OP))?;
    let command = match op.as_str() {
        "status" => Command::Status,
        "ping" => Command::Ping,
        "stats" => Command::Stats,
        "fs.stat" => Command::Stat { path: fields.path()? },
        "fs.list" => Command::List { path: fields.path()? },
        "fs.read" => Command::Read {
            path: fields.path()?,
            offset: fields.number(name::OFFSET)?.unwrap_or(0),
            length: fields.number(name::LENGTH)?,
        },
        "fs.write" => Command::Write {
            path: fields.path()?,
            mode: write_mode(&mut fields)?,
            content: fields.content()?,
        },
        "fs.mkdir" => Command::Mkdir { path: fields.path()? },
        "fs.remove" => Command::Remove { path: fields.path()? },
        "proc.list" => Command::Processes,
        "asks.list" => Command::Asks,
        "asks.wait" => Command::WaitAsks {
            wait: fields.number(name::WAIT_MS)?.map_or(WAIT_DEFAULT, Duration::from_millis).min(WAIT_MAX),
        },
        "ask.answer" => answer(&mut fields)?,
        "subscribe" => Command::Subscribe {
            asks: fields.flag(name::ASKS)?.unwrap_or(true),
            events: fields.flag(name::EVENTS)?.unwrap_or(false),
        },
        other => return Err(Error::new(Problem::UnknownOp, format!("there is no operation `{other}`"))),
    };
    fields.finish()?;
    Ok(command)
}

fn write_mode(fields: &mut Fields) -> Result<WriteMode, Error> {
    match fields.text(name::MODE)?.as_deref() {
        None | Some("replace") => Ok(WriteMode::Replace),
        Some("append") => Ok(WriteMode::Append),
        Some(other) => {
            let what = format!("`{}` is `replace` or `append`, not `{other}`", name::MODE);
            Err(Error::new(Problem::BadRequest, what))
        }
    }
}

fn answer(fields: &mut Fields) -> Result<Command, Error> {
    let text = fields.text(name::ASK)?.ok_or_else(|| missing(name::ASK))?;
    let no_name = || Error::new(Problem::UnknownAsk, format!("`{text}` names no ask"));
    let ask = text.parse().map_err(|()| no_name())?;
    let answer = fields.bytes(name::ANSWER)?;
    let refuse = fields.flag(name::REFUSE)?.unwrap_or(false);
    if answer.is_some() == refuse {
        let what = format!("give `{}`, or `{}` as true", name::ANSWER, name::REFUSE);
        return Err(Error::new(Problem::BadRequest, what));
    }
    Ok(Command::Answer { ask, answer })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Result<Command, Error> {
        parse(line.as_bytes()).command
    }

    #[test]
    fn ids_come_back_whatever_they_are() {
        for id in ["7", "\"x\"", "null", "{\"a\":[1]}"] {
            let envelope = parse(format!("{{\"id\":{id},\"op\":\"status\"}}").as_bytes());
            assert_eq!(envelope.id.to_string(), id);
            assert_eq!(envelope.command, Ok(Command::Status));
        }
        assert_eq!(parse(br#"{"id":7,"op":"nonsense"}"#).id, 7);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for line in [
            "",
            "nonsense",
            "[]",
            "7",
            "{",
            r#"{"op":7}"#,
            "{}",
            r#"{"op":"status","op2":1}"#,
            r#"{"op":"fs.read"}"#,
            r#"{"op":"fs.read","path":7}"#,
            r#"{"op":"fs.read","path":"/a","offset":-1}"#,
            r#"{"op":"fs.read","path":"/a","path_base64":"L2E="}"#,
            r#"{"op":"fs.stat","path_base64":"!"}"#,
            r#"{"op":"fs.write","path":"/a"}"#,
            r#"{"op":"fs.write","path":"/a","content":"","mode":"x"}"#,
            r#"{"op":"fs.write","path":"/a","content":"","encoding":"hex"}"#,
            r#"{"op":"ask.answer","ask":"00000000:1"}"#,
            r#"{"op":"status","timeout_ms":"1"}"#,
            r#"{"op":"ask.answer","ask":"00000000:1","answer":"x","refuse":true}"#,
        ] {
            let error = command(line).unwrap_err();
            assert_eq!(error.code(), Problem::BadRequest.code(), "{line}");
        }
        assert!(parse(b"\xff\xfe").command.is_err());
    }

    #[test]
    fn bytes_come_as_text_or_base64() {
        let expected = Ok(Command::Stat { path: b"/\xff".to_vec() });
        assert_eq!(command(r#"{"op":"fs.stat","path_base64":"L/8="}"#), expected);
        let write =
            command(r#"{"op":"fs.write","path":"/a","content":"/w==","encoding":"base64","mode":"append"}"#);
        let expected = Command::Write { path: b"/a".to_vec(), content: vec![0xff], mode: WriteMode::Append };
        assert_eq!(write, Ok(expected));
    }

    #[test]
    fn names_of_asks_round_trip_and_never_look_like_numbers() {
        for seq in [0, 1, ASK_SEQ_FIRST, ASK_SEQ_FIRST + 1, u32::MAX] {
            for boot in [[0; 4], [0x12, 0x34, 0x56, 0x7e], [0xff; 4]] {
                let name = AskName { boot, seq };
                assert_eq!(name.to_string().parse(), Ok(name));
                assert!(serde_json::from_str::<Value>(&name.to_string()).is_err());
            }
        }
        assert_eq!(AskName { boot: [0x3f, 0x9a, 0x1c, 2], seq: ASK_SEQ_FIRST }.to_string(), "3f9a1c02:1");
        for text in
            ["", ":", "1", "3f9a1c02", "3f9a1c02:", "3f9a1c02:x", "+f9a1c02:1", "3f9a1c02:99999999999"]
        {
            assert_eq!(text.parse::<AskName>(), Err(()), "{text}");
        }
    }
}
