//! The line being edited, without its screen.

use super::Unit;
use alloc_crate::vec::Vec;
use core::mem::replace;
use core::ops::Range;

/// Units with a cursor between them. The cursor never stands between a character and its marks.
#[derive(Debug, Default)]
pub(super) struct Line {
    units: Vec<Unit>,
    cursor: usize,
    bytes: usize,
    /// First unit that is not as it was when [`Line::take_changed`] was called.
    changed: usize,
}

impl Line {
    pub(super) fn units(&self) -> &[Unit] {
        &self.units
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Length in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes);
        self.units.iter().for_each(|unit| unit.write(&mut bytes));
        bytes
    }

    pub(super) fn bytes_before_cursor(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.units[..self.cursor].iter().for_each(|unit| unit.write(&mut bytes));
        bytes
    }

    /// From which unit on the screen is out of date.
    pub(super) fn take_changed(&mut self) -> usize {
        replace(&mut self.changed, usize::MAX).min(self.units.len())
    }

    /// Replaces the line; the cursor goes to its end.
    pub(super) fn set(&mut self, units: Vec<Unit>) {
        self.bytes = units.iter().map(|unit| unit.byte_len()).sum();
        self.cursor = units.len();
        self.units = units;
        self.changed = 0;
    }

    /// Inserts before the cursor.
    pub(super) fn insert(&mut self, unit: Unit) {
        self.changed = self.changed.min(self.cursor);
        self.units.insert(self.cursor, unit);
        self.bytes += unit.byte_len();
        // Marks at the start of the line join the unit now.
        self.cursor = self.joined_right(self.cursor + 1);
    }

    /// Takes out what lies between the cursor and `to`; the cursor stays at the left end of that.
    pub(super) fn cut(&mut self, to: usize) -> Vec<Unit> {
        let range = self.cursor.min(to)..self.cursor.max(to);
        self.cursor = range.start;
        self.changed = self.changed.min(range.start);
        let cut = self.take(range);
        // What was behind may begin with marks, if it is the line's start: they join what is before now.
        self.cursor = self.joined_right(self.cursor);
        cut
    }

    fn take(&mut self, range: Range<usize>) -> Vec<Unit> {
        let cut: Vec<Unit> = self.units.drain(range).collect();
        self.bytes -= cut.iter().map(|unit| unit.byte_len()).sum::<usize>();
        cut
    }

    /// Moves the cursor, to the left of a character in whose middle `to` is.
    pub(super) fn go(&mut self, to: usize) {
        self.cursor = self.joined_left(to);
    }

    /// Where the character before the cursor begins.
    pub(super) fn left(&self) -> usize {
        self.joined_left(self.cursor.saturating_sub(1))
    }

    /// Where the character at the cursor ends.
    pub(super) fn right(&self) -> usize {
        self.joined_right((self.cursor + 1).min(self.units.len()))
    }

    /// Where the word before the cursor begins, by `is_word`.
    pub(super) fn word_left(&self, is_word: impl Fn(Unit) -> bool) -> usize {
        let before = &self.units[..self.cursor];
        let end = before.iter().rposition(|&unit| is_word(unit)).map_or(0, |at| at + 1);
        let start =
            before[..end].iter().rposition(|&unit| !is_word(unit) && !unit.is_mark()).map_or(0, |at| at + 1);
        self.joined_right(start)
    }

    /// Where the word at the cursor or after it ends, by `is_word`.
    pub(super) fn word_right(&self, is_word: impl Fn(Unit) -> bool) -> usize {
        let len = self.units.len();
        let find = |from: usize, wanted: bool| {
            let skip = self.units[from..].iter().position(|&unit| is_word(unit) == wanted && !unit.is_mark());
            skip.map_or(len, |skip| from + skip)
        };
        find(find(self.cursor, true), false)
    }

    fn joined_left(&self, mut at: usize) -> usize {
        while at > 0 && self.units.get(at).is_some_and(|unit| unit.is_mark()) {
            at -= 1;
        }
        at
    }

    fn joined_right(&self, at: usize) -> usize {
        at + self.units[at..].iter().take_while(|unit| unit.is_mark()).count()
    }
}
