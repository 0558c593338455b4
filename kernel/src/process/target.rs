//! Signals that the agent sends, and what the kernel does to a job as a whole.

use super::signal::{check_number, post};
use super::{Pid, Process, table};
use crate::policy;
use crate::sched::Task;
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::signal::SIGKILL;
use askr_agentbus::policy::{Action, Origin};
use askr_core::signal::Info;

/// Whom a signal is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// One process.
    Process(Pid),
    /// A process and all that descend from it.
    Tree(Pid),
    /// All processes of a job.
    Job(u32),
}

impl Target {
    /// The processes that have not ended.
    fn living(self) -> Vec<Arc<Task>> {
        let mut tasks = match self {
            Self::Process(pid) => table::find(pid).into_iter().collect(),
            Self::Tree(pid) => table::tree(pid),
            Self::Job(job) => table::tasks_from(0).filter(|task| is_of(task, job)).collect(),
        };
        tasks
            .retain(|task: &Arc<Task>| task.process().is_some_and(|process| process.zombie.lock().is_none()));
        tasks
    }
}

fn is_of(task: &Arc<Task>, job: u32) -> bool {
    job != 0 && task.process().is_some_and(|process| process.agent_job == job)
}

/// Sends a signal for somebody of `origin` to all of `target`, or to nobody where the policy refuses one of them; 0 only
/// looks for them. `note` is told of each first. Returns how many there are.
///
/// # Errors
/// EINVAL for a number that is no signal, ESRCH if there is nobody, EPERM.
pub(crate) fn kill_target(
    origin: Origin,
    target: Target,
    signal: u32,
    note: impl Fn(&Process),
) -> Result<u32, Errno> {
    check_number(signal)?;
    let tasks = target.living();
    if tasks.is_empty() {
        return Err(Errno::ESRCH);
    }
    for process in tasks.iter().filter_map(|task| task.process()) {
        policy::check(origin, Action::Kill(process.pid))?;
    }
    for task in tasks.iter().filter(|_| signal != 0) {
        if let Some(process) = task.process() {
            note(process);
        }
        post(task, Info::from_kernel(signal));
    }
    Ok(tasks.len() as u32)
}

/// Kills all processes of a job. None escapes: who is dying forks no more.
pub(crate) fn end_job(job: u32) {
    for task in &Target::Job(job).living() {
        post(task, Info::from_kernel(SIGKILL));
    }
}

/// Takes the first process of a job, which has ended, out of the table: its parent is the kernel.
pub(crate) fn reap(pid: Pid) {
    table::remove(pid);
}
