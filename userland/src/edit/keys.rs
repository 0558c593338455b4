//! From the bytes that a terminal sends to what is to be done.
//!
//! Sequences are those of ECMA-48 as xterm, VTE, the Linux console, rxvt and PuTTY send them for the keys they have in
//! common (xterm's ctlseqs, "VT220-Style Function Keys" and "PC-Style Function Keys").

use super::Unit;
use alloc_crate::vec::Vec;
use core::mem::take;

/// Longest parameters of a control sequence that are looked at, in bytes. A longer one is skipped to its end.
const PARAMETERS_MAX: usize = 16;
const ESCAPE: u8 = 0x1b;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Insert this.
    Insert(Unit),
    /// The line is complete.
    Enter,
    /// One character to the left.
    Left,
    /// One character to the right.
    Right,
    /// To the start of the word.
    WordLeft,
    /// To the end of the word.
    WordRight,
    /// To the start of the line.
    Home,
    /// To the end of the line.
    End,
    /// The line before in the history.
    Older,
    /// The line after in the history.
    Newer,
    /// Search the history, or search on.
    Search,
    /// Delete to the left.
    Backspace,
    /// Delete to the right.
    Delete,
    /// Delete to the right, or end the input if there is nothing.
    DeleteOrEnd,
    /// Cut to the end of the line.
    CutToEnd,
    /// Cut to the start of the line.
    CutToStart,
    /// Cut to the blank before the word.
    CutBlankLeft,
    /// Cut to the start of the word.
    CutWordLeft,
    /// Cut to the end of the word.
    CutWordRight,
    /// Insert what was cut last.
    Paste,
    /// Complete the word.
    Complete,
    /// What follows is pasted, up to [`Key::PasteEnd`].
    PasteBegin,
    /// What was pasted ends.
    PasteEnd,
    /// Clear the screen.
    ClearScreen,
    /// Drop the line.
    Interrupt,
    /// Leave a search without a result.
    Abort,
    /// The escape key, or the start of a sequence: leaves a search with its result.
    Escape,
    /// The answer of the terminal to the question where its cursor is (CPR), counted from 1.
    Position {
        /// The row.
        row: u16,
        /// The column.
        column: u16,
    },
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    /// The first bytes of a UTF-8 character.
    Character {
        bytes: [u8; 4],
        length: usize,
    },
    Escape,
    /// `ESC O`: one more byte.
    SingleShift,
    /// `ESC [`: parameters, then a final byte.
    Sequence {
        parameters: Vec<u8>,
        too_long: bool,
    },
    /// `ESC [ [` of the Linux console: one more byte.
    ConsoleFunction,
}

/// The decoder. It never needs a time limit: the escape key acts at once, and what follows it is a sequence.
#[derive(Debug, Default)]
pub struct Keys {
    state: State,
}

impl Keys {
    /// Takes a byte and hands each key that is complete to `press`.
    pub fn feed(&mut self, byte: u8, press: &mut impl FnMut(Key)) {
        match take(&mut self.state) {
            State::Ground => self.ground(byte, press),
            State::Character { bytes, length } => self.character(bytes, length, byte, press),
            State::Escape => self.escape(byte, press),
            State::SingleShift => single_shift(byte).into_iter().for_each(press),
            State::ConsoleFunction => {}
            State::Sequence { parameters, too_long } => self.sequence(parameters, too_long, byte, press),
        }
    }

    fn ground(&mut self, byte: u8, press: &mut impl FnMut(Key)) {
        match byte {
            ESCAPE => {
                self.state = State::Escape;
                press(Key::Escape);
            }
            b' '..=b'~' => press(Key::Insert(Unit::Char(char::from(byte)))),
            0x80.. => self.character([0; 4], 0, byte, press),
            _ => control(byte).into_iter().for_each(press),
        }
    }

    fn character(&mut self, mut bytes: [u8; 4], length: usize, byte: u8, press: &mut impl FnMut(Key)) {
        bytes[length] = byte;
        let so_far = &bytes[..=length];
        match core::str::from_utf8(so_far) {
            Ok(text) => text.chars().for_each(|character| press(Key::Insert(Unit::Char(character)))),
            Err(error) if error.error_len().is_none() => {
                self.state = State::Character { bytes, length: length + 1 };
            }
            Err(_) if length == 0 => press(Key::Insert(Unit::Byte(byte))),
            // The last byte does not go on with the character, so it begins something new.
            Err(_) => {
                so_far[..length].iter().for_each(|&byte| press(Key::Insert(Unit::Byte(byte))));
                self.ground(byte, press);
            }
        }
    }

