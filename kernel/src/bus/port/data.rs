//! The data door: the agent's port of a VirtIO console. Frames wait for it in memory that the device has, so none is cut.

use super::super::CHUNK_MAX;
use super::{EMERGENCY, Port, STALL, Watch};
use crate::arch::clock::{self, Nanos, SECOND};
use crate::drivers::agent_port::AgentPort;
use crate::drivers::serial::LineErrors;
use crate::sched::Task;
use alloc::sync::Arc;
use spin::Mutex;

/// How often to look where no interrupt comes.
const LOOK: Nanos = SECOND / 100;

pub(super) static PORT: DataDoor = DataDoor(Mutex::new(None));

/// The door; it has a state if the machine has a device for it. Only tasks touch it.
pub(super) struct DataDoor(Mutex<Option<State>>);

struct State {
    port: AgentPort,
    was_open: bool,
    is_stalled: bool,
    /// When the device last took something, or had nothing to take.
    progress: Nanos,
}

/// Opens the door, if the machine has one.
pub(in crate::bus) fn open() {
    if let Some(port) = AgentPort::find() {
        *PORT.0.lock() = Some(State { port, was_open: false, is_stalled: false, progress: 0 });
    }
}

/// Makes the device wake this task.
pub(in crate::bus) fn wake_by(task: &Arc<Task>) {
    PORT.with(|state| state.port.wake(task));
}

impl DataDoor {
    fn with<R>(&self, use_it: impl FnOnce(&mut State) -> R) -> Option<R> {
        self.0.lock().as_mut().map(use_it)
    }
}

impl State {
    fn watch(&mut self, now: Nanos) -> Watch {
        let is_open = self.port.is_open();
        if !is_open {
            self.is_stalled = false;
            let has_closed = core::mem::replace(&mut self.was_open, false);
            return if has_closed { Watch::Closed } else { Watch::Nobody };
        }
        self.was_open = true;
        let (has_room, moved) = self.port.has_room();
        if has_room || moved {
            (self.progress, self.is_stalled) = (now, false);
        }
        let deadline = self.progress + STALL;
        if has_room {
            Watch::Ready
        } else if self.is_stalled {
            Watch::Waiting(now + STALL)
        } else if now < deadline {
            Watch::Busy(deadline)
        } else {
            self.is_stalled = true;
            Watch::Stalled
        }
    }
}

impl Port for DataDoor {
    fn chunk(&self) -> usize {
        CHUNK_MAX
    }

    fn read(&self, into: &mut [u8]) -> usize {
        let read = |state: &mut State| {
            state.port.look();
            let count = state.port.read(into);
            // What was sent before the other end went away may be read after that was noticed, and is given up once more.
            state.was_open |= count > 0;
            count
        };
        self.with(read).unwrap_or(0)
    }

    fn watch(&self) -> Watch {
        let now = clock::now();
        self.with(|state| state.watch(now)).unwrap_or(Watch::Nobody)
    }

    fn send(&self, frame: &[u8]) {
        self.with(|state| state.port.send(frame));
    }

    fn clear_stall(&self) {
        // It is cleared by what it takes: frames that come in say nothing about that.
    }

    fn is_stalled(&self) -> bool {
        self.with(|state| state.is_stalled).unwrap_or(false)
    }

    fn is_clear(&self) -> bool {
        self.with(|state| state.port.is_clear()).unwrap_or(true)
    }

    fn next_look(&self) -> Option<Nanos> {
        self.with(|state| (!state.port.wakes()).then(|| clock::now() + LOOK)).flatten()
    }

    fn errors(&self) -> LineErrors {
        LineErrors::default()
    }

    fn send_emergency(&self, frame: &[u8]) -> bool {
        // Whoever holds it is the code that panicked.
        let Some(mut guard) = self.0.try_lock() else { return false };
        let Some(State { port, .. }) = guard.as_mut() else { return false };
        let deadline = clock::now() + EMERGENCY;
        while !port.has_room().0 && clock::now() < deadline {}
        let is_open = port.is_open();
        port.send(frame);
        while !port.is_clear() && clock::now() < deadline {}
        is_open
    }
}
