//! A line editor: bytes from a terminal go in, bytes for the terminal and finished lines come out. Pure: it reads and
//! writes nothing itself.
//!
//! The terminal has to be in raw mode for its input and has to send a newline as CR LF. A line of ordinary
//! characters is echoed as it is typed, byte for byte, as long as it fits into a row.

#![forbid(unsafe_code)]

mod display;
mod history;
mod keys;
mod line;
#[cfg(test)]
mod screen;
#[cfg(test)]
mod screen_tests;
mod search;
#[cfg(test)]
mod session;
#[cfg(test)]
mod tests;
mod unit;

pub use display::Size;
pub use history::{BYTES_MAX as HISTORY_BYTES_MAX, LINES_MAX as HISTORY_LINES_MAX};
pub use keys::{Key, Keys, size_at_end};
pub use unit::Unit;

use crate::shell::LINE_MAX;
use alloc_crate::vec::Vec;
use core::mem::{replace, take};
use display::{Display, Frame};
use history::History;
use line::Line;
use search::Search;

/// Asks the terminal for its size: where does the cursor end up that is sent far down and right (DECSC, CUP, DSR 6,
/// DECRC)? The answer comes as input, among what is typed.
const ASK_SIZE: &[u8] = b"\x1b7\x1b[999;999H\x1b[6n\x1b8";
/// Asks the terminal to mark what is pasted, and not to any more (xterm's ctlseqs, "Bracketed Paste Mode").
const MARK_PASTES: &[u8] = b"\x1b[?2004h";
const MARK_NO_PASTES: &[u8] = b"\x1b[?2004l";
const BELL: u8 = 0x07;

/// What came of a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A line is complete; it has no newline.
    Line(Vec<u8>),
    /// A line is complete that had more than [`LINE_MAX`] bytes; what was too much rang the bell and is not in it.
    TooLong,
    /// Ctrl-C: the line is dropped.
    Interrupted,
    /// Ctrl-D in an empty line.
    EndOfInput,
    /// Tab: somebody who knows the names has to call [`Editor::insert_text`] or [`Editor::list`].
    Complete {
        /// The line up to the cursor.
        before: Vec<u8>,
        /// The key before was a Tab too.
        again: bool,
    },
    /// The terminal says that its screen has this size.
    Size {
        /// Rows of characters.
        rows: u16,
        /// Columns of characters.
        columns: u16,
    },
}

/// The editor of one terminal, with its history.
#[derive(Debug)]
pub struct Editor {
    keys: Keys,
    prompt: Vec<Unit>,
    line: Line,
    display: Display,
    history: History,
    /// The line of the history that is shown; one past the newest for a line of its own.
    recalled: usize,
    /// That line of its own, while an older one is shown.
    own: Vec<Unit>,
    search: Option<Search>,
    cut: Vec<Unit>,
    /// Something of the line found no room.
    overflowed: bool,
    asked_size: bool,
    /// The terminal was asked to mark what is pasted.
    marks_pastes: bool,
    /// What comes is pasted: text, whatever it is.
    pasting: bool,
    /// The last key was a Tab.
    completing: bool,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new()
    }
}

