//! Input that waits for a reader.

use alloc::collections::VecDeque;

use super::{LINE_MAX, READY_BYTES_MAX, READY_LINES_MAX};

/// Bytes in the order they were typed. In canonical mode they are cut into lines, of which an empty one stands for
/// an end of file; in raw mode there are no lines.
#[derive(Debug)]
pub(super) struct Ready {
    bytes: VecDeque<u8>,
    lengths: VecDeque<usize>,
}

impl Ready {
    pub(super) fn new() -> Self {
        Self {
            bytes: VecDeque::with_capacity(READY_BYTES_MAX + LINE_MAX),
            lengths: VecDeque::with_capacity(READY_LINES_MAX),
        }
    }

    /// Whether a line of `length` bytes with its end would fit.
    pub(super) fn takes_line(&self, length: usize) -> bool {
        self.lengths.len() < READY_LINES_MAX && self.bytes.len() + length <= READY_BYTES_MAX
    }

    /// Whether one more byte would fit.
    pub(super) fn takes_byte(&self) -> bool {
        self.bytes.len() < READY_BYTES_MAX
    }

    /// Appends a line with its end; the caller has asked [`Self::takes_line`].
    pub(super) fn push_line(&mut self, line: &[u8], end: &[u8]) {
        self.bytes.extend(line.iter().chain(end));
        self.lengths.push_back(line.len() + end.len());
    }

    /// Appends a byte; the caller has asked [`Self::takes_byte`].
    pub(super) fn push_byte(&mut self, byte: u8) {
        self.bytes.push_back(byte);
    }

    /// Forgets where lines end, and takes the line that was being typed as it is. Ends of file vanish.
    pub(super) fn join(&mut self, line: &[u8]) {
        self.lengths.clear();
        self.bytes.extend(line);
    }

    /// Moves everything to the front of `queue`.
    pub(super) fn move_before(&mut self, queue: &mut VecDeque<u8>) {
        self.lengths.clear();
        while let Some(byte) = self.bytes.pop_back() {
            queue.push_front(byte);
        }
    }

    pub(super) fn read_line(&mut self, into: &mut [u8]) -> Option<usize> {
        let length = self.lengths.front_mut()?;
        // A read of nothing must not eat an end of file, nor look like one eaten.
        if into.is_empty() {
            return Some(0);
        }
        let count = into.len().min(*length);
        *length -= count;
        if *length == 0 {
            self.lengths.pop_front();
        }
        Some(self.take(count, into))
    }

    pub(super) fn read_bytes(&mut self, into: &mut [u8]) -> Option<usize> {
        if self.bytes.is_empty() {
            return None;
        }
        let count = into.len().min(self.bytes.len());
        Some(self.take(count, into))
    }

    fn take(&mut self, count: usize, into: &mut [u8]) -> usize {
        for (slot, byte) in into.iter_mut().zip(self.bytes.drain(..count)) {
            *slot = byte;
        }
        count
    }

    pub(super) fn has_line(&self) -> bool {
        !self.lengths.is_empty()
    }

    pub(super) fn has_byte(&self) -> bool {
        !self.bytes.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
    }
}
