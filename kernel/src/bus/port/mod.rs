//! The doors to the host as the bus sees them: bytes in both directions, and the watch over a host that does not read.

pub(crate) mod com2;
pub(super) mod data;

use crate::arch::clock::{Nanos, SECOND};
use crate::drivers::serial::LineErrors;
use askr_agentbus::Door;

/// A door that takes nothing for so long is stalled. COM2 gives up the frame on it then; the data door keeps what it has.
const STALL: Nanos = SECOND;
/// Time that the word of a panic may wait for a door.
const EMERGENCY: Nanos = SECOND / 4;

/// What the watch found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// The next frame may go out.
    Ready,
    /// Something is on its way; look again by this time.
    Busy(Nanos),
    /// The door has just stalled.
    Stalled,
    /// Still stalled; look again by this time.
    Waiting(Nanos),
    /// Whoever was at the other end has just gone.
    Closed,
    /// Nobody is at the other end, or there is no such door.
    Nobody,
}

/// One of the doors. All of this is for the bus task; nothing waits.
pub(super) trait Port: Sync {
    /// How many bytes the bus takes between two looks at what is to be sent; at most [`CHUNK_MAX`](super::CHUNK_MAX).
    fn chunk(&self) -> usize;

    /// Takes up to `into.len()` received bytes.
    fn read(&self, into: &mut [u8]) -> usize;

    /// Looks whether the next frame may go out.
    fn watch(&self) -> Watch;

    /// Puts a whole frame on its way. Call it only after [`Self::watch`] said [`Watch::Ready`]: then there is room.
    fn send(&self, frame: &[u8]);

    /// A valid frame arrived: whoever sent it reads again, or soon will.
    fn clear_stall(&self);

    /// Whether the door is stalled.
    fn is_stalled(&self) -> bool;

    /// Whether everything that was to be sent has left.
    fn is_clear(&self) -> bool;

    /// When to look again although nothing wakes the bus; `None` where something does.
    fn next_look(&self) -> Option<Nanos>;

    /// What went wrong so far.
    fn errors(&self) -> LineErrors;

    /// Sends a frame from a panic: by polling, after what is on its way, with a deadline by the clock. Returns whether
    /// there is anybody to send it to.
    fn send_emergency(&self, frame: &[u8]) -> bool;
}

/// The port of a door.
pub(super) fn of(door: Door) -> &'static dyn Port {
    match door {
        Door::Com2 => &com2::PORT,
        Door::Data => &data::PORT,
    }
}
