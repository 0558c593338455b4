//! The line on the screen.
//!
//! The terminal is taken to wrap at the right margin as VT100 and all that came after it: a character in the last
//! column leaves the cursor there, and the next one goes to the next row. Where the cursor has to stand at the start
//! of a row that nothing has reached yet, a blank takes it there. A line of more rows than the screen has is shown in
//! part, around the cursor; so no cursor movement ever leaves the screen.

use super::Unit;
use super::unit::WIDTH_MAX;
use alloc_crate::vec::Vec;
use core::fmt::{self, Write};
use core::mem::replace;

const ERASE_BELOW: &[u8] = b"\x1b[J";
const HOME_AND_ERASE: &[u8] = b"\x1b[H\x1b[2J";
/// Moves to the left up to this length are made by backspaces.
const BACKSPACES_MAX: usize = 4;

/// The size of a screen in characters. What is not known is taken as without limit: then the terminal wraps by itself,
/// and only moves across its margin go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    rows: usize,
    columns: usize,
}

impl Size {
    /// A size as `TIOCGWINSZ` tells it: 0 for what is not known. A screen too narrow for one character is not
    /// believed either.
    #[must_use]
    pub fn new(rows: u16, columns: u16) -> Self {
        let known = |size: u16, least: usize| match usize::from(size) {
            size if size >= least => size,
            _ => usize::MAX,
        };
        Self { rows: known(rows, 1), columns: known(columns, WIDTH_MAX) }
    }
}

/// A place, counted from where the prompt begins. The column may be the margin: one past the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    row: usize,
    column: usize,
}

/// What is to be shown.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) prompt: &'a [Unit],
    pub(super) line: &'a [Unit],
    /// Index in `line`.
    pub(super) cursor: usize,
}

impl Frame<'_> {
    fn len(&self) -> usize {
        self.prompt.len() + self.line.len()
    }

    fn unit(&self, index: usize) -> Unit {
        match self.prompt.get(index) {
            Some(unit) => *unit,
            None => self.line[index - self.prompt.len()],
        }
    }
}

/// What the screen shows.
#[derive(Debug)]
pub(super) struct Display {
    size: Size,
    /// Where each unit begins.
    starts: Vec<Place>,
    end: Place,
    /// Where the terminal's cursor is.
    at: Place,
    /// The lowest row that the terminal's cursor can be moved to; those further down come by writing.
    floor: usize,
    /// How many units are on the screen or have scrolled off it, and where the last of them ends.
    drawn: usize,
    drawn_end: Place,
    /// The line begins with a mark, which joins the end of the prompt.
    joins_prompt: bool,
}

impl Display {
    pub(super) fn new(size: Size) -> Self {
        let start = Place::default();
        Self {
            size,
            starts: Vec::new(),
            end: start,
            at: start,
            floor: 0,
            drawn: 0,
            drawn_end: start,
            joins_prompt: false,
        }
    }

    /// Clears the screen; the frame begins at its top.
    pub(super) fn clear(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(HOME_AND_ERASE);
        self.restart();
    }

