//! Input line by line, whatever the bytes are.

use alloc_crate::vec::Vec;
use askr_abi::Errno;

/// How much is asked for at a time, in bytes.
const PIECE: usize = 16 * 1024;
/// Longest line, in bytes.
pub const LINE_MAX: usize = 16 << 20;

/// Cuts what `read` gives into lines. `read` fills the front of a buffer and says how much; 0 is the end.
#[derive(Debug)]
pub struct LineReader<R> {
    read: R,
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// How much of `buffer` is from `read`.
    end: usize,
    ended: bool,
}

impl<R: FnMut(&mut [u8]) -> Result<usize, Errno>> LineReader<R> {
    /// Lines of what `read` gives.
    pub const fn new(read: R) -> Self {
        Self { read, buffer: Vec::new(), start: 0, end: 0, ended: false }
    }

    /// The next line with its newline, which the last one may lack; `None` at the end.
    ///
    /// # Errors
    /// Those of `read`; EFBIG for a line of more than [`LINE_MAX`] bytes.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, Errno> {
        // What was searched without success is not searched again.
        let mut searched = self.start;
        loop {
            let fresh = &self.buffer[searched..self.end];
            if let Some(at) = fresh.iter().position(|&byte| byte == b'\n') {
                let begin = self.start;
                self.start = searched + at + 1;
                return Ok(Some(&self.buffer[begin..self.start]));
            }
            searched = self.end;
            if self.ended {
                let begin = core::mem::replace(&mut self.start, self.end);
                return Ok((begin < self.end).then(|| &self.buffer[begin..self.end]));
            }
            searched -= self.make_room()?;
            let count = (self.read)(&mut self.buffer[self.end..])?.min(self.buffer.len() - self.end);
            self.end += count;
            self.ended = count == 0;
        }
    }

    /// Moves the line that was begun to the front, and makes the buffer larger if it fills it. Returns how far the
    /// line was moved.
    fn make_room(&mut self) -> Result<usize, Errno> {
        let moved = self.start;
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= moved;
        self.start = 0;
        if self.buffer.len() - self.end < PIECE / 2 {
            if self.end > LINE_MAX {
                return Err(Errno::EFBIG);
            }
            self.buffer.resize((2 * self.end).max(PIECE), 0);
        }
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_MAX, LineReader};
    use askr_abi::Errno;
    use proptest::prelude::*;

    /// A source that gives `text` in pieces of these sizes.
    fn source(
        mut text: Vec<u8>,
        mut sizes: impl Iterator<Item = usize>,
    ) -> impl FnMut(&mut [u8]) -> Result<usize, Errno> {
        move |into| {
            let count = sizes.next().unwrap_or(1).clamp(1, into.len()).min(text.len());
            into[..count].copy_from_slice(&text[..count]);
            text.drain(..count);
            Ok(count)
        }
    }

    #[test]
    fn a_line_without_an_end_stops_at_the_bound() {
        let mut lines = LineReader::new(|into: &mut [u8]| {
            into.fill(b'x');
            Ok(into.len())
        });
        assert_eq!(lines.next_line(), Err(Errno::EFBIG));
        let mut lines = LineReader::new(source(vec![b'x'; LINE_MAX], std::iter::repeat(1 << 16)));
        assert_eq!(lines.next_line().unwrap().map(<[u8]>::len), Some(LINE_MAX));
        assert_eq!(lines.next_line(), Ok(None));
    }

    #[test]
    fn an_error_of_the_source_is_told() {
        let mut lines = LineReader::new(|_: &mut [u8]| Err(Errno::EIO));
        assert_eq!(lines.next_line(), Err(Errno::EIO));
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_whole(text in "[ab\n]{0,60}", sizes in prop::collection::vec(1_usize..9, 0..40), scale in 0_usize..2) {
            // Now and then long lines that do not fit the buffer at first.
            let text = text.replace('a', &"a".repeat(1 + scale * 9_000)).into_bytes();
            let step = sizes.into_iter().map(move |size| size * (1 + scale * 5_000)).chain(std::iter::repeat(4_000));
            let mut lines = LineReader::new(source(text.clone(), step));
            let mut found = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                found.push(line.to_vec());
            }
            let expected: Vec<_> = text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
