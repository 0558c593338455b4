//! Stopping and going on (job control, POSIX.1-2017, 2.4.3 and 11.1.4), and telling the parent.

use super::{Pid, Process, signal, table};
use crate::sched::{self, Task};
use alloc::sync::Arc;
use askr_abi::signal::{CLD_CONTINUED, CLD_STOPPED, SIGCHLD, SIGCONT, SIGHUP, SIGSTOP};
use askr_core::signal::{Detail, Info};

/// Whether a process is stopped, and what of that its parent has not waited for.
#[derive(Debug, Default)]
pub(super) struct JobState {
    stopped: bool,
    change: Option<Change>,
}

/// A change that a parent can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It was stopped by this signal.
    Stopped(u32),
    /// It went on.
    Continued,
}

impl Process {
    /// Whether it is stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.job.lock().stopped
    }

    /// Takes the change that `wanted` holds for.
    pub(super) fn take_change(&self, wanted: impl FnOnce(Change) -> bool) -> Option<Change> {
        let mut job = self.job.lock();
        if job.change.is_some_and(wanted) { job.change.take() } else { None }
    }
}

/// Stops the running process because of `signal` until SIGCONT or SIGKILL comes. In an orphaned group only SIGSTOP does
/// that.
pub(super) fn stop(process: &Process, signal: u32) {
    let orphaned = table::with_family(|family| {
        family.member(process.pid()).is_none_or(|member| family.is_orphaned(member.group))
    });
    if orphaned && signal != SIGSTOP {
        return;
    }
    *process.job.lock() = JobState { stopped: true, change: Some(Change::Stopped(signal)) };
    tell_parent(process, CLD_STOPPED, signal);
    while process.is_stopped() && !process.signals.lock().killed() {
        sched::park();
    }
    process.job.lock().stopped = false;
}

/// Makes a process go on, because SIGCONT was sent to it.
pub(super) fn go_on(task: &Arc<Task>) {
    let Some(process) = task.process() else { return };
    {
        let mut job = process.job.lock();
        if !job.stopped {
            return;
        }
        *job = JobState { stopped: false, change: Some(Change::Continued) };
    }
    sched::unpark(task);
    tell_parent(process, CLD_CONTINUED, SIGCONT);
}

/// Wakes the parent, and sends SIGCHLD if it wants to be told of this.
fn tell_parent(process: &Process, code: i32, status: u32) {
    let Some(parent) = table::find(process.parent()) else { return };
    let wanted = parent.process().is_some_and(|parent| parent.signals.lock().wants_stops());
    if wanted {
        let detail = Detail::Child { pid: process.pid(), status };
        signal::post(&parent, Info { signal: SIGCHLD, code, detail });
    }
    sched::unpark(&parent);
}

/// Groups that nobody looks after any more: where somebody in them is stopped, all are told and go on.
pub(super) fn release_orphaned(groups: &[Pid]) {
    for &group in groups {
        let members = table::group(group);
        let is_stopped = |task: &Arc<Task>| task.process().is_some_and(Process::is_stopped);
        if members.iter().any(is_stopped) {
            hang_up(group);
        }
    }
}

/// Sends SIGHUP and SIGCONT to a group.
pub(super) fn hang_up(group: Pid) {
    for task in &table::group(group) {
        signal::post(task, Info::from_kernel(SIGHUP));
        signal::post(task, Info::from_kernel(SIGCONT));
    }
}
