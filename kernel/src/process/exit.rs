//! The end of a process.

use super::alarm::Alarm;
use super::wait::end_signal;
use super::{INIT, Process, signal, stop, table, terminal};
use crate::timeline::{self, Point};
use crate::{bus, fs, sched};
use askr_abi::signal::{CLD_EXITED, CLD_KILLED, SIGCHLD};
use askr_agentbus::jobs::{End, HowEnded};
use askr_core::signal::{Detail, Info};
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
        timeline::pass(Point::End, process.pid().into());
        let files = process.files().lock().take_all();
        drop(files);
        process.set_cwd(fs::root()); // a zombie keeps no directory alive
        process.pass_debt_on();
        let space = process.take_space();
        process.give_up_space(space);
        process.set_alarm(Alarm::default());
        terminal::session_ended(process);
        let orphaned = table::with_family(|family| family.end(process.pid()));
        stop::release_orphaned(&orphaned);
        bus::process_exited(process, status);
        *process.zombie.lock() = Some(status);
        tell_job(process, status);
        tell_parent(process, status);
        timeline::pass(Point::Zombie, process.pid().into());
        table::wake(INIT); // it may have got zombies
    }
    sched::leave_for_good()
}

/// Lets the agent's job know how it ended.
fn tell_job(process: &Process, status: ExitStatus) {
    let fault = process.last_fault.lock().take();
    if process.agent_job == 0 {
        return;
    }
    let how = match status {
        ExitStatus::Code(code) => HowEnded::Code(code),
        ExitStatus::Signal(signal) => HowEnded::Signal(signal),
    };
    let out_of_memory = process.out_of_memory.load(Ordering::Relaxed);
    bus::jobs::left(process, || End { how, cpu_ns: process.time(), out_of_memory, fault });
}

/// Wakes the parent and sends it the signal that it wants at a child's end. A parent that said that it does not wait leaves
/// the child to process 1 (POSIX.1-2017, `_exit()`).
fn tell_parent(process: &Process, status: ExitStatus) {
    let Some(parent) = table::find(process.parent()) else { return };
    if let Some(waiter) = parent.process() {
        let end_signal = end_signal(process);
        let abandons = end_signal == SIGCHLD && !waiter.signals.lock().keeps_zombies();
        if abandons && waiter.pid() != INIT {
            table::with_family(|family| family.adopt(process.pid()));
        }
        let (code, value) = match status {
            ExitStatus::Code(code) => (CLD_EXITED, u32::from(code)),
            ExitStatus::Signal(signal) => (CLD_KILLED, signal),
        };
        let detail = Detail::Child { pid: process.pid(), status: value };
        signal::post(&parent, Info { signal: end_signal, code, detail });
    }
    sched::unpark(&parent);
}
