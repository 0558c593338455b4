//! Bytes in hexadecimal, sixteen to a line, as `hexdump(1)` of the BSDs shows them.

use alloc_crate::vec::Vec;
use core::fmt::{self, Write};

/// Bytes to a line.
const ROW: usize = 16;

/// What a line looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Words of two bytes, little-endian, and nothing else.
    Words,
    /// Single bytes, and beside them the characters of ASCII (`-C`).
    Canonical,
}

/// Makes lines of a stream of bytes. Lines that repeat the one before become one `*`.
#[derive(Clone, Debug)]
pub struct Dump {
    style: Style,
    /// Whether repeated lines are shown too.
    verbose: bool,
    offset: u64,
    row: Vec<u8>,
    before: Option<Vec<u8>>,
    repeating: bool,
}

impl Dump {
    /// A dump whose first byte is at `offset`.
    #[must_use]
    pub const fn new(style: Style, verbose: bool, offset: u64) -> Self {
        Self { style, verbose, offset, row: Vec::new(), before: None, repeating: false }
    }

    /// Takes bytes and writes the lines that they fill.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn push(&mut self, mut bytes: &[u8], to: &mut dyn Write) -> fmt::Result {
        while !bytes.is_empty() {
            let count = bytes.len().min(ROW - self.row.len());
            self.row.extend_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            if self.row.len() == ROW {
                self.end_row(to)?;
            }
        }
        Ok(())
    }

    /// Writes the last line, and where the stream ends.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn finish(mut self, to: &mut dyn Write) -> fmt::Result {
        if !self.row.is_empty() {
            self.end_row(to)?;
        }
        if self.before.is_some() {
            self.write_offset(to)?;
            to.write_char('\n')?;
        }
        Ok(())
    }

    fn end_row(&mut self, to: &mut dyn Write) -> fmt::Result {
        let row = core::mem::take(&mut self.row);
        let repeats = !self.verbose && self.before.as_ref() == Some(&row);
        if !repeats {
            self.write_offset(to)?;
            match self.style {
                Style::Words => write_words(&row, to)?,
                Style::Canonical => write_bytes(&row, to)?,
            }
        } else if !self.repeating {
            to.write_str("*\n")?;
        }
        self.repeating = repeats;
        self.offset += row.len() as u64;
        self.before = Some(row);
        Ok(())
    }

    fn write_offset(&self, to: &mut dyn Write) -> fmt::Result {
        match self.style {
            Style::Words => write!(to, "{:07x}", self.offset),
            Style::Canonical => write!(to, "{:08x}", self.offset),
        }
    }
}

fn write_words(row: &[u8], to: &mut dyn Write) -> fmt::Result {
    for pair in row.chunks(2) {
        let word = u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
        write!(to, " {word:04x}")?;
    }
    // Where bytes are missing, so are their columns.
    writeln!(to, "{:width$}", "", width = 5 * (ROW / 2 - row.len().div_ceil(2)))
}

fn write_bytes(row: &[u8], to: &mut dyn Write) -> fmt::Result {
    for i in 0..ROW {
        if i % 8 == 0 {
            to.write_char(' ')?;
        }
        match row.get(i) {
            Some(byte) => write!(to, " {byte:02x}")?,
            None => to.write_str("   ")?,
        }
    }
    to.write_str("  |")?;
    for &byte in row {
        to.write_char(if byte == b' ' || byte.is_ascii_graphic() { char::from(byte) } else { '.' })?;
    }
    to.write_str("|\n")
}

#[cfg(test)]
mod tests {
    use super::{Dump, Style};
    use proptest::prelude::*;

    fn dump(bytes: &[u8], style: Style, verbose: bool, piece: usize) -> String {
        let (mut dump, mut text) = (Dump::new(style, verbose, 0), String::new());
        for piece in bytes.chunks(piece.max(1)) {
            dump.push(piece, &mut text).unwrap();
        }
        dump.finish(&mut text).unwrap();
        text
    }

    #[test]
    fn the_canonical_form() {
        let bytes = b"hello world\n\0\x7f\xffABC";
        assert_eq!(
            dump(bytes, Style::Canonical, false, 5),
            "00000000  68 65 6c 6c 6f 20 77 6f  72 6c 64 0a 00 7f ff 41  |hello world....A|\n\
             00000010  42 43                                             |BC|\n00000012\n"
        );
    }

    #[test]
    fn words_are_little_endian() {
        assert_eq!(
            dump(b"hello", Style::Words, false, 5),
            "0000000 6568 6c6c 006f                         \n0000005\n"
        );
        assert_eq!(dump(b"", Style::Words, false, 5), "");
    }

    #[test]
    fn what_repeats_is_one_star() {
        let text = dump(&[0; 100], Style::Canonical, false, 7);
        let lines: Vec<_> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(lines, ["00000000", "*", "00000060", "00000064"]);
        assert_eq!(dump(&[0; 100], Style::Canonical, true, 7).lines().count(), 8);
    }

    proptest! {
        #[test]
        fn the_bytes_can_be_read_back(bytes: Vec<u8>, piece in 1_usize..40) {
            let text = dump(&bytes, Style::Canonical, true, piece);
            let mut back = Vec::new();
            for line in text.lines().filter(|line| line.len() > 8) {
                back.extend(line[8..58].split_whitespace().map(|digits| u8::from_str_radix(digits, 16).unwrap()));
            }
            prop_assert_eq!(back, bytes);
        }
    }
}
