//! With which status the program ends. `docs/host.md` has the same table.

use std::process::ExitCode;

use host_bridge::client::NoHub;
use host_bridge::json::Problem;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Failed,
    Usage,
    NoHub,
    NoGuest,
    Interrupted,
    Terminated,
}

impl Exit {
    /// All, by their code.
    pub(crate) const ALL: [Self; 7] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::NoHub,
        Self::NoGuest,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The status. A signal is told as shells do for programs that it ended.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NoHub => 3,
            Self::NoGuest => 4,
            Self::Interrupted => 128 + 2,
            Self::Terminated => 128 + 15,
        }
    }

    /// When it is that.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "it failed: guest or hub said no, or something is broken",
            Self::Usage => "the command line is wrong, or the request on it",
            Self::NoHub => "no hub runs there, or it takes no more clients",
            Self::NoGuest => "the hub has no guest",
            Self::Interrupted => "ended by Ctrl-C (SIGINT)",
            Self::Terminated => "ended by SIGTERM",
        }
    }

    /// After a reply that is an error with this code.
    pub(crate) fn of_error(code: &str) -> Self {
        let is = |problems: &[Problem]| problems.iter().any(|problem| problem.code() == code);
        if is(&[Problem::BadRequest, Problem::UnknownOp, Problem::LineTooLong]) {
            Self::Usage
        } else if is(&[Problem::TooManyClients, Problem::HubStopping]) {
            Self::NoHub
        } else if is(&[Problem::NotReady]) {
            Self::NoGuest
        } else {
            Self::Failed
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The part of a help text that tells these.
pub(crate) fn help(exits: &[Exit]) -> String {
    let line = |exit: &Exit| format!("\n  {:>3}  {}", exit.code(), exit.meaning());
    format!("Exit status:{}", exits.iter().map(line).collect::<String>())
}

/// Why a command ended early.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// For people, on one line.
    pub(crate) message: String,
}

impl Failure {
    /// The command line is wrong.
    pub(crate) fn usage(message: String) -> Self {
        Self { exit: Exit::Usage, message }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { exit: Exit::Failed, message }
    }
}

impl From<NoHub> for Failure {
    fn from(error: NoHub) -> Self {
        Self { exit: Exit::NoHub, message: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_tells_every_status() {
        let page = include_str!("../../../docs/host.md");
        let rows = page.lines().skip_while(|line| !line.starts_with("| status |")).skip(2);
        let rows: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
        let told = Exit::ALL.map(|exit| format!("| {} | {} |", exit.code(), exit.meaning()));
        assert_eq!(rows.len(), told.len());
        for (row, told) in rows.iter().zip(told) {
            assert!(row.starts_with(&told), "{row}\nis not {told}");
        }
    }

    #[test]
    fn errors_that_a_script_treats_in_different_ways_have_different_statuses() {
        let exits = ["bad_request", "not_ready", "too_many_clients", "ENOENT"].map(Exit::of_error);
        assert_eq!(exits, [Exit::Usage, Exit::NoGuest, Exit::NoHub, Exit::Failed]);
    }
}
