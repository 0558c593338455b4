//! Sets of signals.

use askr_abi::signal::{
    NSIG, SIG_BLOCK, SIG_SETMASK, SIG_UNBLOCK, SIGBUS, SIGCONT, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSTOP,
    SIGSYS, SIGTRAP, SIGTSTP, SIGTTIN, SIGTTOU,
};

/// A set of signals 1 to 64, in the layout of the kernel's `sigset_t`: bit n − 1 for signal n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SignalSet(u64);

/// What `rt_sigprocmask` does with a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// SIG_BLOCK.
    Block,
    /// SIG_UNBLOCK.
    Unblock,
    /// SIG_SETMASK.
    Set,
}

impl How {
    /// From the first argument of `rt_sigprocmask`.
    #[must_use]
    pub const fn from_argument(how: u64) -> Option<Self> {
        match how {
            SIG_BLOCK => Some(Self::Block),
            SIG_UNBLOCK => Some(Self::Unblock),
            SIG_SETMASK => Some(Self::Set),
            _ => None,
        }
    }
}

impl SignalSet {
    /// No signal.
    pub const EMPTY: Self = Self(0);
    /// Those that nobody can block, catch or ignore.
    pub const ABSOLUTE: Self = Self::of(&[SIGKILL, SIGSTOP]);
    /// Those that stop a process by default.
    pub const STOPPING: Self = Self::of(&[SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU]);
    /// Those that an instruction of the program's causes; they come before all others.
    pub const SYNCHRONOUS: Self = Self::of(&[SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS]);
    /// SIGCONT alone.
    pub(super) const CONTINUING: Self = Self::of(&[SIGCONT]);

    /// The set of these signals; a number that is no signal counts for nothing.
    #[must_use]
    pub const fn of(signals: &[u32]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < signals.len() {
            bits |= Self::one(signals[index]).0;
            index += 1;
        }
        Self(bits)
    }

    /// The set of this signal alone; empty for a number that is no signal.
    #[must_use]
    pub const fn one(signal: u32) -> Self {
        if signal >= 1 && signal < NSIG { Self(1 << (signal - 1)) } else { Self::EMPTY }
    }

    /// From the word of a program.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// As the word for a program.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether `signal` is in it.
    #[must_use]
    pub const fn has(self, signal: u32) -> bool {
        self.0 & Self::one(signal).0 != 0
    }

    /// Whether no signal is in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in one or the other.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in this one and not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The lowest signal in it.
    #[must_use]
    pub const fn lowest(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() + 1) }
    }

    /// What can be blocked of it.
    #[must_use]
    pub const fn blockable(self) -> Self {
        self.without(Self::ABSOLUTE)
    }

    /// This mask after `rt_sigprocmask`.
    #[must_use]
    pub const fn changed(self, how: How, set: Self) -> Self {
        match how {
            How::Block => self.or(set),
            How::Unblock => self.without(set),
            How::Set => set,
        }
        .blockable()
    }
}
