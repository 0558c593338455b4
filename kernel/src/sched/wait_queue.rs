//! Tasks that wait until something can be read or written: the one way in which terminal, pipes and `poll` wait.
//!
//! A task enlists first and tests then, so that what happens in between wakes it. Whoever changes the state wakes all
//! that are enlisted, once; they test again. Only tasks call these functions, interrupt handlers do not.

use super::{Task, current, park, park_until, unpark};
use crate::arch::clock::Nanos;
use alloc::sync::Arc;
use alloc::vec::Vec;
use spin::Mutex;

/// The tasks that wait for one thing. At most all there are.
pub(crate) struct WaitQueue(Mutex<Vec<Arc<Task>>>);

/// The running task's place in a queue; it leaves the queue when this is dropped.
pub(crate) struct Enlisted<'q> {
    queue: &'q WaitQueue,
    task: Arc<Task>,
}

impl WaitQueue {
    /// An empty queue.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Enlists the running task.
    pub(crate) fn enlist(&self) -> Enlisted<'_> {
        let task = current();
        self.0.lock().push(task.clone());
        Enlisted { queue: self, task }
    }

    /// Parks until woken or until `deadline`, unless `ready` holds already. It may return for another reason: the
    /// caller tests in a loop.
    pub(crate) fn wait(&self, deadline: Option<Nanos>, ready: impl FnOnce() -> bool) {
        let _enlisted = self.enlist();
        if !ready() {
            park_for(deadline);
        }
    }

    /// Wakes all that are enlisted.
    pub(crate) fn wake(&self) {
        let waiting = core::mem::take(&mut *self.0.lock());
        waiting.iter().for_each(unpark);
    }
}

/// Parks, until `deadline` if there is one.
pub(crate) fn park_for(deadline: Option<Nanos>) {
    match deadline {
        Some(deadline) => park_until(deadline),
        None => park(),
    }
}

impl Drop for Enlisted<'_> {
    fn drop(&mut self) {
        self.queue.0.lock().retain(|task| !Arc::ptr_eq(task, &self.task));
    }
}
