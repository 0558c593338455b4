//! Whose terminal COM1 is: the session that it controls, and the group in its foreground (POSIX.1-2017, 11.1).

use super::{Pid, Process, signal, stop, table};
use crate::sched;
use askr_abi::Errno;
use askr_abi::signal::{SIGTTIN, SIGTTOU};
use askr_agentbus::policy::Origin;
use askr_core::signal::{Info, SignalSet};
use core::sync::atomic::{AtomicU32, Ordering};
use spin::Mutex;

/// A session and its foreground group; 0 for none.
#[derive(Clone, Copy)]
struct Control {
    session: Pid,
    foreground: Pid,
}

/// The foreground group again, for the scheduler, which can't wait for the lock.
static FOREGROUND: AtomicU32 = AtomicU32::new(0);

static CONTROL: Mutex<Control> = Mutex::new(Control { session: 0, foreground: 0 });

fn set(control: &mut Control, session: Pid, foreground: Pid) {
    *control = Control { session, foreground };
    FOREGROUND.store(foreground, Ordering::Relaxed);
    sched::sort();
}

/// The foreground group; 0 for none. Takes no lock.
pub(super) fn scheduled_foreground() -> Pid {
    FOREGROUND.load(Ordering::Relaxed)
}

/// The terminal becomes the controlling one of the running process's session (TIOCSCTTY).
///
/// # Errors
/// EPERM if the process does not lead its session, or another one has the terminal and `steal` is not set. The terminal
/// is a person's: a program of the agent's never gets it.
pub(crate) fn acquire(process: &Process, steal: bool) -> Result<(), Errno> {
    let mut control = CONTROL.lock();
    let (session, group) = (process.session(), process.group());
    if session == control.session {
        return Ok(());
    }
    let is_agent = matches!(process.origin(), Origin::Agent { .. });
    if is_agent || session != process.pid() || (control.session != 0 && !steal) {
        return Err(Errno::EPERM);
    }
    set(&mut control, session, group);
    Ok(())
}

/// The running process gives up its controlling terminal (TIOCNOTTY); if it leads the session, for all of that.
///
/// # Errors
/// ENOTTY if it has none.
pub(crate) fn release(process: &Process) -> Result<(), Errno> {
    check_ours(process)?;
    session_ended(process);
    Ok(())
}

/// The leader of a session has ended or given up the terminal: the foreground group is told, and the terminal is free.
pub(super) fn session_ended(process: &Process) {
    let control = *CONTROL.lock();
    if control.session != process.pid() {
        return;
    }
    set(&mut CONTROL.lock(), 0, 0);
    stop::hang_up(control.foreground);
}

/// Its foreground group (TIOCGPGRP).
///
/// # Errors
/// ENOTTY if it is not the controlling terminal of `process`.
pub(crate) fn foreground(process: &Process) -> Result<Pid, Errno> {
    check_ours(process)?;
    Ok(CONTROL.lock().foreground)
}

/// Whether a process is in the foreground of the person's terminal: what it does, the person who sits there does.
pub(crate) fn is_foreground(process: &Process) -> bool {
    let Control { session, foreground } = *CONTROL.lock();
    session != 0 && (process.session(), process.group()) == (session, foreground)
}

/// Its session (TIOCGSID).
///
/// # Errors
/// ENOTTY if it is not the controlling terminal of `process`.
pub(crate) fn session(process: &Process) -> Result<Pid, Errno> {
    check_ours(process)?;
    Ok(CONTROL.lock().session)
}

/// The running process gives the foreground to a group (TIOCSPGRP).
///
/// # Errors
/// ENOTTY if the terminal is not its controlling one, ESRCH for a group that is not there, EPERM for one of another
/// session; those of [`check_change`].
pub(crate) fn set_foreground(process: &Process, group: Pid) -> Result<(), Errno> {
    check_ours(process)?;
    check_change(process)?;
    let session = table::with_family(|family| family.session_of_group(group));
    if session.ok_or(Errno::ESRCH)? != process.session() {
        return Err(Errno::EPERM);
    }
    set(&mut CONTROL.lock(), process.session(), group);
    Ok(())
}

/// Sends `signal` to the foreground group because of a key.
pub(crate) fn signal_foreground(signal: u32) {
    let group = CONTROL.lock().foreground;
    for task in &table::group(group) {
        signal::post(task, Info::from_kernel(signal));
    }
}

/// Whether the running process may read. In the background its group is stopped instead.
///
/// # Errors
/// EINTR after SIGTTIN was sent; EIO where that is ignored or blocked, or nobody could make the group go on, for a
/// process of another session than the terminal's, and for one of the agent's: what is typed is for people.
pub(crate) fn check_read() -> Result<(), Errno> {
    let task = sched::current();
    let Some(process) = task.process() else { return Ok(()) };
    let control = *CONTROL.lock();
    let is_agent = matches!(process.origin(), Origin::Agent { .. });
    if !is_agent && (control.session == 0 || control.foreground == process.group()) {
        return Ok(());
    }
    if is_agent || control.session != process.session() || heeds_not(process, SIGTTIN) {
        return Err(Errno::EIO);
    }
    send_to_own_group(process, SIGTTIN)
}

/// Whether the running process may change the terminal. In the background its group is stopped instead, unless it ignores
/// or blocks SIGTTOU.
///
/// # Errors
/// EINTR after SIGTTOU was sent; EIO if nobody could make the group go on, and for a process of the agent's: it could keep
/// the person from seeing what is typed, or from Ctrl-C.
pub(crate) fn check_change(process: &Process) -> Result<(), Errno> {
    let control = *CONTROL.lock();
    if matches!(process.origin(), Origin::Agent { .. }) {
        return Err(Errno::EIO);
    }
    let background = control.session == process.session() && control.foreground != process.group();
    if !background || heeds_not(process, SIGTTOU) {
        return Ok(());
    }
    send_to_own_group(process, SIGTTOU)
}

fn check_ours(process: &Process) -> Result<(), Errno> {
    let session = CONTROL.lock().session;
    if session != 0 && session == process.session() { Ok(()) } else { Err(Errno::ENOTTY) }
}

fn heeds_not(process: &Process, signal: u32) -> bool {
    let signals = process.signals.lock();
    !signals.blocked().and(SignalSet::one(signal)).is_empty() || signals.action(signal).ignores(signal)
}

fn send_to_own_group(process: &Process, signal: u32) -> Result<(), Errno> {
    let group = process.group();
    if table::with_family(|family| family.is_orphaned(group)) {
        return Err(Errno::EIO);
    }
    for task in &table::group(group) {
        signal::post(task, Info::from_kernel(signal));
    }
    Err(Errno::EINTR)
}
