//! What becomes of a system call that a signal interrupted (`signal(7)`, "Interruption of system calls").
//!
//! A call that waits returns EINTR when [`super::interrupted`] says so. Whether the program sees that is decided here,
//! on the way back to it: after a handler it does or does not, by the kind of call and SA_RESTART; without a handler,
//! after a stop, the call goes on.

use super::Process;
use crate::arch::clock::Nanos;
use crate::arch::trap::TrapFrame;
use askr_abi::number as nr;
use askr_abi::signal::SA_RESTART;
use askr_core::signal::Action;

/// When an interrupted call begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// After a handler with SA_RESTART, and when no handler ran.
    AsAsked,
    /// When no handler ran.
    WithoutHandler,
    /// When no handler ran, and then only for the time that was left.
    Remaining,
}

/// A call with a deadline that was interrupted, for `restart_syscall`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupted {
    /// Number of the call.
    pub(crate) number: u64,
    /// When it ends.
    pub(crate) deadline: Nanos,
}

impl Restart {
    /// A handler runs before the program goes on.
    pub(super) fn with_handler(self, frame: &mut TrapFrame, action: &Action) {
        if self == Self::AsAsked && action.has(SA_RESTART) {
            frame.call_again(frame.error);
        }
    }

    /// No handler ran.
    pub(super) fn without_handler(self, frame: &mut TrapFrame) {
        match self {
            Self::AsAsked | Self::WithoutHandler => frame.call_again(frame.error),
            Self::Remaining => frame.call_again(nr::RESTART_SYSCALL),
        }
    }
}

impl Process {
    /// The running process gives up call `number`, which would have ended at `deadline`.
    pub(crate) fn set_interrupted(&self, number: u64, deadline: Nanos) {
        *self.interrupted.lock() = Some(Interrupted { number, deadline });
    }

    /// The call that it gave up, unless a handler has returned since.
    pub(crate) fn take_interrupted(&self) -> Option<Interrupted> {
        self.interrupted.lock().take()
    }

    /// Whether there is such a call.
    pub(crate) fn has_interrupted(&self) -> bool {
        self.interrupted.lock().is_some()
    }
}
