//! Finished lines that wait for a reader.

use alloc::collections::VecDeque;

use super::{READY_BYTES_MAX, READY_LINES_MAX};

/// Lines in the order they were typed. An empty one stands for an end of file.
#[derive(Debug)]
pub(super) struct ReadyLines {
    bytes: VecDeque<u8>,
    lengths: VecDeque<usize>,
}

impl ReadyLines {
    pub(super) fn new() -> Self {
        Self {
            bytes: VecDeque::with_capacity(READY_BYTES_MAX),
            lengths: VecDeque::with_capacity(READY_LINES_MAX),
        }
    }

    /// Appends a line with its end; false if there is no room, then nothing of it is kept.
    pub(super) fn push(&mut self, line: &[u8], end: &[u8]) -> bool {
        let length = line.len() + end.len();
        if self.lengths.len() >= READY_LINES_MAX || self.bytes.len() + length > READY_BYTES_MAX {
            return false;
        }
        self.bytes.extend(line.iter().chain(end));
        self.lengths.push_back(length);
        true
    }

    pub(super) fn read(&mut self, into: &mut [u8]) -> Option<usize> {
        let length = self.lengths.front_mut()?;
        // A read of nothing must not eat an end of file, nor look like one eaten.
        if into.is_empty() {
            return Some(0);
        }
        let count = into.len().min(*length);
        for (slot, byte) in into.iter_mut().zip(self.bytes.drain(..count)) {
            *slot = byte;
        }
        *length -= count;
        if *length == 0 {
            self.lengths.pop_front();
        }
        Some(count)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
    }
}
