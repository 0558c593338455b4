//! Errors in JSON: a code for programs, a message and a hint for whoever reads it.

use askr_wire::status::Status;
use serde_json::{Value, json};

use super::name;
use crate::ops::OpError;
use crate::session::CallError;

/// What went wrong, where it is not the guest that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The line is no well-formed request.
    BadRequest,
    /// No such operation.
    UnknownOp,
    /// The line is too long.
    LineTooLong,
    /// The hub has as many clients as it takes.
    TooManyClients,
    /// The client has as many waits under way as it may.
    TooManyWaits,
    /// The guest is not attached.
    NotReady,
    /// The guest did not answer in time; nothing was changed.
    TimedOut,
    /// It is not known whether the change was made.
    OutcomeUnknown,
    /// The guest rebooted meanwhile.
    GuestRestarted,
    /// The session ended several times under a request.
    SessionLost,
    /// The request fits no frame.
    TooLarge,
    /// Too many requests wait.
    Overloaded,
    /// The hub is stopping.
    HubStopping,
    /// The guest's answer breaks the protocol.
    Protocol,
    /// The ask was settled before.
    Late,
    /// Nobody asked that.
    UnknownAsk,
}

impl Problem {
    const fn code(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::UnknownOp => "unknown_op",
            Self::LineTooLong => "line_too_long",
            Self::TooManyClients => "too_many_clients",
            Self::TooManyWaits => "too_many_waits",
            Self::NotReady => "not_ready",
            Self::TimedOut => "timed_out",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::GuestRestarted => "guest_restarted",
            Self::SessionLost => "session_lost",
            Self::TooLarge => "too_large",
            Self::Overloaded => "overloaded",
            Self::HubStopping => "hub_stopping",
            Self::Protocol => "protocol",
            Self::Late => "late",
            Self::UnknownAsk => "unknown_ask",
        }
    }

    const fn hint(self) -> &'static str {
        match self {
            Self::BadRequest => "docs/host.md lists the operations and their fields",
            Self::UnknownOp => {
                "the operations are status, ping, stats, fs.stat, fs.list, fs.read, fs.write, \
                                fs.mkdir, fs.remove, proc.list, asks.list, asks.wait, ask.answer, subscribe"
            }
            Self::LineTooLong => "write a large file in pieces, with \"mode\":\"append\" from the second on",
            Self::TooManyClients => "close a client that is not needed",
            Self::TooManyWaits => "wait for an earlier asks.wait to end",
            Self::NotReady => "is the guest running? try again when it has booted",
            Self::TimedOut => "nothing was changed; try again, with a longer timeout_ms if the guest is slow",
            Self::OutcomeUnknown => "look at the guest's state before you repeat it",
            Self::GuestRestarted => "what the guest knew before is gone; begin again",
            Self::SessionLost => "nothing was changed; try again",
            Self::TooLarge => "use a shorter path or answer",
            Self::Overloaded => "wait for earlier requests to end",
            Self::HubStopping => "start the guest again",
            Self::Protocol => "guest and bridge are of different versions? build both from one tree",
            Self::Late => "somebody else answered first, or the program no longer waits",
            Self::UnknownAsk => "asks.list names the asks that wait",
        }
    }
}

/// An error as a client gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: &'static str,
    message: String,
    hint: &'static str,
}

impl Error {
    /// An error that the bridge found itself.
    #[must_use]
    pub fn new(problem: Problem, message: impl Into<String>) -> Self {
        Self { code: problem.code(), message: message.into(), hint: problem.hint() }
    }

    /// Why an operation on `what` (such as a path) failed.
    #[must_use]
    pub fn of_operation(error: &OpError, what: Option<&[u8]>) -> Self {
        let (code, reason, hint) = match &error.error {
            CallError::Guest(status) => (status.name(), status.message().to_owned(), status_hint(*status)),
            other => {
                let problem = problem_of(other);
                (problem.code(), other.to_string(), problem.hint())
            }
        };
        let mut message = match what {
            Some(what) => format!("{}: {reason}", String::from_utf8_lossy(what)),
            None => reason,
        };
        if let Some(before) = &error.before {
            message = format!("{message} ({before})");
        }
        Self { code, message, hint }
    }

    pub(super) fn to_value(&self) -> Value {
        json!({ name::CODE: self.code, name::MESSAGE: self.message, name::HINT: self.hint })
    }
}

const fn problem_of(error: &CallError) -> Problem {
    match error {
        CallError::Guest(_) | CallError::Protocol(_) => Problem::Protocol,
        CallError::NotReady => Problem::NotReady,
        CallError::TimedOut => Problem::TimedOut,
        CallError::OutcomeUnknown(_) => Problem::OutcomeUnknown,
        CallError::GuestRestarted => Problem::GuestRestarted,
        CallError::SessionLost => Problem::SessionLost,
        CallError::TooLarge { .. } => Problem::TooLarge,
        CallError::QueueFull => Problem::Overloaded,
        CallError::Closed => Problem::HubStopping,
    }
}

const fn status_hint(status: Status) -> &'static str {
    match status {
        Status::NoEnt => "fs.list of the directory above shows what is there",
        Status::Inval => {
            "paths begin with / and have no NUL; files and directories take different operations"
        }
        Status::Exist => "use another name, or fs.remove it first",
        Status::Perm | Status::Acces => "the guest's policy forbids it; /bin cannot be changed from outside",
        Status::RoFs => "write somewhere else: this filesystem cannot be changed",
        Status::Again | Status::Busy => "try again a little later",
        Status::NoSpc | Status::NoMem => "free some space in the guest first",
        Status::NotDir | Status::IsDir => "fs.stat tells what the path is",
        Status::NotEmpty => "remove what is in the directory first",
        Status::NameTooLong => "use a shorter path",
        Status::NoSys => "this kernel has no such verb; status lists those it has",
        _ => "stats has the counters of guest and bridge",
    }
}
