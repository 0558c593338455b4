//! Which calls begin again after a signal, as `signal(7)` lists them.

use super::Call;
use crate::process::Restart;
use askr_abi::number as nr;

/// How the call goes on that has returned EINTR; `None` if the program sees that in any case.
pub(super) fn of(call: &Call<'_>) -> Option<Restart> {
    match call.number {
        nr::NANOSLEEP | nr::CLOCK_NANOSLEEP | nr::POLL | nr::PPOLL | nr::AGENT_ASK => {
            call.process().has_interrupted().then_some(Restart::Remaining)
        }
        nr::PAUSE | nr::RT_SIGSUSPEND => Some(Restart::WithoutHandler),
        nr::RT_SIGTIMEDWAIT | nr::RESTART_SYSCALL => None,
        _ => Some(Restart::AsAsked),
    }
}
