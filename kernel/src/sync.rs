//! Locks. One core and no preemption inside the kernel: a plain `spin::Mutex` guards what only tasks touch (it
//! is never contended, and a lock held across a park is a bug), an [`IrqMutex`] what interrupt handlers touch
//! too. Both are leaves: decide under the lock, act outside it. What takes as long as a disk is under a [`SleepLock`].

use crate::sched::{self, Task};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::ops::{Deref, DerefMut};
use lock_api::{GuardNoSend, RawMutex};
use spin::{Mutex, MutexGuard};
use x86_64::instructions::interrupts;

/// A mutex that masks interrupts while it is held. Hold it for a bounded, short time: no allocation, no
/// device that may be slow, no callback. (Two exceptions: the last words before power-off and in a panic.)
pub(crate) struct IrqMutex<T>(Mutex<T>);

impl<T> IrqMutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> IrqGuard<'_, T> {
        let enabled = interrupts::are_enabled();
        interrupts::disable();
        IrqGuard { guard: Some(self.0.lock()), enabled }
    }
}

impl<T> IrqMutex<T> {
    /// Takes the lock whoever holds it, for the last words of a kernel that panicked: on one core with interrupts off
    /// the holder is the code that panicked, and it never goes on.
    pub(crate) fn seize(&self) -> IrqGuard<'_, T> {
        interrupts::disable();
        if self.0.is_locked() {
            // SAFETY: see above.
            unsafe { self.0.force_unlock() };
        }
        self.lock()
    }
}

/// Releases the lock, then restores the interrupt flag.
pub(crate) struct IrqGuard<'a, T> {
    guard: Option<MutexGuard<'a, T>>,
    enabled: bool,
}

impl<T> Deref for IrqGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.guard.as_ref().expect("held until drop")
    }
}

impl<T> DerefMut for IrqGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("held until drop")
    }
}

impl<T> Drop for IrqGuard<'_, T> {
    fn drop(&mut self) {
        self.guard = None;
        if self.enabled {
            interrupts::enable();
        }
    }
}

/// A lock on which tasks park, in the order in which they came, so that it may be held while a device works. Only tasks
/// take it, and never while they hold another lock. A kill does not end the wait: it takes effect after the operation.
pub(crate) struct SleepLock(Mutex<Queue>);

struct Queue {
    /// The number that the next task draws, and the number whose turn it is.
    next: u64,
    turn: u64,
    waiting: VecDeque<(u64, Arc<Task>)>,
}

// SAFETY: one number's turn ends with `unlock` only, and numbers are drawn once.
unsafe impl RawMutex for SleepLock {
    #[allow(clippy::declare_interior_mutable_const, reason = "the initial value, as the trait asks for it")]
    const INIT: Self = Self(Mutex::new(Queue { next: 0, turn: 0, waiting: VecDeque::new() }));
    type GuardMarker = GuardNoSend;

    fn lock(&self) {
        let number = {
            let mut queue = self.0.lock();
            let number = queue.next;
            queue.next += 1;
            if number != queue.turn {
                queue.waiting.push_back((number, sched::current()));
            }
            number
        };
        // Whoever has the lock ends his operation: a disk that does not answer is given up after a time.
        while self.0.lock().turn != number {
            sched::park();
        }
    }

    fn try_lock(&self) -> bool {
        let mut queue = self.0.lock();
        let free = queue.next == queue.turn;
        queue.next += u64::from(free);
        free
    }

    unsafe fn unlock(&self) {
        let next = {
            let mut queue = self.0.lock();
            queue.turn += 1;
            queue.waiting.pop_front()
        };
        if let Some((_, task)) = next {
            sched::unpark(&task);
        }
    }
}
