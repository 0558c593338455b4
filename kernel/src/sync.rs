//! Locks. One core and no preemption inside the kernel: a plain `spin::Mutex` guards what only tasks touch (it
//! is never contended, and a lock held across a park is a bug), an [`IrqMutex`] what interrupt handlers touch
//! too. Both are leaves: decide under the lock, act outside it.

use core::ops::{Deref, DerefMut};
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
