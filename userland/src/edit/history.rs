//! Lines that were entered before.

use alloc_crate::collections::VecDeque;
use alloc_crate::vec::Vec;

/// Most lines kept; the oldest go first.
pub const LINES_MAX: usize = 500;
/// Most bytes of lines kept.
pub const BYTES_MAX: usize = 64 * 1024;

/// The lines, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl History {
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        self.lines.get(index).map(Vec::as_slice)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(Vec::as_slice)
    }

    /// Adds a line, unless it is blank or the same as the last.
    pub(super) fn add(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() || self.lines.back().is_some_and(|last| last == line) {
            return;
        }
        self.lines.push_back(line.to_vec());
        self.bytes += line.len();
        while self.lines.len() > LINES_MAX || self.bytes > BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// The newest line before `end` that contains `part`, and where in it.
    pub(super) fn find(&self, part: &[u8], end: usize) -> Option<(usize, usize)> {
        (0..end.min(self.lines.len())).rev().find_map(|index| {
            let line = &self.lines[index];
            let at = line.windows(part.len().max(1)).position(|window| window.starts_with(part))?;
            Some((index, at))
        })
    }
}
