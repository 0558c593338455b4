//! A program's question to the agent: put it to the router, park, take the outcome.

use super::{wake, with_router};
use crate::arch::clock::{self, Nanos};
use crate::{process, sched};
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::{Decider, Errno};
use askr_agentbus::{Ask, AskError, AskOutcome, AskPoll, PROGRAM_MAX, Ticket};
use askr_wire::SESSION_PAYLOAD_MAX;

/// What a program asks.
pub(crate) struct Question<'a> {
    /// Intent, a `DECISION_` code of the protocol.
    pub(crate) code: u16,
    pub(crate) text: &'a [u8],
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
    };
    let ticket =
        with_router(|router| router.ask(clock::now(), &ask, process.pid())).map_err(|error| match error {
            AskError::NotAttached | AskError::TableFull => Errno::EAGAIN,
            AskError::TooLong => Errno::E2BIG,
        })?;
    wake();
    let mut buffer = vec![0; SESSION_PAYLOAD_MAX];
    match wait(ticket, &mut buffer) {
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

/// Parks until the ask is over. Every way in which it ends wakes the process, and the wake is sticky. A signal calls
/// the ask off, which ends it too, unless an answer was there first: then the answer counts.
fn wait(ticket: Ticket, buffer: &mut [u8]) -> AskOutcome {
    loop {
        match with_router(|router| router.take(ticket, buffer)) {
            AskPoll::Done(outcome) => return outcome,
            // Nobody else takes this ticket's outcome.
            AskPoll::Stale => return AskOutcome::Cancelled,
            AskPoll::Pending if process::interrupted() => {
                // The one to wake would be this task.
                with_router(|router| router.cancel(ticket));
            }
            AskPoll::Pending => sched::park(),
        }
    }
}