impl Editor {
    /// An editor with an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self {
            keys: Keys::default(),
            prompt: Vec::new(),
            line: Line::default(),
            display: Display::new(Size::new(0, 0)),
            history: History::default(),
            recalled: 0,
            own: Vec::new(),
            search: None,
            cut: Vec::new(),
            overflowed: false,
            asked_size: false,
            marks_pastes: false,
            pasting: false,
            completing: false,
        }
    }

    /// Begins a line: shows the prompt, where the cursor is. With `ask`, first asks the terminal for its size, and to
    /// mark what is pasted.
    pub fn start(&mut self, prompt: &str, size: Size, ask: bool, out: &mut Vec<u8>) {
        if ask {
            out.extend_from_slice(MARK_PASTES);
            self.ask_size(out);
        }
        self.marks_pastes = ask;
        self.pasting = false;
        self.completing = false;
        self.prompt = prompt.chars().map(Unit::Char).collect();
        self.line = Line::default();
        self.display = Display::new(size);
        self.recalled = self.history.len();
        self.own.clear();
        self.search = None;
        self.overflowed = false;
        self.refresh(0, out);
    }

    /// The lines that were entered, the oldest first.
    pub fn history(&self) -> impl Iterator<Item = &[u8]> {
        self.history.iter()
    }

    /// Whether the terminal was asked for its size and has not answered.
    #[must_use]
    pub const fn waits_for_size(&self) -> bool {
        self.asked_size
    }

    /// No answer is expected any more.
    pub fn give_up_size(&mut self) {
        self.asked_size = false;
    }

    /// Takes one byte that the terminal sent; what the terminal has to show is appended to `out`.
    pub fn feed(&mut self, byte: u8, out: &mut Vec<u8>) -> Option<Step> {
        let mut keys = take(&mut self.keys);
        let mut step = None;
        keys.feed(byte, &mut |key| {
            let next = self.press(key, out);
            step = step.take().or(next);
        });
        self.keys = keys;
        step
    }

    /// The screen has another size than was thought.
    pub fn resize(&mut self, size: Size, out: &mut Vec<u8>) {
        let search = self.search.as_ref().map(Search::prompt);
        let prompt = search.as_deref().unwrap_or(&self.prompt);
        let frame = Frame { prompt, line: self.line.units(), cursor: self.line.cursor() };
        self.display.resize(size, frame);
        self.display.show(frame, usize::MAX, out);
    }

    /// Inserts text at the cursor: the rest of a word.
    pub fn insert_text(&mut self, text: &[u8], out: &mut Vec<u8>) {
        for unit in Unit::all(text) {
            self.insert(unit, out);
        }
        self.refresh(usize::MAX, out);
    }

    /// Shows lines of text below the line, and the line again below them. Without text it rings the bell.
    pub fn list(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            out.push(BELL);
            return;
        }
        let cursor = self.line.cursor();
        self.line.go(self.line.units().len());
        self.refresh(usize::MAX, out);
        self.display.finish(out);
        out.extend_from_slice(text.as_bytes());
        self.display.restart();
        self.line.go(cursor);
        self.refresh(0, out);
    }

    fn ask_size(&mut self, out: &mut Vec<u8>) {
        self.asked_size = true;
        out.extend_from_slice(ASK_SIZE);
    }

    fn press(&mut self, key: Key, out: &mut Vec<u8>) -> Option<Step> {
        if let Key::Position { row, column } = key {
            return take(&mut self.asked_size).then_some(Step::Size { rows: row, columns: column });
        }
        if self.pasting && self.press_in_paste(key, out) {
            return None;
        }
        if self.search.is_some() && self.press_in_search(key, out) {
            return None;
        }
        let again = replace(&mut self.completing, key == Key::Complete);
        match key {
            Key::PasteBegin => self.pasting = true,
            Key::Complete => {
                let before = self.line.bytes_before_cursor();
                return Some(Step::Complete { before, again });
            }
            Key::Enter => return Some(self.enter(out)),
            Key::Interrupt => return Some(self.interrupt(out)),
            Key::DeleteOrEnd if self.line.is_empty() => {
                self.end_pastes(out);
                return Some(Step::EndOfInput);
            }
            Key::ClearScreen => {
                self.display.clear(out);
                self.ask_size(out);
                self.refresh(0, out);
            }
            _ => {
                self.edit(key, out);
                self.refresh(usize::MAX, out);
            }
        }
        None
    }

    /// What is pasted is text: a line end is part of it, and no key does anything, but for Ctrl-C.
    fn press_in_paste(&mut self, key: Key, out: &mut Vec<u8>) -> bool {
        match key {
            Key::Insert(_) if self.search.is_some() => return false,
            Key::Insert(unit) => self.insert(unit, out),
            Key::Enter => self.insert(Unit::Char('\n'), out),
            Key::Complete => self.insert(Unit::Char('\t'), out),
            Key::Interrupt | Key::PasteEnd => {
                self.pasting = false;
                return key == Key::PasteEnd;
            }
            _ => {}
        }
        self.refresh(usize::MAX, out);
        true
    }

    /// Before the end of the line, so that the line's end is the last that is written: what the kernel has to say then needs
    /// none of its own.
    fn end_pastes(&mut self, out: &mut Vec<u8>) {
        if replace(&mut self.marks_pastes, false) {
            out.extend_from_slice(MARK_NO_PASTES);
        }
    }

    /// Keys that change the line or move in it.
    fn edit(&mut self, key: Key, out: &mut Vec<u8>) {
        match key {
            Key::Insert(unit) => self.insert(unit, out),
            Key::Left => self.line.go(self.line.left()),
            Key::Right => self.line.go(self.line.right()),
            Key::WordLeft => self.line.go(self.line.word_left(Unit::is_word)),
            Key::WordRight => self.line.go(self.line.word_right(Unit::is_word)),
            Key::Home => self.line.go(0),
            Key::End => self.line.go(self.line.units().len()),
            Key::Older => self.recall(self.recalled.checked_sub(1), out),
            Key::Newer => self.recall(Some(self.recalled + 1), out),
            Key::Search => {
                let (line, cursor) = (self.line.units().to_vec(), self.line.cursor());
                self.search = Some(Search::new(&self.history, line, cursor));
                self.refresh(0, out);
            }
            Key::Backspace => drop(self.line.cut(self.line.left())),
            Key::Delete | Key::DeleteOrEnd => drop(self.line.cut(self.line.right())),
            Key::CutToEnd => self.cut(self.line.units().len()),
            Key::CutToStart => self.cut(0),
            Key::CutBlankLeft => self.cut(self.line.word_left(|unit| !unit.is_blank())),
            Key::CutWordLeft => self.cut(self.line.word_left(Unit::is_word)),
            Key::CutWordRight => self.cut(self.line.word_right(Unit::is_word)),
            Key::Paste => {
                for unit in self.cut.clone() {
                    self.insert(unit, out);
                }
            }
            _ => {}
        }
        self.overflowed &= !self.line.is_empty();
    }

    fn insert(&mut self, unit: Unit, out: &mut Vec<u8>) {
        if self.line.len() + unit.byte_len() > LINE_MAX {
            self.overflowed = true;
            out.push(BELL);
        } else {
            self.line.insert(unit);
        }
    }

    fn cut(&mut self, to: usize) {
        let cut = self.line.cut(to);
        if !cut.is_empty() {
            self.cut = cut;
        }
    }

    /// Shows a line of the history, or the own line after the newest.
    fn recall(&mut self, index: Option<usize>, out: &mut Vec<u8>) {
        let Some(index) = index.filter(|&index| index <= self.history.len()) else {
            out.push(BELL);
            return;
        };
        if self.recalled == self.history.len() {
            self.own = self.line.units().to_vec();
        }
        self.recalled = index;
        let units = match self.history.get(index) {
            Some(line) => Unit::all(line).collect(),
            None => take(&mut self.own),
        };
        self.line.set(units);
    }

    /// Returns whether the key belongs to the search. Others end it and then do what they always do.
    fn press_in_search(&mut self, key: Key, out: &mut Vec<u8>) -> bool {
        let Some(search) = self.search.as_mut() else { return false };
        let found = match key {
            Key::Insert(unit) => search.extend(unit, &self.history),
            Key::Backspace => search.shorten(&self.history),
            Key::Search => search.older(&self.history),
            Key::Abort => {
                if let Some((line, cursor)) = self.search.take().map(Search::into_before) {
                    self.line.set(line);
                    self.line.go(cursor);
                }
                self.refresh(0, out);
                return true;
            }
            _ => {
                self.search = None;
                self.refresh(0, out);
                return false;
            }
        };
        match found {
            Some((line, at)) => {
                self.line.set(line);
                self.line.go(at);
            }
            None if key == Key::Search => out.push(BELL),
            None => {}
        }
        self.refresh(0, out);
        true
    }

    fn enter(&mut self, out: &mut Vec<u8>) -> Step {
        self.end_pastes(out);
        self.display.finish(out);
        if self.overflowed {
            return Step::TooLong;
        }
        let line = self.line.to_bytes();
        self.history.add(&line);
        Step::Line(line)
    }

    fn interrupt(&mut self, out: &mut Vec<u8>) -> Step {
        self.line.go(self.line.units().len());
        self.refresh(usize::MAX, out);
        out.extend_from_slice(b"^C");
        self.end_pastes(out);
        self.display.finish(out);
        Step::Interrupted
    }

    /// Brings the screen up to date: what has changed of the line, and all from unit `from` on.
    fn refresh(&mut self, from: usize, out: &mut Vec<u8>) {
        let changed = self.line.take_changed();
        let search = self.search.as_ref().map(Search::prompt);
        let prompt = search.as_deref().unwrap_or(&self.prompt);
        let frame = Frame { prompt, line: self.line.units(), cursor: self.line.cursor() };
        self.display.show(frame, from.min(prompt.len() + changed), out);
    }
}
