//! What a terminal shows for a byte typed.

use unicode_width::UnicodeWidthChar;

/// Longest text of one echo, erasing apart.
const TEXT_MAX: usize = 4;
/// Goes one column back, blanks it, goes back again.
const RUB_OUT: [u8; 3] = [BACKSPACE, b' ', BACKSPACE];
const BACKSPACE: u8 = 0x08;
const BELL: u8 = 0x07;
const DELETE: u8 = 0x7f;

/// The bytes to send to the terminal, as an iterator. At most three for each column of a line.
#[derive(Clone, Debug)]
pub struct Echo {
    /// Bytes of [`RUB_OUT`] still to send.
    rub_out: usize,
    text: [u8; TEXT_MAX],
    at: u8,
    len: u8,
}

impl Echo {
    pub(super) const fn nothing() -> Self {
        Self { rub_out: 0, text: [0; TEXT_MAX], at: 0, len: 0 }
    }

    pub(super) const fn newline() -> Self {
        Self::nothing().and(b'\r').and(b'\n')
    }

    pub(super) const fn bell() -> Self {
        Self::nothing().and_bell()
    }

    /// A key that is a signal, on a line that ends with it.
    pub(super) const fn signal(key: u8) -> Self {
        Self::nothing().and(b'^').and(key + b'@').and(b'\r').and(b'\n')
    }

    pub(super) const fn and_bell(self) -> Self {
        self.and(BELL)
    }

    pub(super) const fn erase(columns: usize) -> Self {
        Self { rub_out: columns * RUB_OUT.len(), ..Self::nothing() }
    }

    /// A tab shows as one blank, so that it can be erased without knowing the column it stands in. Other
    /// control characters show as `^` and a letter: none reaches the terminal as a command.
    pub(super) const fn typed(byte: u8) -> Self {
        match byte {
            b'\t' => Self::nothing().and(b' '),
            DELETE => Self::nothing().and(b'^').and(b'?'),
            0..0x20 => Self::nothing().and(b'^').and(byte + b'@'),
            _ => Self::nothing().and(byte),
        }
    }

    const fn and(mut self, byte: u8) -> Self {
        self.text[self.len as usize] = byte;
        self.len += 1;
        self
    }
}

impl Iterator for Echo {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.rub_out > 0 {
            let byte = RUB_OUT[RUB_OUT.len() - 1 - (self.rub_out - 1) % RUB_OUT.len()];
            self.rub_out -= 1;
            return Some(byte);
        }
        let byte = *self.text.get(usize::from(self.at)).filter(|_| self.at < self.len)?;
        self.at += 1;
        Some(byte)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rub_out + usize::from(self.len - self.at);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Echo {}

/// Columns that these bytes took when they were echoed. A byte that is no UTF-8 counts as one.
pub(super) fn columns(bytes: &[u8]) -> usize {
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().chars().map(width).sum::<usize>() + chunk.invalid().len())
        .sum()
}

fn width(character: char) -> usize {
    match character {
        '\t' => 1,
        '\0'..'\x20' => 2,
        _ => character.width().unwrap_or(0),
    }
}
