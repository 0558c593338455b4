//! Deadlines of parked tasks. The interrupt only notes the tick, or the alarm; the map is kept by tasks.

use super::{Task, current, park, unpark};
use crate::arch::clock::{self, Nanos};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use spin::Mutex;

/// By deadline; the second number makes keys unique.
static TIMERS: Mutex<BTreeMap<(Nanos, u64), Arc<Task>>> = Mutex::new(BTreeMap::new());
static NEXT_KEY: AtomicU64 = AtomicU64::new(0);
static TICKED: AtomicBool = AtomicBool::new(false);

pub(super) fn on_tick() {
    TICKED.store(true, Ordering::Relaxed);
}

/// Whether a tick came that [`run`] has not seen.
pub(super) fn has_ticked() -> bool {
    TICKED.load(Ordering::Relaxed)
}

/// The earliest deadline, or one that never comes.
pub(super) fn next() -> Nanos {
    TIMERS.lock().first_key_value().map_or(Nanos::MAX, |(key, _)| key.0)
}

/// Wakes the tasks whose deadline has come. At most as many as there are timers now.
pub(super) fn run() {
    if !TICKED.swap(false, Ordering::Relaxed) {
        return;
    }
    let now = clock::now();
    while let Some(task) = take_due(now) {
        unpark(&task);
    }
    // It may have been the alarm of a tick that rests, and kernel tasks that go on for long need another.
    clock::alarm_by(next());
}

fn take_due(now: Nanos) -> Option<Arc<Task>> {
    let mut timers = TIMERS.lock();
    let first = timers.first_entry()?;
    (first.key().0 <= now).then(|| first.remove())
}

/// Parks until somebody wakes the task or, with a tick's precision, `deadline` comes. The caller tests which.
pub(crate) fn park_until(deadline: Nanos) {
    if clock::now() >= deadline {
        return;
    }
    let key = (deadline, NEXT_KEY.fetch_add(1, Ordering::Relaxed));
    TIMERS.lock().insert(key, current());
    clock::alarm_by(deadline);
    park();
    TIMERS.lock().remove(&key);
}

/// Sleeps until `deadline`, or until `interrupted` says that there is a reason to stop; it is asked after each wake.
/// Returns whether the deadline came.
pub(crate) fn sleep_until(deadline: Nanos, interrupted: impl Fn() -> bool) -> bool {
    while clock::now() < deadline {
        if interrupted() {
            return false;
        }
        park_until(deadline);
    }
    true
}
