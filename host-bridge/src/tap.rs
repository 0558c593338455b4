//! What goes through the doors to the guest, for whoever listens in: every frame of both directions with its bytes as they
//! were, and what was no frame.

use std::sync::Arc;

use askr_wire::{FRAME_MAX, FrameError};

use crate::link::Door;

/// Most bytes that are kept of what lies between two delimiters: one more than the longest frame has there, so that all
/// of a frame is kept and it shows when something was longer.
pub const BYTES_MAX: usize = FRAME_MAX - 1;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From this side.
    ToGuest,
    /// To this side.
    ToHost,
}

/// What the bytes between two delimiters were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A whole frame.
    Whole,
    /// No frame.
    Broken(FrameError),
    /// To the host: the connection ended before the frame did. To the guest: the frame before was given up after these
    /// bytes of it.
    Cut,
}

impl Verdict {
    /// Short name: `whole`, `cut`, or that of the error.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Broken(error) => error.name(),
            Self::Cut => "cut",
        }
    }
}

/// Something at a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<'a> {
    /// The connection was made.
    Up,
    /// The connection ended.
    Down,
    /// Bytes between two delimiters, at the time of the second one; those to the guest just before they are written.
    Bytes {
        /// Which way they go.
        direction: Direction,
        /// What they were.
        verdict: Verdict,
        /// The first [`BYTES_MAX`] of them, COBS-encoded as they are on the line.
        bytes: &'a [u8],
        /// How many there were.
        length: usize,
    },
}

/// Is told of all that is seen, and at which door, by several threads, in the order of each door. Must not wait.
pub type Tap = Arc<dyn Fn(Door, &Seen<'_>) + Send + Sync>;

/// A tap at one door.
#[derive(Clone)]
pub(crate) struct DoorTap {
    door: Door,
    tap: Tap,
}

impl DoorTap {
    pub(crate) const fn new(door: Door, tap: Tap) -> Self {
        Self { door, tap }
    }

    pub(crate) fn tell(&self, seen: &Seen<'_>) {
        (self.tap)(self.door, seen);
    }

    /// Tells of every frame in bytes that are about to be written to the guest.
    pub(crate) fn tell_written(&self, bytes: &[u8]) {
        self.tell_pieces(bytes, Verdict::Whole);
    }

    /// Tells that only these bytes of what was told of have left.
    pub(crate) fn tell_given_up(&self, bytes: &[u8]) {
        self.tell_pieces(bytes, Verdict::Cut);
    }

    fn tell_pieces(&self, bytes: &[u8], verdict: Verdict) {
        for piece in bytes.split(|&byte| byte == 0).filter(|piece| !piece.is_empty()) {
            let bytes = &piece[..piece.len().min(BYTES_MAX)];
            self.tell(&Seen::Bytes { direction: Direction::ToGuest, verdict, bytes, length: piece.len() });
        }
    }
}

/// Gathers what comes from the guest up to each delimiter.
pub(crate) struct Gatherer {
    bytes: Vec<u8>,
    length: usize,
    verdict: Option<Verdict>,
}

impl Gatherer {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::with_capacity(BYTES_MAX), length: 0, verdict: None }
    }

    /// Takes the next bytes, and what the deframer said to the last of them.
    pub(crate) fn take(&mut self, bytes: &[u8], verdict: Option<Verdict>, tap: &DoorTap) {
        if let Some((&last, before)) = bytes.split_last() {
            before.iter().for_each(|&byte| self.push(byte, None, tap));
            self.push(last, verdict, tap);
        }
    }

    fn push(&mut self, byte: u8, verdict: Option<Verdict>, tap: &DoorTap) {
        self.verdict = verdict.or(self.verdict);
        if byte == 0 {
            return self.finish(tap);
        }
        self.length += 1;
        if self.bytes.len() < BYTES_MAX {
            self.bytes.push(byte);
        }
    }

    /// Tells of what there is, at a delimiter or at the end of the connection.
    pub(crate) fn finish(&mut self, tap: &DoorTap) {
        let verdict = self.verdict.take().unwrap_or(Verdict::Cut);
        if self.length > 0 {
            let (direction, length) = (Direction::ToHost, self.length);
            tap.tell(&Seen::Bytes { direction, verdict, bytes: &self.bytes, length });
        }
        self.bytes.clear();
        self.length = 0;
    }
}
