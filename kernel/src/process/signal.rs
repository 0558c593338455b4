//! Signals with their default actions: end the process, or nothing. A program may ignore a signal.

use super::{ExitStatus, INIT, Pid, Process, table};
use crate::policy;
use crate::sched::{self, Task};
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{NSIG, SIGCHLD, SIGKILL};
use askr_agentbus::policy::{Action, Origin};
use core::sync::atomic::{AtomicU64, Ordering};

/// Signals whose default action is not to end the process: SIGCHLD, SIGCONT, SIGURG, SIGWINCH, and the stop
/// signals SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, which nothing sends yet.
const HARMLESS: u64 = bit(SIGCHLD) | bit(18) | bit(19) | bit(20) | bit(21) | bit(22) | bit(23) | bit(28);

const fn bit(signal: u32) -> u64 {
    1 << (signal - 1)
}

/// Sets of signals, bit n − 1 for signal n.
#[derive(Default)]
pub(crate) struct Signals {
    pending: AtomicU64,
    ignored: AtomicU64,
}

impl Signals {
    /// What a child gets: nothing pending, the same ignored.
    pub(super) fn inherit(&self) -> Self {
        Self { pending: AtomicU64::new(0), ignored: AtomicU64::new(self.ignored.load(Ordering::Relaxed)) }
    }

    /// Sets whether `signal` is ignored; returns whether it was.
    pub(crate) fn set_ignored(&self, signal: u32, ignored: bool) -> bool {
        let before = if ignored {
            self.ignored.fetch_or(bit(signal), Ordering::Relaxed)
        } else {
            self.ignored.fetch_and(!bit(signal), Ordering::Relaxed)
        };
        before & bit(signal) != 0
    }

    /// Whether `signal` is ignored.
    pub(crate) fn is_ignored(&self, signal: u32) -> bool {
        self.ignored.load(Ordering::Relaxed) & bit(signal) != 0
    }

    /// A signal that is ignored leaves no trace (POSIX.1-2017, 2.4.1).
    fn add(&self, signal: u32) {
        if self.is_ignored(signal) && signal != SIGKILL {
            return;
        }
        self.pending.fetch_or(bit(signal), Ordering::Relaxed);
    }

    /// The lowest pending signal that ends the process.
    fn deadly(&self) -> Option<u32> {
        let ignored = self.ignored.load(Ordering::Relaxed) & !bit(SIGKILL);
        let deadly = self.pending.load(Ordering::Relaxed) & !ignored & !HARMLESS;
        (deadly != 0).then(|| deadly.trailing_zeros() + 1)
    }
}

/// Whether the running task should give up waiting because a signal will end it.
pub(crate) fn interrupted() -> bool {
    sched::current().process().is_some_and(|process| process.signals.deadly().is_some())
}

/// Turns a pending signal into the decision to end; returns whether the running process has to end.
pub(super) fn deliver() -> bool {
    let task = sched::current();
    let Some(process) = task.process() else { return false };
    if let Some(signal) = process.signals.deadly() {
        process.end(ExitStatus::Signal(signal));
    }
    process.ending.lock().is_some()
}

/// Sends `signal` to process `pid` for somebody of `origin`; signal 0 only tests that it exists.
///
/// # Errors
/// EINVAL for a number that is no signal, ESRCH, EPERM where the policy refuses.
pub(crate) fn kill(origin: Origin, pid: Pid, signal: u32) -> Result<(), Errno> {
    check_number(signal)?;
    let task = table::find(pid).ok_or(Errno::ESRCH)?;
    policy::check(origin, Action::Kill(pid))?;
    send(&task, signal);
    Ok(())
}

/// Sends `signal` to every process of a group for somebody of `origin`.
///
/// # Errors
/// As [`kill`]; nothing is sent if one of them is refused.
pub(crate) fn kill_group(origin: Origin, group: Pid, signal: u32) -> Result<(), Errno> {
    check_number(signal)?;
    let members = members(group);
    if members.is_empty() {
        return Err(Errno::ESRCH);
    }
    let processes = members.iter().filter_map(|task| task.process());
    processes.map(Process::pid).try_for_each(|pid| policy::check(origin, Action::Kill(pid)))?;
    members.iter().for_each(|task| send(task, signal));
    Ok(())
}

/// Sends `signal` to the foreground group because of a key at COM1.
pub(crate) fn interrupt_foreground(group: Pid, signal: u32) {
    members(group).iter().for_each(|task| send(task, signal));
}

/// Whether a process group has a member.
pub(crate) fn group_exists(group: Pid) -> bool {
    !members(group).is_empty()
}

fn members(group: Pid) -> Vec<Arc<Task>> {
    table::select(|process| process.group() == group)
}

fn check_number(signal: u32) -> Result<(), Errno> {
    if signal < NSIG { Ok(()) } else { Err(Errno::EINVAL) }
}

fn send(task: &Arc<Task>, signal: u32) {
    // init takes no signal that it does not handle: without it nobody could start anything.
    if let Some(process) = task.process().filter(|process| signal != 0 && process.pid() != INIT) {
        process.signals.add(signal);
        sched::unpark(task);
    }
}
