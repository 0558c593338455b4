//! Timers that send SIGALRM: `alarm(2)` and `setitimer(2)` with ITIMER_REAL. A kernel task waits for the earliest.

use super::{Pid, Process, signal, table};
use crate::arch::clock::{self, Nanos, TICK};
use crate::sched::{self, Task};
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_abi::signal::SIGALRM;
use askr_core::signal::Info;
use spin::{Mutex, Once};

/// A timer of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alarm {
    /// When it runs out; 0 for never.
    pub(crate) deadline: Nanos,
    /// How long it then runs again; 0 for not at all.
    pub(crate) interval: Nanos,
}

/// The timers that run, by deadline; at most one for each process.
static ALARMS: Mutex<BTreeSet<(Nanos, Pid)>> = Mutex::new(BTreeSet::new());
static TASK: Once<Arc<Task>> = Once::new();

/// Starts the task that waits for them.
///
/// # Errors
/// ENOMEM.
pub(crate) fn init() -> Result<(), Errno> {
    let task = sched::spawn_kernel(alarm_task)?;
    TASK.call_once(|| task);
    Ok(())
}

impl Process {
    /// Its timer.
    pub(crate) fn alarm(&self) -> Alarm {
        *self.alarm.lock()
    }

    /// Sets its timer and returns the one before.
    pub(crate) fn set_alarm(&self, alarm: Alarm) -> Alarm {
        let before = core::mem::replace(&mut *self.alarm.lock(), alarm);
        let mut alarms = ALARMS.lock();
        alarms.remove(&(before.deadline, self.pid()));
        if alarm.deadline > 0 {
            alarms.insert((alarm.deadline, self.pid()));
        }
        drop(alarms);
        if let Some(task) = TASK.get() {
            sched::unpark(task);
        }
        before
    }
}

extern "C" fn alarm_task(_: u64) -> ! {
    x86_64::instructions::interrupts::enable();
    loop {
        let first = ALARMS.lock().first().copied();
        match first {
            Some((deadline, pid)) if deadline <= clock::now() => fire(deadline, pid),
            Some((deadline, _)) => sched::park_until(deadline),
            None => sched::park(),
        }
    }
}

/// The timer of process `pid` has run out.
fn fire(deadline: Nanos, pid: Pid) {
    let task = table::find(pid);
    let Some(process) = task.as_ref().and_then(|task| task.process()) else {
        ALARMS.lock().remove(&(deadline, pid));
        return;
    };
    let interval = process.alarm().interval;
    // What was missed is not made up for. It lies ahead by a tick at least: this task would else run for ever.
    let next = if interval > 0 { deadline.saturating_add(interval).max(clock::now() + TICK) } else { 0 };
    process.set_alarm(Alarm { deadline: next, interval });
    if let Some(task) = &task {
        signal::post(task, Info::from_kernel(SIGALRM));
    }
}
