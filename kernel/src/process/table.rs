//! All processes, living and waiting to be reaped.

use super::{ExitStatus, Pid, Process, Role};
use crate::arch::clock::Nanos;
use crate::sched::{self, Class, TASKS_MAX, Task};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_agentbus::policy::Origin;
use askr_core::family::{Family, Member};
use core::ops::RangeInclusive;
use spin::Mutex;

/// Processes that may exist at once; a few tasks are left to the kernel.
pub(super) const PROCESSES_MAX: usize = TASKS_MAX - 16;
/// Those of them that only shells of the console may start.
const PROCESSES_KEPT: usize = 16;
/// Numbers run up to this and then start over, as on Linux.
const PID_MAX: Pid = 32_768;

static TASKS: Mutex<BTreeMap<Pid, Arc<Task>>> = Mutex::new(BTreeMap::new());
/// Who belongs to whom. Its members are those of `TASKS`.
static FAMILY: Mutex<Family> = Mutex::new(Family::new());

/// What `ps` and `/proc` tell of a process.
pub(crate) struct Facts {
    pub(crate) pid: Pid,
    pub(crate) parent: Pid,
    pub(crate) group: Pid,
    pub(crate) session: Pid,
    /// As in `/proc/PID/stat`: R running or ready, S sleeping, T stopped, Z ended and not reaped.
    pub(crate) state: u8,
    pub(crate) origin: Origin,
    pub(crate) name: Vec<u8>,
    /// Bytes of memory in use for it.
    pub(crate) resident: u64,
    /// Bytes that it may use.
    pub(crate) size: u64,
    pub(crate) age: Nanos,
    /// Time that it has had the processor.
    pub(crate) time: Nanos,
    /// The job of the agent that it belongs to; 0 for none.
    pub(crate) agent_job: u32,
    /// How it ended, if it has.
    pub(crate) ended: Option<ExitStatus>,
}

/// A free process number for a child of somebody with this role, if there are fewer than `limit` processes.
///
/// # Errors
/// EAGAIN when there are too many.
pub(super) fn allocate_pid(limit: u64, parent: Role) -> Result<Pid, Errno> {
    let mut family = FAMILY.lock();
    let most = if parent.is_privileged() { PROCESSES_MAX } else { PROCESSES_MAX - PROCESSES_KEPT };
    if family.len() as u64 >= limit.min(most as u64) {
        return Err(Errno::EAGAIN);
    }
    family.next_number(PID_MAX).ok_or(Errno::EAGAIN)
}

/// Adds a process as the child of `parent`, in its group and session.
pub(super) fn insert(task: &Arc<Task>, parent: Pid) {
    if let Some(process) = task.process() {
        let mut family = FAMILY.lock();
        family.add(process.pid(), parent);
        note_group(process, &family);
        drop(family);
        TASKS.lock().insert(process.pid(), task.clone());
    }
}

/// Removes a process that was waited for.
pub(super) fn remove(pid: Pid) {
    FAMILY.lock().remove(pid);
    let task = TASKS.lock().remove(&pid);
    drop(task);
}

/// Looks at who belongs to whom, or changes it. Nothing else of this module may be used meanwhile.
pub(super) fn with_family<R>(use_it: impl FnOnce(&mut Family) -> R) -> R {
    use_it(&mut FAMILY.lock())
}

/// Parent, group and session of a process that has not been reaped.
pub(crate) fn member(pid: Pid) -> Option<Member> {
    FAMILY.lock().member(pid)
}

/// `setpgid` of process `caller`.
///
/// # Errors
/// Those of [`Family::set_group`].
pub(crate) fn set_group(caller: Pid, pid: Pid, group: Pid) -> Result<(), Errno> {
    with_task(pid, |family| family.set_group(caller, pid, group))
}

/// `setsid` of process `pid`.
///
/// # Errors
/// Those of [`Family::new_session`].
pub(crate) fn new_session(pid: Pid) -> Result<(), Errno> {
    with_task(pid, |family| family.new_session(pid))
}

/// Changes who belongs to whom, and lets the scheduler know the new group of `pid`.
fn with_task(pid: Pid, change: impl FnOnce(&mut Family) -> Result<(), Errno>) -> Result<(), Errno> {
    let task = find(pid);
    let mut family = FAMILY.lock();
    change(&mut family)?;
    if let Some(process) = task.as_ref().and_then(|task| task.process()) {
        note_group(process, &family);
        if process.class() == Class::Foreground {
            sched::sort();
        }
    }
    Ok(())
}

