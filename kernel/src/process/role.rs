//! Which processes the person at the console can't do without, and what is kept for them.

use crate::mm::Priority;

/// What a process is to the person at the console. A fork bomb or a program that takes all memory leaves the last
/// process numbers, frames and kernel memory to shells, and to what they start until it runs a program of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Process 1.
    Init,
    /// Forked by process 1, on its way to become a shell.
    NewShell,
    /// Started by process 1.
    Shell,
    /// Forked by a shell, and no program of its own yet.
    Helper,
    /// Everybody else.
    Ordinary,
}

impl Role {
    /// The role of a child at `fork`.
    pub(super) const fn of_child(self) -> Self {
        match self {
            Self::Init => Self::NewShell,
            Self::Shell => Self::Helper,
            _ => Self::Ordinary,
        }
    }

    /// The role after `execve`.
    pub(super) const fn after_exec(self) -> Self {
        match self {
            Self::Init => Self::Init,
            Self::NewShell => Self::Shell,
            _ => Self::Ordinary,
        }
    }

    /// Which frames it may use.
    pub(crate) const fn priority(self) -> Priority {
        match self {
            Self::Init => Priority::Init,
            Self::NewShell | Self::Shell | Self::Helper => Priority::Shell,
            Self::Ordinary => Priority::Ordinary,
        }
    }

    /// Whether it may use what is kept for the console.
    pub(crate) const fn is_privileged(self) -> bool {
        !matches!(self, Self::Ordinary)
    }

    /// Whether it waits for the processor with the few that the person can't do without.
    pub(super) const fn serves_console(self) -> bool {
        matches!(self, Self::Init | Self::NewShell | Self::Shell)
    }

    /// Whether the person would be left without a shell.
    pub(super) const fn is_shell(self) -> bool {
        matches!(self, Self::NewShell | Self::Shell)
    }
}
