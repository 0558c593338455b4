//! The one decision point, bound to errors and the log: whatever changes files or processes asks here first.

use crate::kprintln;
use askr_abi::Errno;
use askr_agentbus::policy::{Action, Origin, decide};
use core::fmt;

/// Asks whether `origin` may do `action`.
///
/// # Errors
/// What the policy refuses with, after a line in the kernel log that says who was refused what and why.
pub(crate) fn check(origin: Origin, action: Action<'_>) -> Result<(), Errno> {
    decide(origin, action).decision.map_err(|reason| {
        kprintln!("{} may not {}: {}", name(origin), Described(action), reason.text());
        reason.errno()
    })
}

/// An action in words, for the log.
struct Described<'a>(Action<'a>);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, path) = match self.0 {
            Action::Write(path) => ("write", path),
            Action::Create(path) => ("create", path),
            Action::Mkdir(path) => ("mkdir", path),
            Action::Remove(path) => ("remove", path),
            Action::Symlink(path) => ("make a symbolic link at", path),
            Action::Truncate(path) => ("truncate", path),
            Action::Attributes(path) => ("change the attributes of", path),
            Action::Rename { from, to } => {
                return write!(f, "rename {} to {}", from.escape_ascii(), to.escape_ascii());
            }
            Action::Link { from, to } => {
                return write!(f, "link {} to {}", from.escape_ascii(), to.escape_ascii());
            }
            Action::Spawn(path) => ("spawn", path),
            Action::Kill(pid) => return write!(f, "kill {pid}"),
            Action::Limits(pid) => return write!(f, "change the limits of {pid}"),
            Action::Power => return f.write_str("power"),
            Action::AnswerAsk { .. } => return f.write_str("answer for the person"),
        };
        write!(f, "{verb} {}", path.escape_ascii())
    }
}

/// The word for an origin, in `/proc` and in messages.
pub(crate) const fn name(origin: Origin) -> &'static str {
    match origin {
        Origin::Kernel => "kernel",
        Origin::Console => "console",
        Origin::Agent { .. } => "agent",
    }
}
