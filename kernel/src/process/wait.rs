//! Waiting for children.

use super::stop::Change;
use super::{ExitStatus, INIT, Pid, Process, signal, table};
use crate::arch::clock::Nanos;
use crate::sched;
use askr_abi::Errno;
use askr_abi::signal::SIGCHLD;
use askr_abi::types::{WALL, WCLONE, WCONTINUED, WNOHANG, WNOTHREAD, WUNTRACED};
use core::ops::RangeInclusive;
use core::sync::atomic::Ordering;

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

    /// Numbers that they may have.
    const fn numbers(self) -> RangeInclusive<Pid> {
        match self {
            Self::One(pid) => pid..=pid,
            Self::Any | Self::Group(_) => 0..=Pid::MAX,
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

/// The options of `wait4`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitOptions(u32);

/// The signal that the parent of `process` gets at its end; 0 for none. Process 1 takes in every orphan as an ordinary
/// child, whatever signal the one who made it had asked for.
pub(super) fn end_signal(process: &Process) -> u32 {
    if process.parent() == INIT { SIGCHLD } else { process.end_signal.load(Ordering::Relaxed) }
}

impl WaitOptions {
    /// From the third argument.
    ///
    /// # Errors
    /// EINVAL for one that does not exist.
    pub(crate) const fn from_argument(options: u32) -> Result<Self, Errno> {
        let known = WNOHANG | WUNTRACED | WCONTINUED | WNOTHREAD | WALL | WCLONE;
        if options & !known == 0 { Ok(Self(options)) } else { Err(Errno::EINVAL) }
    }

    const fn has(self, option: u32) -> bool {
        self.0 & option != 0
    }

    /// Children that do not end with SIGCHLD are only for those who ask for them.
    fn include(self, process: &Process) -> bool {
        self.has(WALL) || self.has(WCLONE) == (end_signal(process) != SIGCHLD)
    }

    /// Whether they ask for more than ends.
    const fn want_changes(self) -> bool {
        self.has(WUNTRACED | WCONTINUED)
    }

    fn want(self, change: Change) -> bool {
        match change {
            Change::Stopped(_) => self.has(WUNTRACED),
            Change::Continued => self.has(WCONTINUED),
        }
    }
}

/// What happened to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildEvent {
    /// It has ended and is reaped now.
    Ended(ExitStatus),
    /// It was stopped by this signal.
    Stopped(u32),
    /// It went on.
    Continued,
}

impl ChildEvent {
    /// The status word of `wait4` (`man 2 wait`).
    pub(crate) const fn wait_word(self) -> u32 {
        match self {
            Self::Ended(status) => status.wait_word(),
            Self::Stopped(signal) => signal << 8 | 0x7f,
            Self::Continued => 0xffff,
        }
    }
}

/// What was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) pid: Pid,
    pub(crate) event: ChildEvent,
    /// Time that the child, and those that it had waited for, have had the processor.
    pub(crate) time: Nanos,
}

/// Waits until something happened to one of `children` of the running process that `options` ask for. `None` with WNOHANG
/// if nothing has.
///
/// # Errors
/// ECHILD if there is no such child, EINTR on a signal.
pub(crate) fn wait(children: Children, options: WaitOptions) -> Result<Option<Waited>, Errno> {
    let task = sched::current();
    let me = task.process().ok_or(Errno::ECHILD)?;
    let concerns = |child: &Process| children.include(child) && options.include(child);
    loop {
        // However many live beside them, those that have ended are found at once; the living are looked through by those
        // only who ask for what happens to them.
        let ended = table::ended_children(me.pid(), children.numbers());
        let changed = options.want_changes().then(|| table::children(me.pid(), children.numbers()));
        for task in ended.chain(changed.into_iter().flatten()) {
            let Some(child) = task.process().filter(|child| concerns(child)) else { continue };
            if let Some(event) = event_of(child, options) {
                let time = child.time() + child.children_time();
                if matches!(event, ChildEvent::Ended(_)) {
                    me.children_time.fetch_add(time, Ordering::Relaxed);
                }
                return Ok(Some(Waited { pid: child.pid(), event, time }));
            }
        }
        let mut all = table::children(me.pid(), children.numbers());
        if !all.any(|task| task.process().is_some_and(concerns)) {
            return Err(Errno::ECHILD);
        }
        if options.has(WNOHANG) {
            return Ok(None);
        }
        if signal::interrupted() {
            return Err(Errno::EINTR);
        }
        sched::park();
    }
}

/// What happened to a child, which takes it: an end reaps the child.
fn event_of(child: &Process, options: WaitOptions) -> Option<ChildEvent> {
    let ended = *child.zombie.lock();
    if let Some(status) = ended {
        table::remove(child.pid());
        return Some(ChildEvent::Ended(status));
    }
    child.take_change(|change| options.want(change)).map(|change| match change {
        Change::Stopped(signal) => ChildEvent::Stopped(signal),
        Change::Continued => ChildEvent::Continued,
    })
}
