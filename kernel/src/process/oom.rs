//! Memory is used up: somebody ends, so that the others go on.

use super::signal::{dying, post};
use super::victim::{Offered, PATIENCE};
use super::{INIT, Process, table};
use crate::arch::clock::{self, Nanos, SECOND};
use crate::bus::Turn;
use crate::sched::{self, Task};
use crate::{bus, kprintln, mm};
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::signal::SIGKILL;
use askr_core::oom::{Candidate, Victim, choose};
use askr_core::signal::Info;
use core::iter::successors;
use core::sync::atomic::{AtomicBool, Ordering};

/// Pause between two looks of those who wait for others to make room.
const LOOK: Nanos = SECOND / 100;
/// Frames that others have to give back meanwhile for nobody to end.
const ENOUGH: u64 = 64;

/// Somebody is making room.
static ASKING: AtomicBool = AtomicBool::new(false);

/// Does something that may need frames, and ends somebody whenever there are none for it. Each round but the last ends a
/// process, or waits until somebody else has done so, so there are not many more than there are processes. No lock is held:
/// the agent may be asked who is to end.
///
/// # Errors
/// What `attempt` says; ENOMEM when the running process itself has to end or nobody was left.
pub(crate) fn with_memory<R>(mut attempt: impl FnMut() -> Result<R, Errno>) -> Result<R, Errno> {
    loop {
        let refused = mm::refusals();
        match attempt() {
            Err(Errno::ENOMEM) if mm::refusals() != refused => make_room()?,
            other => return other,
        }
    }
}

/// Ends what [`choose`] names, or the one that the agent prefers to it.
fn make_room() -> Result<(), Errno> {
    let current = sched::current();
    let me = current.process().ok_or(Errno::ENOMEM)?;
    let Some(_turn) = Turn::take(&ASKING) else {
        await_turn();
        // Who is to end needs no memory. To try again without a pause would keep whoever makes room from doing so.
        return if dying() { Err(Errno::ENOMEM) } else { Ok(()) };
    };
    let mut all = candidates()?;
    match choose(&mut all).ok_or(Errno::ENOMEM)? {
        Victim::Process(largest) => {
            let free = mm::usage().free;
            let offered = Offered::new(&all, largest);
            drop(all);
            let Some((task, resident)) = offered.choose(me) else { return Ok(()) };
            if mm::usage().free >= free + ENOUGH {
                return Ok(()); // others gave so much back meanwhile
            }
            let Some(process) = task.process() else { return Err(Errno::ENOMEM) };
            let (pid, name) = (process.pid(), process.name());
            let (shown, size) = (name.escape_ascii(), resident / 1024);
            kprintln!("out of memory for process {}: {shown}[{pid}] is killed, {size} KiB", me.pid());
            bus::process_killed_for_memory(pid, me.pid(), resident, &name);
            end(&task);
        }
        Victim::Job { group, processes, resident } => {
            let size = resident / 1024;
            kprintln!(
                "out of memory for process {}: job {group} is killed, {processes} processes, {size} KiB",
                me.pid()
            );
            let members = table::group(group);
            let name = members.iter().find_map(|task| task.process()).map(Process::name).unwrap_or_default();
            bus::process_killed_for_memory(group, me.pid(), resident, &name);
            members.iter().for_each(end);
        }
    }
    if me.is_ending() { Err(Errno::ENOMEM) } else { Ok(()) }
}

/// Waits until whoever is making room has done so, or for as long as that may take: then memory is tried again.
fn await_turn() {
    let deadline = clock::now() + PATIENCE + SECOND;
    while ASKING.load(Ordering::Relaxed) && clock::now() < deadline && !dying() {
        sched::sleep_until(clock::now() + LOOK, || false);
    }
}

/// All that have memory and may end.
fn candidates() -> Result<Vec<Candidate>, Errno> {
    let mut all = Vec::new();
    all.try_reserve_exact(table::count()).map_err(|_| Errno::ENOMEM)?;
    for task in table::tasks_from(INIT + 1) {
        let Some(process) = task.process() else { continue };
        let Ok(resident) = process.with_space(|space| Ok(space.resident())) else { continue };
        let mut is_shell = false;
        let mut is_init = false;
        for owner in owners(&task) {
            let Some(owner) = owner.process() else { break };
            is_shell |= owner.role().is_shell();
            is_init |= owner.pid() == INIT;
        }
        if is_init {
            continue;
        }
        all.push(Candidate { pid: process.pid(), group: process.group(), resident, is_shell });
    }
    Ok(all)
}

/// A process, who has lent it its memory, who has lent it to him, and so on: at most as many as there are processes. They
/// end together, since the memory is that of all of them.
fn owners(task: &Arc<Task>) -> impl Iterator<Item = Arc<Task>> {
    successors(Some(task.clone()), |task| task.process()?.lender())
}

/// Ends a process and all from whom its memory comes, and takes it at once: they may be waiting for something, and would give
/// it back only when their turn comes.
fn end(task: &Arc<Task>) {
    // The next one is looked up before this one forgets what it owes.
    for task in owners(task) {
        let Some(process) = task.process() else { return };
        if !process.is_ending() {
            process.end_for_memory();
        }
        process.forget_debt();
        drop(process.take_space());
        post(&task, Info::from_kernel(SIGKILL));
    }
}
