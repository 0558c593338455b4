//! All processes, living and waiting to be reaped.

use super::{Pid, Process};
use crate::arch::clock::Nanos;
use crate::sched::{self, TASKS_MAX, Task};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_agentbus::policy::Origin;
use core::sync::atomic::{AtomicU32, Ordering};
use spin::Mutex;

/// Processes that may exist at once; a few tasks are left to the kernel.
pub(super) const PROCESSES_MAX: usize = TASKS_MAX - 16;
/// Numbers run up to this and then start over, as on Linux.
const PID_MAX: Pid = 32_768;

static PROCESSES: Mutex<BTreeMap<Pid, Arc<Task>>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU32 = AtomicU32::new(super::INIT);

/// What `ps` and `/proc` tell of a process.
pub(crate) struct Facts {
    pub(crate) pid: Pid,
    pub(crate) parent: Pid,
    pub(crate) group: Pid,
    /// As in `/proc/PID/stat`: R running or ready, S sleeping, Z ended and not reaped.
    pub(crate) state: u8,
    pub(crate) origin: Origin,
    pub(crate) name: Vec<u8>,
    /// Bytes of memory.
    pub(crate) resident: u64,
    pub(crate) age: Nanos,
}

/// A free process number, if there are fewer than `limit` processes.
///
/// # Errors
/// EAGAIN when there are too many.
pub(super) fn allocate_pid(limit: u64) -> Result<Pid, Errno> {
    let processes = PROCESSES.lock();
    if processes.len() as u64 >= limit.min(PROCESSES_MAX as u64) {
        return Err(Errno::EAGAIN);
    }
    // More numbers than processes, so one of PID_MAX is free.
    (0..PID_MAX)
        .map(|_| {
            let pid = NEXT.fetch_add(1, Ordering::Relaxed);
            if pid >= PID_MAX {
                NEXT.store(super::INIT + 1, Ordering::Relaxed);
            }
            pid
        })
        .find(|pid| !processes.contains_key(pid))
        .ok_or(Errno::EAGAIN)
}

pub(super) fn insert(task: &Arc<Task>) {
    if let Some(process) = task.process() {
        PROCESSES.lock().insert(process.pid(), task.clone());
    }
}

pub(super) fn remove(pid: Pid) -> Option<Arc<Task>> {
    PROCESSES.lock().remove(&pid)
}

/// The task of process `pid`, zombies included.
pub(crate) fn find(pid: Pid) -> Option<Arc<Task>> {
    PROCESSES.lock().get(&pid).cloned()
}

/// All tasks for which `wanted` holds, by number.
pub(super) fn select(wanted: impl Fn(&Process) -> bool) -> Vec<Arc<Task>> {
    let processes = PROCESSES.lock();
    processes.values().filter(|task| task.process().is_some_and(&wanted)).cloned().collect()
}

/// Facts of all processes with a number of at least `from`, by number.
pub(crate) fn snapshot(from: Pid) -> Vec<Facts> {
    select(|process| process.pid() >= from).iter().filter_map(facts).collect()
}

fn facts(task: &Arc<Task>) -> Option<Facts> {
    let process = task.process()?;
    let state = if process.zombie.lock().is_some() {
        b'Z'
    } else if task.is_parked() {
        b'S'
    } else {
        b'R'
    };
    Some(Facts {
        pid: process.pid(),
        parent: process.parent(),
        group: process.group(),
        state,
        origin: process.origin(),
        name: process.name(),
        resident: process.with_space(|space| Ok(space.resident())).unwrap_or(0),
        age: process.age(),
    })
}

/// Wakes the task of process `pid`, if there is one.
pub(crate) fn wake(pid: Pid) {
    if let Some(task) = find(pid) {
        sched::unpark(&task);
    }
}
