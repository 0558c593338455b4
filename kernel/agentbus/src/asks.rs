//! The questions that programs have put and nobody has answered yet.

use alloc::boxed::Box;
use alloc::vec;

use askr_abi::{ASK_EXTRA_MAX, Decider, QUESTION_MAX};
use askr_wait::{Full, Nanos, Outcome, Poll, Ticket, WaitTable};
use askr_wire::message::{AskFacts, Decision, PendingAsk};
use askr_wire::status::Status;
use askr_wire::{ListWriter, SESSION_PAYLOAD_MAX, code};

use crate::NANOS_PER_MS;
use crate::ask_ext::{AskExtra, fitting, takes};
use crate::bounded::Text;

/// Most asks at a time.
pub const ASKS_MAX: usize = 64;
/// Longest name of a program that asks, in bytes.
pub const PROGRAM_MAX: usize = 255;
/// Longest answer, in bytes: whatever a frame can bring.
const ANSWER_MAX: usize = SESSION_PAYLOAD_MAX;

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Intent: [`code::DECISION_GENERIC`] or [`code::DECISION_NATURAL`].
    pub code: u16,
    /// The text, at most [`QUESTION_MAX`] bytes.
    pub question: &'a [u8],
    /// When the wait for an answer ends.
    pub deadline: Nanos,
    /// Who asks.
    pub pid: u32,
    /// Its program, at most [`PROGRAM_MAX`] bytes.
    pub program: &'a [u8],
    /// Choices, context and default, if there are any.
    pub extra: Option<&'a AskExtra>,
}

/// Why an ask was not taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskError {
    /// Nobody is there to answer; EAGAIN.
    NotAttached,
    /// [`ASKS_MAX`] asks are waiting; EAGAIN.
    TableFull,
    /// The question or the name of the program is over its limit; E2BIG.
    TooLong,
}

/// What came of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskOutcome {
    /// There is an answer.
    Answered {
        /// Who gave it.
        decider: Decider,
        /// Bytes of it in the caller's buffer.
        len: usize,
        /// Bytes of the whole answer.
        total: usize,
    },
    /// The deadline passed.
    TimedOut,
    /// The peer refused to answer.
    Refused,
    /// The last peer went away.
    LinkLost,
    /// A signal came first.
    Cancelled,
}

/// Whether an ask is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskPoll {
    /// It is not.
    Pending,
    /// It is, and its place is free again.
    Done(AskOutcome),
    /// There is no such ask: its outcome was taken before.
    Stale,
}

/// What ends a wait from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Answered(Decider),
    Refused,
    LinkLost,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery<W> {
    Accepted(W),
    Late,
    Unknown,
    /// The ask has choices and waits on: this is none of them.
    NotAChoice,
}

/// All that is known about the ask in a slot, beside its wait.
struct Record {
    seq: u32,
    code: u16,
    pid: u32,
    program: Text<PROGRAM_MAX>,
    question: Text<QUESTION_MAX>,
    /// Choices, context and default.
    extra: Box<[u8]>,
    extra_len: usize,
    answer: Box<[u8]>,
    answer_len: usize,
    /// Whether it is still to be sent to whoever is attached now.
    unsent: bool,
}

/// What a DECISION_REQ says.
pub(crate) struct AskView<'a> {
    pub(crate) seq: u32,
    pub(crate) code: u16,
    pub(crate) facts: AskFacts<'a>,
    pub(crate) question: &'a [u8],
    pub(crate) extra: &'a [u8],
}

pub(crate) struct AskTable<W> {
    wait: WaitTable<Verdict, W, ASKS_MAX>,
    records: Box<[Record]>,
    /// Number of asks taken on since boot.
    opened: u64,
}

/// `[count:2]` of a list.
const LIST_HEAD: usize = 2;
/// `[seq:4][code:2][pid:4][left_ms:4][proglen:1][qlen:2][extlen:2]` of a [`PendingAsk`].
const PENDING_HEAD: usize = 19;

/// Asks have the numbers from [`code::ASK_SEQ_FIRST`] to the end, then again.
const SEQ_RANGE: u64 = 1 << 31;