fn note_group(process: &Process, family: &Family) {
    process.note_group(family.member(process.pid()).map_or(0, |member| member.group));
}

/// The task of process `pid`, zombies included.
pub(crate) fn find(pid: Pid) -> Option<Arc<Task>> {
    TASKS.lock().get(&pid).cloned()
}

/// The tasks of these processes, as far as they are there.
fn find_all(pids: &[Pid]) -> Vec<Arc<Task>> {
    let tasks = TASKS.lock();
    pids.iter().filter_map(|pid| tasks.get(pid).cloned()).collect()
}

/// The children of a process that have numbers among these, by number, each as it is when its turn comes.
pub(super) fn children(parent: Pid, numbers: RangeInclusive<Pid>) -> impl Iterator<Item = Arc<Task>> {
    each(numbers, move |family, left| family.first_child(parent, left))
}

/// As [`children`], of those that have ended.
pub(super) fn ended_children(parent: Pid, numbers: RangeInclusive<Pid>) -> impl Iterator<Item = Arc<Task>> {
    each(numbers, move |family, left| family.first_ended_child(parent, left))
}

/// The tasks of those that `next` finds first among these numbers, then among the numbers behind it, and so on.
fn each(
    numbers: RangeInclusive<Pid>,
    next: impl Fn(&Family, RangeInclusive<Pid>) -> Option<Pid>,
) -> impl Iterator<Item = Arc<Task>> {
    let (mut from, to) = (Some(*numbers.start()), *numbers.end());
    let pids = core::iter::from_fn(move || {
        let left = from?..=to;
        let pid = with_family(|family| next(family, left))?;
        from = pid.checked_add(1);
        Some(pid)
    });
    pids.filter_map(find)
}

/// The members of a group, by number.
pub(super) fn group(group: Pid) -> Vec<Arc<Task>> {
    find_all(&with_family(|family| family.group(group).collect::<Vec<_>>()))
}

/// A process and all that descend from it.
pub(super) fn tree(pid: Pid) -> Vec<Arc<Task>> {
    find_all(&with_family(|family| family.tree(pid)))
}

/// How many processes there are, zombies included.
pub(crate) fn count() -> usize {
    TASKS.lock().len()
}

/// The next process with a number of at least `from`.
fn first_from(from: Pid) -> Option<(Pid, Arc<Task>)> {
    TASKS.lock().range(from..).next().map(|(&pid, task)| (pid, task.clone()))
}

/// All processes with a number of at least `from`, by number, each as it is when its turn comes.
pub(super) fn tasks_from(from: Pid) -> impl Iterator<Item = Arc<Task>> {
    let mut next = Some(from);
    core::iter::from_fn(move || {
        let (pid, task) = next.and_then(first_from)?;
        next = pid.checked_add(1);
        Some(task)
    })
}

/// Facts of all processes with a number of at least `from`, by number.
pub(crate) fn facts_from(from: Pid) -> impl Iterator<Item = Facts> {
    tasks_from(from).filter_map(|task| facts(&task))
}

fn facts(task: &Arc<Task>) -> Option<Facts> {
    let process = task.process()?;
    let member = member(process.pid())?;
    let ended = *process.zombie.lock();
    let state = if ended.is_some() {
        b'Z'
    } else if process.is_stopped() {
        b'T'
    } else if task.is_parked() {
        b'S'
    } else {
        b'R'
    };
    let memory = process.with_space(|space| Ok((space.resident(), space.size())));
    let (resident, size) = memory.unwrap_or((0, 0)); // it has ended, or lent it
    Some(Facts {
        pid: process.pid(),
        parent: member.parent,
        group: member.group,
        session: member.session,
        state,
        origin: process.origin(),
        name: process.name(),
        resident,
        size,
        age: process.age(),
        time: process.time(),
        agent_job: process.agent_job,
        ended,
    })
}

/// Wakes the task of process `pid`, if there is one.
pub(crate) fn wake(pid: Pid) {
    if let Some(task) = find(pid) {
        sched::unpark(&task);
    }
}