    /// The frame begins anew where the terminal's cursor is, at the start of a row.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.size);
    }

    /// The screen turns out to have another size. What was written is there as that size arranges it.
    pub(super) fn resize(&mut self, size: Size, frame: Frame<'_>) {
        self.size = size;
        self.lay_out(frame, 0);
        (self.drawn, self.drawn_end, self.floor) = (frame.len(), self.end, self.end.row);
        self.at = self.place_of(frame.prompt.len() + frame.cursor);
    }

    /// Shows a frame whose units before `changed` are those of the frame before.
    pub(super) fn show(&mut self, frame: Frame<'_>, mut changed: usize, out: &mut Vec<u8>) {
        let joins_prompt = frame.line.first().is_some_and(|unit| unit.is_mark());
        if replace(&mut self.joins_prompt, joins_prompt) || joins_prompt {
            changed = changed.min(frame.prompt.len().saturating_sub(1));
        }
        let (old_top, old_drawn, old_end) = (self.top(), self.drawn, self.settled(self.drawn_end));
        self.lay_out(frame, changed);
        let cursor = self.settled(self.place_of(frame.prompt.len() + frame.cursor));
        let top = self.choose_top(old_top, cursor);
        let below = top.saturating_add(self.size.rows);
        let last = self.starts.partition_point(|place| place.row < below);
        let end = if last == frame.len() { self.end } else { Place { row: below, column: 0 } };
        if top < old_top {
            self.go_to(Place { row: old_top, column: 0 }, out);
            out.extend_from_slice(ERASE_BELOW);
            self.at.row = top;
            self.floor = below - 1;
            self.draw(frame, self.starts.partition_point(|place| place.row < top), last, out);
        } else {
            let visible = self.starts.partition_point(|place| place.row < old_top);
            let first = changed.min(old_drawn).max(visible);
            let erase = old_end > self.settled(end);
            self.draw_on(frame, first..last, erase, cursor, out);
        }
        (self.drawn, self.drawn_end) = (last, end);
        if self.at.column == self.size.columns && cursor == self.settled(self.at) {
            out.extend_from_slice(b" \r");
            self.at = cursor;
            self.floor = self.floor.max(cursor.row);
        }
        self.go_to(cursor, out);
    }

    /// Goes to the row after the last one that is shown. The terminal makes CR LF of the newline.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        let row = self.drawn_end.row.min(self.floor).max(self.top());
        self.go_to(Place { row, column: self.at.column.min(self.size.columns - 1) }, out);
        out.push(b'\n');
    }

    /// The row of the frame that is the screen's first, if the frame fills the screen.
    fn top(&self) -> usize {
        (self.floor + 1).saturating_sub(self.size.rows)
    }

    /// The first row to show: it changes only to keep the cursor on the screen and the screen full.
    fn choose_top(&self, old: usize, cursor: Place) -> usize {
        let lowest = |last_row: usize| (last_row + 1).saturating_sub(self.size.rows);
        old.max(lowest(cursor.row)).min(cursor.row).min(lowest(self.settled(self.end).row))
    }

    /// Draws the units of `range`, or as many before them as it takes to reach a row that is not there yet.
    fn draw_on(
        &mut self,
        frame: Frame<'_>,
        range: core::ops::Range<usize>,
        erase: bool,
        cursor: Place,
        out: &mut Vec<u8>,
    ) {
        let mut first = range.start;
        // Each round goes back by a unit, at most to the first.
        while first > 0 {
            let is_mark = first < frame.len() && frame.unit(first).is_mark();
            let is_missing = self.settled(self.flow(frame, first)).row > self.floor;
            let reaches_cursor = first < range.end || cursor.row <= self.floor;
            if !is_mark && !is_missing && reaches_cursor {
                break;
            }
            first -= 1;
        }
        if first >= range.end && !erase {
            return;
        }
        let screen = Place { row: self.top(), column: 0 };
        self.go_to(self.settled(self.flow(frame, first)).max(screen), out);
        if erase {
            out.extend_from_slice(ERASE_BELOW);
        }
        self.draw(frame, first, range.end, out);
    }

    /// Writes units where the cursor is.
    fn draw(&mut self, frame: Frame<'_>, first: usize, last: usize, out: &mut Vec<u8>) {
        for index in first..last {
            let unit = frame.unit(index);
            if self.wraps(self.at, unit) {
                self.fill_row(out);
                self.at = Place { row: self.at.row + 1, column: 0 };
                self.floor = self.floor.max(self.at.row);
            }
            unit.show(out);
            self.at.column += unit.width();
        }
        if first < last && last < frame.len() {
            self.fill_row(out);
        }
    }

    /// Blanks at the end of a row where the next unit has no room.
    fn fill_row(&mut self, out: &mut Vec<u8>) {
        out.resize(out.len() + (self.size.columns - self.at.column), b' ');
        self.at.column = self.size.columns;
    }

    fn lay_out(&mut self, frame: Frame<'_>, from: usize) {
        self.starts.truncate(from);
        self.end = self.flow(frame, self.starts.len());
        for index in self.starts.len()..frame.len() {
            let unit = frame.unit(index);
            if self.wraps(self.end, unit) {
                self.end = Place { row: self.end.row + 1, column: 0 };
            }
            self.starts.push(self.end);
            self.end.column += unit.width();
        }
    }

    fn wraps(&self, place: Place, unit: Unit) -> bool {
        unit.width() > 0 && place.column + unit.width() > self.size.columns
    }

    /// Where the unit before `index` ends.
    fn flow(&self, frame: Frame<'_>, index: usize) -> Place {
        match index.checked_sub(1) {
            None => Place::default(),
            Some(before) => {
                let start = self.starts[before];
                Place { column: start.column + frame.unit(before).width(), ..start }
            }
        }
    }

    fn place_of(&self, index: usize) -> Place {
        self.starts.get(index).copied().unwrap_or(self.end)
    }

    /// The margin of a row is the start of the next.
    fn settled(&self, place: Place) -> Place {
        if place.column >= self.size.columns { Place { row: place.row + 1, column: 0 } } else { place }
    }

    fn go_to(&mut self, target: Place, out: &mut Vec<u8>) {
        if self.at.column >= self.size.columns || (target.column == 0 && self.at.column != 0) {
            out.push(b'\r');
            self.at.column = 0;
        }
        move_by(target.row, self.at.row, b'B', b'A', out);
        let back = self.at.column.saturating_sub(target.column);
        if back <= BACKSPACES_MAX {
            out.resize(out.len() + back, b'\x08');
            self.at.column -= back;
        }
        move_by(target.column, self.at.column, b'C', b'D', out);
        self.at = target;
    }
}

/// CUD, CUU, CUF or CUB of ECMA-48.
fn move_by(target: usize, from: usize, forward: u8, back: u8, out: &mut Vec<u8>) {
    let (distance, last) = if target > from { (target - from, forward) } else { (from - target, back) };
    match distance {
        0 => {}
        1 => out.extend_from_slice(&[0x1b, b'[', last]),
        _ => {
            // Writing to a vector cannot fail.
            let _ = write!(Bytes(out), "\x1b[{distance}{}", char::from(last));
        }
    }
}

struct Bytes<'a>(&'a mut Vec<u8>);

impl Write for Bytes<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