impl<W> AskTable<W> {
    pub(crate) fn new() -> Self {
        let record = |_| Record {
            seq: 0,
            code: 0,
            pid: 0,
            program: Text::EMPTY,
            question: Text::EMPTY,
            extra: vec![0; ASK_EXTRA_MAX].into_boxed_slice(),
            extra_len: 0,
            answer: vec![0; ANSWER_MAX].into_boxed_slice(),
            answer_len: 0,
            unsent: false,
        };
        Self { wait: WaitTable::new(), records: (0..ASKS_MAX).map(record).collect(), opened: 0 }
    }

    pub(crate) fn open(&mut self, ask: &Ask<'_>, waiter: W) -> Result<Ticket, AskError> {
        let question = Text::new(ask.question).ok_or(AskError::TooLong)?;
        let program = Text::new(ask.program).ok_or(AskError::TooLong)?;
        let ticket = self.wait.open(waiter, ask.deadline).map_err(|Full| AskError::TableFull)?;
        let seq = self.unused_seq();
        let record = &mut self.records[ticket.index()];
        (record.seq, record.code, record.pid, record.unsent) = (seq, ask.code, ask.pid, true);
        (record.program, record.question, record.answer_len) = (program, question, 0);
        let extra = ask.extra.map_or(&[][..], AskExtra::bytes);
        record.extra[..extra.len()].copy_from_slice(extra);
        record.extra_len = extra.len();
        Ok(ticket)
    }

    /// The next number that no waiting ask has: it takes more than one try only 2^31 asks later.
    fn unused_seq(&mut self) -> u32 {
        let mut seq = code::ASK_SEQ_FIRST;
        for _ in 0..=ASKS_MAX {
            seq = code::ASK_SEQ_FIRST | u32::try_from(self.opened % SEQ_RANGE).unwrap_or(0);
            self.opened += 1;
            if self.records.iter().all(|record| record.seq != seq) {
                break;
            }
        }
        seq
    }

    /// Gives an ask its answer or refusal. A DECISION_RESP names the intent too, and is for nobody if it is
    /// not that of the ask.
    pub(crate) fn deliver(
        &mut self,
        seq: u32,
        code: Option<u16>,
        decision: Decision<'_>,
        decider: Decider,
    ) -> Delivery<W> {
        let found = self.wait.pending().find(|(ticket, _)| self.records[ticket.index()].seq == seq);
        let Some((ticket, _)) = found else {
            return if self.was_asked(seq) { Delivery::Late } else { Delivery::Unknown };
        };
        let record = &mut self.records[ticket.index()];
        if code.is_some_and(|code| code != record.code) {
            return Delivery::Unknown;
        }
        let verdict = match decision {
            Decision::Answer(answer) if !takes(record.extra(), answer) => return Delivery::NotAChoice,
            Decision::Answer(answer) => {
                let answer = &answer[..answer.len().min(ANSWER_MAX)];
                record.answer[..answer.len()].copy_from_slice(answer);
                record.answer_len = answer.len();
                Verdict::Answered(decider)
            }
            Decision::Refuse => Verdict::Refused,
        };
        self.wait.settle(ticket, verdict).map_or(Delivery::Late, Delivery::Accepted)
    }

    fn was_asked(&self, seq: u32) -> bool {
        seq.checked_sub(code::ASK_SEQ_FIRST).is_some_and(|number| u64::from(number) < self.opened)
    }

    pub(crate) fn take(&mut self, ticket: Ticket, into: &mut [u8]) -> AskPoll {
        let outcome = match self.wait.take(ticket) {
            Poll::Pending => return AskPoll::Pending,
            Poll::Stale => return AskPoll::Stale,
            Poll::Done(outcome) => outcome,
        };
        AskPoll::Done(match outcome {
            Outcome::Settled(Verdict::Answered(decider)) => {
                let record = &self.records[ticket.index()];
                let (total, len) = (record.answer_len, record.answer_len.min(into.len()));
                into[..len].copy_from_slice(&record.answer[..len]);
                AskOutcome::Answered { decider, len, total }
            }
            Outcome::Settled(Verdict::Refused) => AskOutcome::Refused,
            Outcome::Settled(Verdict::LinkLost) => AskOutcome::LinkLost,
            Outcome::TimedOut => AskOutcome::TimedOut,
            Outcome::Cancelled => AskOutcome::Cancelled,
        })
    }

