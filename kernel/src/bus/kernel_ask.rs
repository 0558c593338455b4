//! Questions of the kernel itself. They are put in the place of the process that waits for them, with pid 0 and the program
//! `kernel`. Nothing here asks for memory.

use super::ask::wait;
use super::{wake, with_router};
use crate::arch::clock::{self, Nanos, SECOND};
use crate::{process, sched};
use askr_abi::Decider;
use askr_agentbus::policy::Origin;
use askr_agentbus::{Ask, AskExtra, AskOutcome};
use askr_wire::code;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Time without questions after one that nobody answered: an agent that does not care costs its patience once.
const SILENCE: Nanos = 60 * SECOND;

static SILENT_UNTIL: AtomicU64 = AtomicU64::new(0);

/// The right to put one question of a kind at a time.
pub(crate) struct Turn<'a>(&'a AtomicBool);

impl<'a> Turn<'a> {
    /// Takes the right, unless somebody has it.
    pub(crate) fn take(of: &'a AtomicBool) -> Option<Self> {
        let is_taken = of.swap(true, Ordering::Relaxed);
        // Not `then_some`: a turn that is made and dropped would give the other's back.
        (!is_taken).then(|| Self(of))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// What was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    /// How much of the buffer the answer is.
    pub(crate) length: usize,
    /// On whose behalf it is done.
    pub(crate) by: Origin,
}

/// Asks for the running process, which waits at most for `patience`. The answer goes to `into`; `None` if nobody decides: nobody is attached, or has answered in time, now or in the last minute; the ask was refused, or there
/// was no place for it; a signal ends the process; the answer is too long; this is no process.
pub(crate) fn ask_for_kernel(
    question: &[u8],
    extra: &AskExtra,
    patience: Nanos,
    into: &mut [u8],
) -> Option<Decided> {
    let now = clock::now();
    let task = sched::current();
    let waiter = task.process()?.pid();
    if now < SILENT_UNTIL.load(Ordering::Relaxed) {
        return None;
    }
    let deadline = now + patience;
    let code = code::DECISION_GENERIC;
    let ask = Ask { code, question, deadline, pid: 0, program: b"kernel", extra: Some(extra) };
    let put = |router: &mut askr_agentbus::Router<_>| {
        // Only what was asked is counted: with nobody there the kernel has no question.
        router.is_attached(now).then(|| router.ask(now, &ask, waiter).ok()).flatten()
    };
    let ticket = with_router(put)?;
    wake();
    match wait(ticket, into, process::dying) {
        AskOutcome::Answered { decider, len: length, total } if length == total => {
            let by = match decider {
                Decider::Human => Origin::Console,
                _ => with_router(|router| router.agent()),
            };
            Some(Decided { length, by })
        }
        AskOutcome::TimedOut => {
            SILENT_UNTIL.store(clock::now() + SILENCE, Ordering::Relaxed);
            None
        }
        _ => None,
    }
}
