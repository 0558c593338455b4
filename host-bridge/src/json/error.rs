//! Errors in JSON: a code for programs, a message and a hint for whoever reads it.

use askr_wire::status::Status;
use serde_json::{Value, json};

use super::name;
use crate::ops::OpError;
use crate::session::CallError;

macro_rules! problems {
    ($($name:ident = $code:literal, $doc:literal, $hint:literal;)*) => {
        /// What went wrong, where it is not the guest that says so.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Problem { $(#[doc = $doc] $name,)* }

        impl Problem {
            /// Every problem.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its code, for programs.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What to do about it.
            #[must_use]
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$name => $hint,)* }
            }
        }
    };
}

problems! {
    BadRequest = "bad_request", "The line is no well-formed request.",
        "docs/host.md lists the operations and their fields";
    UnknownOp = "unknown_op", "No such operation.",
        "the operations are status, ping, stats, sys.info, power, fs.stat, fs.list, fs.read, fs.write, fs.mkdir, \
         fs.remove, fs.unlink, fs.rmdir, fs.rename, fs.truncate, fs.info, proc.list, proc.run, proc.spawn, \
         proc.wait, proc.input, proc.kill, events.read, agent.status, asks.list, asks.wait, ask.answer, subscribe, \
         link.capture";
    LineTooLong = "line_too_long", "The line is too long.",
        "write a large file in pieces, with \"mode\":\"append\" from the second on";
    TooManyClients = "too_many_clients", "The hub has as many clients as it takes.",
        "close a client that is not needed";
    TooManyWaits = "too_many_waits", "The client has as many waits under way as it may.",
        "wait for an earlier asks.wait to end";
    NotReady = "not_ready", "The guest is not attached.",
        "is the guest running? try again when it has booted";
    TimedOut = "timed_out", "The guest did not answer in time; nothing was changed.",
        "nothing was changed; try again, with a longer timeout_ms if the guest is slow";
    OutcomeUnknown = "outcome_unknown", "It is not known whether the change was made.",
        "look at the guest's state before you repeat it";
    GuestRestarted = "guest_restarted", "The guest rebooted meanwhile.",
        "what the guest knew before is gone; begin again";
    SessionLost = "session_lost", "The session ended several times under a request.",
        "nothing was changed; try again";
    TooLarge = "too_large", "The request fits no frame.",
        "use a shorter path, answer or list of arguments; give long input with proc.input";
    Overloaded = "overloaded", "Too many requests wait.", "wait for earlier requests to end";
    HubStopping = "hub_stopping", "The hub is stopping.", "start the guest again";
    Protocol = "protocol", "The guest's answer breaks the protocol.",
        "guest and bridge are of different versions? build both from one tree";
    NotAChoice = "not_a_choice", "The ask takes only its choices.", "asks.list shows its choices; it still waits";
    Late = "late", "The ask was settled before.",
        "somebody else answered first, or the program no longer waits";
    UnknownAsk = "unknown_ask", "Nobody asked that.", "asks.list names the asks that wait";
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

    /// Its code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// What happened, for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
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
        Status::Perm => "the guest's policy forbids it; /bin and /disk/etc cannot be changed from outside",
        Status::Acces => "a program must be a file that is executable: chmod +x makes it so",
        Status::RoFs => "write somewhere else: this filesystem cannot be changed",
        Status::Again | Status::Busy => "try again a little later",
        Status::NoSpc | Status::NoMem => "free some space in the guest first",
        Status::NotDir | Status::IsDir => "fs.stat tells what the path is",
        Status::NotEmpty => "remove what is in the directory first",
        Status::NameTooLong => "use a shorter path",
        Status::Srch => "proc.list shows the processes; a job that ended long ago is forgotten",
        Status::NoExec => "it must be a static x86-64 ELF or begin with #!",
        Status::NoSys => "this kernel has no such verb; status lists those it has",
        _ => "stats has the counters of guest and bridge",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/host.md");

    /// First cells, without backquotes, of the rows of the table under this heading row.
    fn table(heading: &str) -> Vec<&'static str> {
        let rows = PAGE.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
        rows.take_while(|line| line.starts_with('|')).filter_map(|line| line.split('`').nth(1)).collect()
    }

    #[test]
    fn the_page_lists_every_code() {
        let codes: Vec<_> = Problem::ALL.iter().map(|problem| problem.code()).collect();
        let mut listed = table("| `code` |");
        assert!(codes.iter().all(|code| listed.contains(code)), "missing in docs/host.md");
        listed.retain(|code| !codes.contains(code));
        assert!(listed.is_empty(), "only in docs/host.md: {listed:?}");
    }

    #[test]
    fn page_hint_and_parser_know_the_same_operations() {
        let listed = table("| `op` |");
        let hint = Problem::UnknownOp.hint();
        assert_eq!(hint, format!("the operations are {}", listed.join(", ")));
        for op in listed {
            let line = json!({ "op": op }).to_string();
            let unknown =
                crate::json::parse(line.as_bytes()).command.is_err_and(|error| error.code == "unknown_op");
            assert!(!unknown, "{op}");
        }
    }

    #[test]
    fn every_request_on_the_page_is_one() {
        let requests = PAGE.lines().filter(|line| line.starts_with('{') && line.contains("\"op\":"));
        let wrong: Vec<_> =
            requests.clone().filter(|line| crate::json::parse(line.as_bytes()).command.is_err()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(requests.count() >= 7);
    }

    #[test]
    fn a_partial_write_is_told_with_the_path() {
        let error = OpError {
            error: CallError::Guest(Status::NoSpc),
            before: Some("5 of 9 bytes were written".into()),
        };
        let error = Error::of_operation(&error, Some(b"/disk/\xff"));
        assert_eq!(error.code, "ENOSPC");
        assert_eq!(error.message, "/disk/\u{fffd}: no space left (5 of 9 bytes were written)");
    }
}