    pub(crate) fn cancel(&mut self, ticket: Ticket) -> Option<W> {
        self.wait.cancel(ticket).ok()
    }

    /// Frees the place of an asker that has died. Returns whether the ask was still waiting.
    pub(crate) fn forget(&mut self, ticket: Ticket) -> bool {
        let pending = self.wait.cancel(ticket).is_ok();
        self.wait.forget(ticket);
        pending
    }

    pub(crate) fn expire(&mut self, now: Nanos) -> Option<W> {
        self.wait.expire(now).map(|(_, waiter)| waiter)
    }

    /// Ends one ask because nobody is left to answer it.
    pub(crate) fn lose(&mut self) -> Option<W> {
        let (ticket, _) = self.wait.pending().next()?;
        self.wait.settle(ticket, Verdict::LinkLost).ok()
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.wait.next_deadline()
    }

    pub(crate) fn pending(&self) -> usize {
        self.wait.waiting()
    }

    /// Has all waiting asks sent again.
    pub(crate) fn resend(&mut self) {
        self.records.iter_mut().for_each(|record| record.unsent = true);
    }

    /// The oldest ask that is still to be sent; from now on it is not.
    pub(crate) fn next_unsent(&mut self, now: Nanos) -> Option<AskView<'_>> {
        let unsent = self.wait.pending().filter(|(ticket, _)| self.records[ticket.index()].unsent);
        let (ticket, deadline) = unsent.min_by_key(|(ticket, _)| self.records[ticket.index()].seq)?;
        let record = &mut self.records[ticket.index()];
        record.unsent = false;
        Some(record.view(now, deadline))
    }

    /// The waiting asks from number `start` on, the oldest first.
    pub(crate) fn waiting(&self, now: Nanos, start: usize) -> impl Iterator<Item = AskView<'_>> {
        let mut found = [(0, 0, 0); ASKS_MAX];
        let mut count = 0;
        for (slot, (ticket, deadline)) in found.iter_mut().zip(self.wait.pending()) {
            *slot = (self.records[ticket.index()].seq, ticket.index(), deadline);
            count += 1;
        }
        found[..count].sort_unstable();
        let chosen = found.into_iter().take(count).skip(start);
        chosen.map(move |(_, index, deadline)| self.records[index].view(now, deadline))
    }

    /// Writes the body of the response to ASKS: the waiting asks from number `start` on, as many as fit. One that fits into
    /// no response goes without what there is no room for.
    pub(crate) fn encode(&self, now: Nanos, start: u16, out: &mut [u8]) -> Result<usize, Status> {
        let room = out.len();
        let mut list = ListWriter::new(out).map_err(|_| Status::MsgSize)?;
        for AskView { seq, code, facts, question, extra } in self.waiting(now, usize::from(start)) {
            let alone = room.saturating_sub(LIST_HEAD + PENDING_HEAD + facts.program.len() + question.len());
            if list.push(&PendingAsk { seq, code, facts, question, ext: fitting(extra, alone) }).is_err() {
                break;
            }
        }
        Ok(list.finish())
    }
}

impl Record {
    fn extra(&self) -> &[u8] {
        &self.extra[..self.extra_len]
    }

    fn view(&self, now: Nanos, deadline: Nanos) -> AskView<'_> {
        let left_ms = u32::try_from(deadline.saturating_sub(now) / NANOS_PER_MS).unwrap_or(u32::MAX);
        AskView {
            seq: self.seq,
            code: self.code,
            facts: AskFacts { pid: self.pid, left_ms, program: self.program.get() },
            question: self.question.get(),
            extra: self.extra(),
        }
    }
}

#[cfg(test)]
mod tests;
