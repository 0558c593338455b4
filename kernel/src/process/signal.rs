//! Sending signals, and what waiting code asks about them.

use super::{INIT, Pid, stop, table};
use crate::sched::{self, Task};
use crate::{mm, policy};
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_abi::signal::{NSIG, SIGCONT, SIGRTMIN};
use askr_agentbus::policy::{Action, Origin};
use askr_core::signal::{Info, Posted};

/// Whether a signal wants to be delivered to the running process: a call that waits gives up with EINTR, or with what
/// it has done. [`super::Restart`] decides whether the program sees that.
pub(crate) fn interrupted() -> bool {
    sched::current().process().is_some_and(|process| process.signals.lock().interrupt())
}

/// Whether a signal ends the running process, so that work that takes long can be given up.
pub(crate) fn dying() -> bool {
    sched::current().process().is_some_and(|process| process.signals.lock().deadly())
}

/// Sends `signal` to the running process because of what it did, such as SIGPIPE.
pub(crate) fn raise(signal: u32) {
    let task = sched::current();
    if let Some(process) = task.process() {
        post(&task, Info::from_process(signal, process.pid()));
    }
}

/// Sends to process `pid` for somebody of `origin`; signal 0 only tests that it exists.
///
/// # Errors
/// EINVAL for a number that is no signal, ESRCH, EPERM where the policy refuses.
pub(crate) fn kill(origin: Origin, pid: Pid, info: Info) -> Result<(), Errno> {
    check_number(info.signal)?;
    let task = table::find(pid).ok_or(Errno::ESRCH)?;
    send_to(origin, &task, info).map(drop)
}

/// Sends to every process of a group for somebody of `origin`.
///
/// # Errors
/// As [`kill`], if none of them could be sent to.
pub(crate) fn kill_group(origin: Origin, group: Pid, info: Info) -> Result<(), Errno> {
    check_number(info.signal)?;
    send_to_all(origin, &table::group(group), info)
}

/// Sends to every process but process 1 and `sender`, for somebody of `origin`.
///
/// # Errors
/// As [`kill`], if none of them could be sent to.
pub(crate) fn kill_all(origin: Origin, sender: Pid, info: Info) -> Result<(), Errno> {
    check_number(info.signal)?;
    let others = |task: &Arc<Task>| task.process().is_some_and(|process| process.pid() != sender);
    let targets: alloc::vec::Vec<_> = table::tasks_from(INIT + 1).filter(others).collect();
    send_to_all(origin, &targets, info)
}

/// Sends to all of these; it is a success if one could be sent to (`kill(2)`).
fn send_to_all(origin: Origin, targets: &[Arc<Task>], info: Info) -> Result<(), Errno> {
    let mut result = Err(Errno::ESRCH);
    for task in targets {
        match send_to(origin, task, info) {
            Ok(_) => result = Ok(()),
            Err(errno) => result = result.map_err(|_| errno),
        }
    }
    result
}

/// Sends to one process for somebody of `origin`.
///
/// # Errors
/// EPERM where the policy refuses.
fn send_to(origin: Origin, task: &Arc<Task>, info: Info) -> Result<Posted, Errno> {
    let pid = task.process().ok_or(Errno::ESRCH)?.pid();
    policy::check(origin, Action::Kill(pid))?;
    Ok(if info.signal == 0 { Posted::Dropped } else { post(task, info) })
}

/// Of the real-time signals many may wait at once, and each takes memory: there has to be some (EAGAIN, `man 3 sigqueue`).
pub(super) fn check_number(signal: u32) -> Result<(), Errno> {
    match signal {
        0..SIGRTMIN => Ok(()),
        SIGRTMIN..NSIG => mm::require_heap_room().map_err(|_| Errno::EAGAIN),
        _ => Err(Errno::EINVAL),
    }
}

/// Sends a signal and wakes whoever has to look at it.
pub(super) fn post(task: &Arc<Task>, info: Info) -> Posted {
    let Some(process) = task.process().filter(|_| info.signal != 0) else { return Posted::Dropped };
    let posted = process.signals.lock().post(info);
    if info.signal == SIGCONT {
        stop::go_on(task);
    }
    if posted != Posted::Dropped {
        sched::unpark(task);
    }
    posted
}
