//! Questions to the agent: put it to the router, park, take the outcome.

use super::report::text;
use super::{wake, with_router};
use crate::arch::clock::{self, Nanos};
use crate::{process, sched};
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::{Decider, Errno};
use askr_agentbus::{
    Ask, AskError, AskExtra, AskOutcome, AskPoll, Human, PROGRAM_MAX, Ticket, choices, context,
    default_answer,
};
use askr_wire::message::{AskFacts, PendingAsk};
use askr_wire::{SESSION_PAYLOAD_MAX, code};
use core::fmt::{self, Write};

/// What a program asks.
pub(crate) struct Question<'a> {
    /// Intent, a `DECISION_` code of the protocol.
    pub(crate) code: u16,
    pub(crate) text: &'a [u8],
    /// Choices, context and default.
    pub(crate) extra: &'a AskExtra,
    /// When the waiting ends.
    pub(crate) deadline: Nanos,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) decider: Decider,
    pub(crate) bytes: Vec<u8>,
}

/// Asks for the running process and waits.
///
/// # Errors
/// EAGAIN (nobody attached, or attached no longer; table full), ETIMEDOUT, EACCES (refused), EINTR (a signal), E2BIG.
pub(crate) fn ask(question: &Question<'_>) -> Result<Answer, Errno> {
    let task = sched::current();
    let process = task.process().ok_or(Errno::EINVAL)?;
    let name = process.name();
    let ask = Ask {
        code: question.code,
        question: question.text,
        deadline: question.deadline,
        pid: process.pid(),
        program: &name[..name.len().min(PROGRAM_MAX)],
        extra: Some(question.extra),
    };
    let ticket =
        with_router(|router| router.ask(clock::now(), &ask, process.pid())).map_err(|error| match error {
            AskError::NotAttached | AskError::TableFull => Errno::EAGAIN,
            AskError::TooLong => Errno::E2BIG,
        })?;
    wake();
    let mut buffer = vec![0; SESSION_PAYLOAD_MAX];
    match wait(ticket, &mut buffer, process::interrupted) {
        AskOutcome::Answered { decider, len, .. } => {
            buffer.truncate(len);
            Ok(Answer { decider, bytes: buffer })
        }
        AskOutcome::TimedOut => Err(Errno::ETIMEDOUT),
        AskOutcome::Refused => Err(Errno::EACCES),
        AskOutcome::LinkLost => Err(Errno::EAGAIN),
        AskOutcome::Cancelled => Err(Errno::EINTR),
    }
}

/// Answers an ask for the person at the console: the caller has asked the policy.
///
/// # Errors
/// ENOENT (there was no such ask), ESTALE (it was settled before), EINVAL (none of its choices).
pub(crate) fn answer_by_hand(number: u32, answer: &[u8]) -> Result<(), Errno> {
    match with_router(|router| router.answer_by_hand(number, answer)) {
        Human::Accepted(pid) => {
            process::wake(pid);
            Ok(())
        }
        Human::Late => Err(Errno::ESTALE),
        Human::Unknown => Err(Errno::ENOENT),
        Human::NotAChoice => Err(Errno::EINVAL),
    }
}

/// `/proc/asks`: the asks that wait, one to a line. All bytes are escaped, quotation marks too.
///
/// # Errors
/// ENOMEM.
pub(crate) fn asks() -> Result<Vec<u8>, Errno> {
    let now = clock::now();
    with_router(|router| text(|to| router.waiting(now).try_for_each(|ask| write_ask(&ask, to))))
}

fn write_ask(ask: &PendingAsk<'_>, to: &mut dyn Write) -> fmt::Result {
    let &PendingAsk { seq, facts: AskFacts { pid, left_ms, program }, question, ext, .. } = ask;
    let (seconds, tenths) = (left_ms / 1000, left_ms % 1000 / 100);
    write!(to, "{} pid={pid} left={seconds}.{tenths} program=", seq & !code::ASK_SEQ_FIRST)?;
    write!(to, "\"{}\" question=\"{}\"", program.escape_ascii(), question.escape_ascii())?;
    for choice in choices(ext) {
        write!(to, " choice=\"{}\"", choice.escape_ascii())?;
    }
    for (key, value) in context(ext) {
        write!(to, " context=\"{}\":\"{}\"", key.escape_ascii(), value.escape_ascii())?;
    }
    if let Some(default) = default_answer(ext) {
        write!(to, " default=\"{}\"", default.escape_ascii())?;
    }
    writeln!(to)
}

/// Parks until the ask is over. Every way in which it ends wakes the process, and the wake is sticky. A signal that
/// `called_off` takes for one calls the ask off, which ends it too, unless an answer was there first: then that counts.
pub(super) fn wait(ticket: Ticket, buffer: &mut [u8], called_off: impl Fn() -> bool) -> AskOutcome {
    loop {
        match with_router(|router| router.take(ticket, buffer)) {
            AskPoll::Done(outcome) => return outcome,
            // Nobody else takes this ticket's outcome.
            AskPoll::Stale => return AskOutcome::Cancelled,
            AskPoll::Pending if called_off() => {
                // The one to wake would be this task.
                with_router(|router| router.cancel(ticket));
            }
            AskPoll::Pending => sched::park(),
        }
    }
}
