//! The end of a process, and waiting for it.

use super::{INIT, Pid, Process, signal, table};
use crate::{bus, sched};
use askr_abi::Errno;
use core::sync::atomic::Ordering;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// `exit` with this code.
    Code(u8),
    /// A signal's default action.
    Signal(u32),
}

impl ExitStatus {
    /// The status word of `wait4` (`man 2 wait`): code in the second byte, or the signal in the first.
    pub(crate) const fn wait_word(self) -> u32 {
        match self {
            Self::Code(code) => (code as u32) << 8,
            Self::Signal(signal) => signal,
        }
    }

    /// What the bus tells as exit code: the code, or 128 plus the signal as shells show it.
    pub(crate) const fn shell_code(self) -> u32 {
        match self {
            Self::Code(code) => code as u32,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// Ends the running process, whose end has been decided. Memory and files are given back at once; its entry waits
/// for the parent. No caller holds a reference to the task.
pub(super) fn finish() -> ! {
    {
        let task = sched::current();
        let process = task.process().expect("only processes end");
        let status = (*process.ending.lock()).expect("decided before");
        assert!(process.pid() != INIT, "init ended ({status:?}): nobody is left to start a shell");
        let files = process.files().lock().take_all();
        drop(files);
        drop(process.space.lock().take());
        for orphan in table::select(|other| other.parent() == process.pid()) {
            if let Some(orphan) = orphan.process() {
                orphan.parent.store(INIT, Ordering::Relaxed);
            }
        }
        bus::process_exited(process, status);
        *process.zombie.lock() = Some(status);
        table::wake(process.parent());
        table::wake(INIT); // it may have got zombies
    }
    sched::leave_for_good()
}

/// Which children a `wait4` is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Children {
    Any,
    One(Pid),
    Group(Pid),
}

impl Children {
    /// From the first argument of `wait4`, for a caller in group `own`.
    pub(crate) fn from_argument(argument: i32, own: Pid) -> Self {
        match argument {
            -1 => Self::Any,
            0 => Self::Group(own),
            pid if pid > 0 => Self::One(pid.unsigned_abs()),
            group => Self::Group(group.unsigned_abs()),
        }
    }

    fn include(self, process: &Process) -> bool {
        match self {
            Self::Any => true,
            Self::One(pid) => process.pid() == pid,
            Self::Group(group) => process.group() == group,
        }
    }
}

/// Waits until one of `children` of the running process has ended, reaps it and says how it ended. With `no_hang`
/// returns `None` at once if none has.
///
/// # Errors
/// ECHILD if there is no such child, EINTR on a signal.
pub(crate) fn wait(children: Children, no_hang: bool) -> Result<Option<(Pid, ExitStatus)>, Errno> {
    let task = sched::current();
    let me = task.process().ok_or(Errno::ECHILD)?.pid();
    loop {
        let mine = table::select(|other| other.parent() == me && children.include(other));
        if mine.is_empty() {
            return Err(Errno::ECHILD);
        }
        let ended = mine.iter().filter_map(|child| child.process()).find_map(|child| {
            let status = *child.zombie.lock();
            status.map(|status| (child.pid(), status))
        });
        if let Some((pid, status)) = ended {
            drop(mine);
            table::remove(pid);
            return Ok(Some((pid, status)));
        }
        drop(mine);
        if no_hang {
            return Ok(None);
        }
        if signal::interrupted() {
            return Err(Errno::EINTR);
        }
        sched::park();
    }
}
