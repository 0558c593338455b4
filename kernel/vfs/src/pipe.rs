//! What is in a pipe (POSIX.1-2017 `pipe`, `read`, `write`; `pipe(7)`). It never waits: whoever finds nothing, or no
//! room, gets EAGAIN and decides what to do.

use alloc::collections::VecDeque;

use askr_abi::Errno;

use crate::Result;

/// Most bytes that a write puts into a pipe as one step, without bytes of others in between.
pub const PIPE_BUF: usize = 4096;
/// Most bytes that a pipe holds.
pub const PIPE_CAPACITY: usize = 64 * 1024;

/// The bytes between the two ends of a pipe, and how many hold each end.
#[derive(Debug)]
pub struct Pipe {
    bytes: VecDeque<u8>,
    /// Bytes that there is memory for: from [`PIPE_BUF`] to [`PIPE_CAPACITY`].
    limit: usize,
    readers: usize,
    writers: usize,
}

impl Pipe {
    /// An empty pipe with one reader and one writer.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new() -> Result<Self> {
        let mut bytes = VecDeque::new();
        bytes.try_reserve_exact(PIPE_BUF).map_err(|_| Errno::ENOMEM)?;
        Ok(Self { bytes, limit: PIPE_BUF, readers: 1, writers: 1 })
    }

    /// Takes out what is there, as much as fits; 0 is the end: nothing is there and no writer is left.
    ///
    /// # Errors
    /// EAGAIN when there is nothing yet.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.bytes.is_empty() && self.writers > 0 && !into.is_empty() {
            return Err(Errno::EAGAIN);
        }
        let count = into.len().min(self.bytes.len());
        for (slot, byte) in into.iter_mut().zip(self.bytes.drain(..count)) {
            *slot = byte;
        }
        Ok(count)
    }

    /// Puts bytes in: up to [`PIPE_BUF`] all or nothing, of more as many as fit. With `grow` more memory may be used
    /// for them; a pipe that gets none holds less and works all the same.
    ///
    /// # Errors
    /// EPIPE when no reader is left; EAGAIN when there is no room. Neither for no bytes.
    pub fn write(&mut self, bytes: &[u8], grow: bool) -> Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        if self.readers == 0 {
            return Err(Errno::EPIPE);
        }
        if grow {
            self.grow_for(bytes.len());
        }
        let room = self.limit - self.bytes.len();
        let count = if bytes.len() <= room {
            bytes.len()
        } else if bytes.len() <= PIPE_BUF || room == 0 {
            return Err(Errno::EAGAIN);
        } else {
            room
        };
        self.bytes.extend(&bytes[..count]);
        Ok(count)
    }

    /// One reader less.
    pub fn close_reader(&mut self) {
        self.readers = self.readers.saturating_sub(1);
    }

    /// One writer less.
    pub fn close_writer(&mut self) {
        self.writers = self.writers.saturating_sub(1);
    }

    /// Whether a read would not have to wait: there is something, or the end.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        !self.bytes.is_empty() || self.writers == 0
    }

    /// Whether a write of [`PIPE_BUF`] bytes would not have to wait: there is room, or nobody to read.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.limit - self.bytes.len() >= PIPE_BUF || self.readers == 0
    }

    /// Bytes in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no byte is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether a reader is left.
    #[must_use]
    pub const fn has_reader(&self) -> bool {
        self.readers > 0
    }

    /// Whether a writer is left.
    #[must_use]
    pub const fn has_writer(&self) -> bool {
        self.writers > 0
    }

    /// Doubles the room until `more` bytes fit, [`PIPE_CAPACITY`] is reached, or memory ends.
    fn grow_for(&mut self, more: usize) {
        let wanted = self.bytes.len().saturating_add(more).min(PIPE_CAPACITY);
        if wanted <= self.limit {
            return;
        }
        let limit = wanted.next_power_of_two().min(PIPE_CAPACITY);
        if self.bytes.try_reserve_exact(limit - self.bytes.len()).is_ok() {
            self.limit = limit;
        }
    }
}
