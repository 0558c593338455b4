//! What a line consists of.

use alloc_crate::vec::Vec;
use unicode_width::UnicodeWidthChar;

/// Columns of `\xNN`.
const ESCAPE_WIDTH: usize = 4;
/// Most columns that a unit takes.
pub(super) const WIDTH_MAX: usize = ESCAPE_WIDTH;

/// A character, or a byte that is no part of one: names are bytes, so a line may hold any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A character.
    Char(char),
    /// A byte that is not UTF-8.
    Byte(u8),
}

impl Unit {
    /// The units of a text.
    pub fn all(bytes: &[u8]) -> impl Iterator<Item = Self> + '_ {
        bytes.utf8_chunks().flat_map(|chunk| {
            let characters = chunk.valid().chars().map(Self::Char);
            characters.chain(chunk.invalid().iter().copied().map(Self::Byte))
        })
    }

    /// Columns that it takes on the screen: 0 for a mark that joins what is before it, 2 for a wide character.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            Self::Char('\t') => 1,
            Self::Char(character) => character.width().unwrap_or(ESCAPE_WIDTH),
            Self::Byte(_) => ESCAPE_WIDTH,
        }
    }

    /// How many bytes of the line it is.
    #[must_use]
    pub const fn byte_len(self) -> usize {
        match self {
            Self::Char(character) => character.len_utf8(),
            Self::Byte(_) => 1,
        }
    }

    /// Whether it joins what is before it.
    pub(super) fn is_mark(self) -> bool {
        self.width() == 0
    }

    /// Whether it is part of a word for the moves by word.
    pub(super) fn is_word(self) -> bool {
        matches!(self, Self::Char(character) if character.is_alphanumeric() || character == '_')
    }

    /// Whether it separates words for Ctrl-W, as for the terminal's own line editing.
    pub(super) const fn is_blank(self) -> bool {
        matches!(self, Self::Char(' ' | '\t'))
    }

    /// Appends it as it was typed.
    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Char(character) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Self::Byte(byte) => out.push(byte),
        }
    }

    /// Appends it as it is shown: nothing in a line reaches the terminal as a command. A tab is one blank, as in the
    /// terminal's own line editing, so that its width does not depend on where it stands.
    pub(super) fn show(self, out: &mut Vec<u8>) {
        match self {
            Self::Char('\t') => out.push(b' '),
            // Without a width: a control character, below U+00A0.
            Self::Char(character) if character.is_control() => show_escape(character as u32, out),
            Self::Char(_) => self.write(out),
            Self::Byte(byte) => show_escape(u32::from(byte), out),
        }
    }
}

fn show_escape(value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\x");
    for shift in [4, 0] {
        let digit = (value >> shift) & 0xf;
        out.push(char::from_digit(digit, 16).map_or(b'?', |digit| digit as u8));
    }
}
