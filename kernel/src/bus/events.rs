//! What happens, told to the agent and kept for whoever asks later.

use super::report::text;
use super::{ROUTER, port, wake, with_router};
use crate::arch::clock;
use crate::process::{ExitStatus, Pid, Process};
use crate::trace;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_agentbus::{Door, Event, EventLog, Fault, Logged, PANIC_FRAME_MAX};
use askr_wire::code;
use askr_wire::message::ProcessEvent;
use core::fmt::{self, Write};

/// Tells the agent that a process has started: once, when it has become a program of its own, or before the first other
/// thing that is told of it. Right after a fork it would only bear its parent's name.
pub(crate) fn process_started(process: &Process) {
    if process.announce() {
        let name = process.name();
        tell(&Event::Spawn { pid: process.pid(), parent: process.parent(), name: &name });
    }
}

/// Tells the agent that a process has ended.
pub(crate) fn process_exited(process: &Process, status: ExitStatus) {
    process_started(process);
    let name = process.name();
    tell(&Event::Exit { pid: process.pid(), code: status.shell_code(), name: &name });
}

/// Tells the agent that a process has faulted; its end is told besides.
pub(crate) fn process_faulted(process: &Process, fault: &Fault) {
    process_started(process);
    let name = process.name();
    tell(&Event::Fault { pid: process.pid(), name: &name, fault });
}

/// Tells the agent who was ended because memory was used up, a process or a group, with what it had in bytes.
pub(crate) fn process_killed_for_memory(victim: Pid, wanted_by: Pid, bytes: u64, name: &[u8]) {
    let kib = u32::try_from(bytes / 1024).unwrap_or(u32::MAX);
    tell(&Event::OutOfMemory { victim, wanted_by, kib, name });
}

/// Tells the agent that the file system at `mount` has become full. Before there is a bus, nobody hears it.
pub(crate) fn filesystem_full(mount: &[u8]) {
    if ROUTER.lock().is_some() {
        tell(&Event::DiskFull { mount });
    }
}

/// Tells the agent of a panic: at once, by polling, as far as the line and the clock allow. Whoever holds the router is
/// the code that panicked, and may have left it half changed; then nobody is told.
pub(crate) fn panicked(message: &[u8]) {
    let Some(router) = ROUTER.try_lock() else { return };
    let mut frame = [0; PANIC_FRAME_MAX];
    let told = router.as_ref().and_then(|router| router.panic_frame(message, &mut frame));
    if let Some((door, length)) = told
        && !port::of(door).send_emergency(&frame[..length])
    {
        // Whoever was there has gone, and may be here.
        port::of(Door::Com2).send_emergency(&frame[..length]);
    }
}

fn tell(event: &Event<'_>) {
    if with_router(|router| router.event(clock::now(), event)) {
        wake();
    }
}

/// `/proc/events`: the latest events, one to a line, and before them how many older ones are not kept any more.
///
/// # Errors
/// ENOMEM.
pub(crate) fn events() -> Result<Vec<u8>, Errno> {
    with_router(|router| text(|to| write_events(router.events(), to)))
}

fn write_events(log: &EventLog, to: &mut dyn Write) -> fmt::Result {
    if log.first() > 0 {
        writeln!(to, "lost {}", log.first())?;
    }
    log.from(0).try_for_each(|logged| write_event(&logged, to))
}

fn write_event(logged: &Logged<'_>, to: &mut dyn Write) -> fmt::Result {
    let ProcessEvent { pid, aux, info, name } = logged.event;
    let name = name.escape_ascii();
    write!(to, "{} {} ", logged.number, trace::Stamp(logged.time))?;
    match logged.code {
        code::EVENT_SPAWN => writeln!(to, "spawn pid={pid} parent={aux} name={name}"),
        code::EVENT_EXIT => writeln!(to, "exit pid={pid} status={info} name={name}"),
        code::EVENT_FAULT => writeln!(to, "fault pid={pid} vector={info} name={name}"),
        code::EVENT_OOM => writeln!(to, "oom pid={pid} wanted_by={aux} kib={info} name={name}"),
        code::EVENT_DISK_FULL => writeln!(to, "disk_full mount={name}"),
        code::EVENT_BOOT => writeln!(to, "boot"),
        code::EVENT_LINK_LOST => writeln!(to, "link_lost"),
        other => writeln!(to, "event-{other}"),
    }
}
