//! One wake-up that keeps until it is used.

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU8, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU8, Ordering};

/// The task runs and nobody has woken it since it last parked.
const EMPTY: u8 = 0;
/// The task was woken and has not used it yet.
const NOTIFIED: u8 = 1;
/// The task is off the processor, or on its way off, and waits for a wake.
const PARKED: u8 = 2;

/// A sticky wake-up: one per task, set by anybody, used up by its owner.
///
/// Any number of wakes before a park count as one. The owner tests its condition again after each park, so a
/// wake meant for an earlier wait costs one round of the loop and nothing else.
#[derive(Debug)]
pub struct WakeToken(AtomicU8);

impl WakeToken {
    /// A token of a task that nobody has woken.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU8::new(EMPTY))
    }

    /// A token of a task that nobody has woken; loom's atomics have no const constructor.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicU8::new(EMPTY))
    }

    /// Wakes the owner, now or at its next park. Callable from anywhere, interrupt handlers included.
    ///
    /// Returns whether the owner was parked. Of all the callers that wake one park, exactly one gets true: it
    /// must put the task into the run queue. What the caller wrote before is visible to the owner after.
    #[must_use = "true means: make the task runnable"]
    pub fn wake(&self) -> bool {
        self.0.swap(NOTIFIED, Ordering::AcqRel) == PARKED
    }

    /// First half of a park. True: nobody has woken the owner, it is marked parked and has to leave the
    /// processor. False: there was a wake, and now it is used up.
    ///
    /// A wake may come right after this returned true. The caller must see to it that making a task runnable
    /// that is still on its way off the processor does no harm: with one core, mask interrupts until it is off.
    #[must_use = "true means: leave the processor"]
    pub fn begin_park(&self) -> bool {
        let parked = self.0.compare_exchange(EMPTY, PARKED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !parked {
            self.end_park();
        }
        parked
    }

    /// Second half of a park, when the owner is back on the processor: uses up the wake that brought it back.
    pub fn end_park(&self) {
        // A swap and not a store: it must read what the waker wrote, to see what the waker did before.
        self.0.swap(EMPTY, Ordering::AcqRel);
    }

    /// Parks the owner once. `block` takes it off the processor and returns when it is back on, which must
    /// happen after a [`wake`](Self::wake) returned true. Returns at once if there was a wake already.
    pub fn park(&self, block: impl FnOnce()) {
        if self.begin_park() {
            block();
            self.end_park();
        }
    }
}

impl Default for WakeToken {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::WakeToken;

    #[test]
    fn a_wake_before_the_park_is_kept_and_used_once() {
        let token = WakeToken::new();
        assert!(!token.wake());
        assert!(!token.wake(), "many wakes are one");
        token.park(|| panic!("blocked although it was woken"));
        let mut blocked = false;
        token.park(|| blocked = true);
        assert!(blocked, "the token was used twice");
    }

    #[test]
    fn exactly_one_waker_has_to_make_the_task_runnable() {
        let token = WakeToken::new();
        assert!(token.begin_park());
        assert!(token.wake());
        assert!(!token.wake());
        token.end_park();
        assert!(token.begin_park(), "the second wake was for the park that is over");
    }
}