    fn escape(&mut self, byte: u8, press: &mut impl FnMut(Key)) {
        match byte {
            b'[' => self.state = State::Sequence { parameters: Vec::new(), too_long: false },
            b'O' => self.state = State::SingleShift,
            ESCAPE => self.state = State::Escape,
            b'b' => press(Key::WordLeft),
            b'f' => press(Key::WordRight),
            b'd' => press(Key::CutWordRight),
            0x08 | 0x7f => press(Key::CutWordLeft),
            // Escape and then Enter, or Ctrl-C: what the key means by itself.
            0..0x20 => self.ground(byte, press),
            _ => {}
        }
    }

    fn sequence(&mut self, mut parameters: Vec<u8>, too_long: bool, byte: u8, press: &mut impl FnMut(Key)) {
        match byte {
            b'[' if parameters.is_empty() && !too_long => self.state = State::ConsoleFunction,
            0x20..0x40 => {
                let too_long = too_long || parameters.len() >= PARAMETERS_MAX;
                if !too_long {
                    parameters.push(byte);
                }
                self.state = State::Sequence { parameters, too_long };
            }
            0x40..0x7f if too_long => {}
            0x40..0x7f => function_key(&parameters, byte).into_iter().for_each(press),
            _ => self.ground(byte, press),
        }
    }
}

fn control(byte: u8) -> Option<Key> {
    Some(match byte | 0x40 {
        b'A' => Key::Home,
        b'B' => Key::Left,
        b'C' => Key::Interrupt,
        b'D' => Key::DeleteOrEnd,
        b'E' => Key::End,
        b'F' => Key::Right,
        b'G' => Key::Abort,
        b'H' | 0x7f => Key::Backspace,
        b'I' => Key::Complete,
        b'J' | b'M' => Key::Enter,
        b'K' => Key::CutToEnd,
        b'L' => Key::ClearScreen,
        b'N' => Key::Newer,
        b'P' => Key::Older,
        b'R' => Key::Search,
        b'U' => Key::CutToStart,
        b'W' => Key::CutBlankLeft,
        b'Y' => Key::Paste,
        _ => return None,
    })
}

/// Keys in application mode, and rxvt's Ctrl with arrows.
fn single_shift(byte: u8) -> Option<Key> {
    match byte {
        b'c' => Some(Key::WordRight),
        b'd' => Some(Key::WordLeft),
        b'M' => Some(Key::Enter),
        _ => function_key(&[], byte),
    }
}

fn function_key(parameters: &[u8], last: u8) -> Option<Key> {
    let text = core::str::from_utf8(parameters).ok()?;
    let mut numbers = text.split(';').map(|number| number.parse::<u16>().ok());
    let (first, second) = (numbers.next().flatten(), numbers.next().flatten());
    // xterm: 1 plus 1 for Shift, 2 for Alt, 4 for Ctrl.
    let by_word = second.is_some_and(|modifier| modifier.wrapping_sub(1) & 0b110 != 0);
    Some(match (last, first) {
        (b'A', _) => Key::Older,
        (b'B', _) => Key::Newer,
        (b'C', _) if by_word => Key::WordRight,
        (b'D', _) if by_word => Key::WordLeft,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', Some(1 | 7)) => Key::Home,
        (b'F', _) | (b'~', Some(4 | 8)) => Key::End,
        (b'~', Some(3)) if by_word => Key::CutWordRight,
        (b'~', Some(3)) => Key::Delete,
        (b'~', Some(200)) => Key::PasteBegin,
        (b'~', Some(201)) => Key::PasteEnd,
        (b'R', Some(row)) => Key::Position { row, column: second? },
        _ => return None,
    })
}

/// The answer of a terminal to the question where its cursor is, if `bytes` end with one: where it begins, row and
/// column.
#[must_use]
pub fn size_at_end(bytes: &[u8]) -> Option<(usize, u16, u16)> {
    let start = bytes.iter().rposition(|&byte| byte == ESCAPE)?;
    let (last, parameters) = bytes[start + 1..].strip_prefix(b"[")?.split_last()?;
    match function_key(parameters, *last)? {
        Key::Position { row, column } => Some((start, row, column)),
        _ => None,
    }
}
