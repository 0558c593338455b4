//! What a process wants to happen on a signal, and what happens if it says nothing.

use super::set::SignalSet;
use askr_abi::signal::{
    SA_NOCLDSTOP, SA_NOCLDWAIT, SA_NODEFER, SA_ONSTACK, SA_RESETHAND, SA_RESTART, SA_RESTORER, SA_SIGINFO,
    SIG_DFL, SIG_IGN, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH,
};

/// The default action of a signal (`signal(7)`). There are no core dumps, so those that would make one just end the
/// process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultAction {
    /// The process ends.
    End,
    /// Nothing.
    Ignore,
    /// The process stops.
    Stop,
    /// The process goes on if it is stopped. That happens when the signal is sent; after that there is nothing to do.
    Continue,
}

impl DefaultAction {
    /// The default action of `signal`.
    #[must_use]
    pub const fn of(signal: u32) -> Self {
        match signal {
            SIGCHLD | SIGURG | SIGWINCH => Self::Ignore,
            SIGSTOP | SIGTSTP | SIGTTIN | SIGTTOU => Self::Stop,
            SIGCONT => Self::Continue,
            _ => Self::End,
        }
    }
}

/// `struct kernel_sigaction`: what a process wants to happen on one signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// Address of the handler, `SIG_DFL` or `SIG_IGN`.
    pub handler: u64,
    /// `SA_` flags.
    pub flags: u64,
    /// Where the handler returns to.
    pub restorer: u64,
    /// What is blocked while the handler runs.
    pub mask: SignalSet,
}

impl Action {
    /// Bytes of `struct kernel_sigaction`.
    pub const SIZE: usize = 32;
    /// Flags that mean something; others are not kept, so that a program can find out which do (`sigaction(2)`).
    const FLAGS: u64 = SA_NOCLDSTOP
        | SA_NOCLDWAIT
        | SA_SIGINFO
        | SA_RESTORER
        | SA_ONSTACK
        | SA_RESTART
        | SA_NODEFER
        | SA_RESETHAND;

    /// From a program's memory; what cannot be had is left out.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let [handler, flags, restorer, mask] = [0, 1, 2, 3].map(|index| u64::from_le_bytes(words[index]));
        let mask = SignalSet::from_bits(mask).blockable();
        Self { handler, flags: flags & Self::FLAGS, restorer, mask }
    }

    /// For a program's memory.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let words = [self.handler, self.flags, self.restorer, self.mask.bits()];
        for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Whether this flag is set.
    #[must_use]
    pub const fn has(self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    /// Whether `signal` leaves no trace with this action.
    #[must_use]
    pub const fn ignores(self, signal: u32) -> bool {
        match self.handler {
            SIG_IGN => true,
            SIG_DFL => matches!(DefaultAction::of(signal), DefaultAction::Ignore | DefaultAction::Continue),
            _ => false,
        }
    }

    /// Whether there is a handler.
    #[must_use]
    pub const fn is_handler(self) -> bool {
        !matches!(self.handler, SIG_DFL | SIG_IGN)
    }

    /// Whether `signal` ends the process.
    #[must_use]
    pub const fn ends(self, signal: u32) -> bool {
        self.handler == SIG_DFL && matches!(DefaultAction::of(signal), DefaultAction::End)
    }
}
