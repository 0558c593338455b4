//! State of a program that has one thread.

use core::cell::RefCell;

/// A static cell for programs of this library. They have one thread, and the only signal handler sets a flag, so two
/// parts of a program never use a cell at the same time; a borrow that overlaps another panics as with any `RefCell`.
pub(crate) struct Single<T>(RefCell<T>);

// SAFETY: this library can not start a thread, and the only signal handler that it can install (`sys/interrupt.rs`)
// touches an atomic flag and nothing else, so there is never a second context that could touch the cell.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    /// A cell that holds `value`.
    pub(crate) const fn new(value: T) -> Self {
        Self(RefCell::new(value))
    }

    /// Runs `body` with the value. Panics if `body` comes back here.
    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        body(&mut self.0.borrow_mut())
    }

    /// Runs `body` with the value, or returns `None` if it is in use already.
    pub(crate) fn try_with<R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.0.try_borrow_mut().ok().map(|mut value| body(&mut value))
    }
}
