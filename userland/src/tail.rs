//! The end of a stream whose length is not known before.

use crate::number::parse_size;
use alloc_crate::vec::Vec;

/// Bytes kept before it is worth throwing away what is not needed any more.
const SLACK: usize = 64 * 1024;
/// Most bytes that are kept.
const KEPT_MAX: usize = 64 << 20;

/// Which part of a stream `tail` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// The last `count` lines or bytes.
    Last {
        /// How many.
        count: u64,
        /// Lines, else bytes.
        lines: bool,
    },
    /// Everything but the first `skip` lines or bytes.
    After {
        /// How many.
        skip: u64,
        /// Lines, else bytes.
        lines: bool,
    },
}

impl Amount {
    /// What `tail` prints if nothing is said.
    pub const DEFAULT: Self = Self::Last { count: 10, lines: true };

    /// Reads `N` or `-N` (the last N) or `+N` (from the Nth on).
    #[must_use]
    pub fn parse(text: &[u8], lines: bool) -> Option<Self> {
        if let Some(text) = text.strip_prefix(b"+") {
            return Some(Self::After { skip: parse_size(text)?.saturating_sub(1), lines });
        }
        let count = parse_size(text.strip_prefix(b"-").unwrap_or(text))?;
        Some(Self::Last { count, lines })
    }
}

/// Takes a stream in pieces and gives the part that is wanted.
#[derive(Clone, Debug)]
pub struct End {
    amount: Amount,
    kept: Vec<u8>,
    /// When `kept` is this long, it is cut to what is needed.
    cut_at: usize,
}

impl End {
    /// Before the first piece.
    #[must_use]
    pub const fn new(amount: Amount) -> Self {
        Self { amount, kept: Vec::new(), cut_at: SLACK }
    }

    /// Takes a piece and hands to `emit` what is known to be wanted.
    pub fn push(&mut self, mut piece: &[u8], emit: impl FnOnce(&[u8])) {
        match &mut self.amount {
            Amount::After { skip, lines } => {
                while *skip > 0 && !piece.is_empty() {
                    let newline = piece.iter().position(|&byte| byte == b'\n');
                    let most = usize::try_from(*skip).unwrap_or(usize::MAX).min(piece.len());
                    let length = if *lines { newline.map_or(piece.len(), |at| at + 1) } else { most };
                    *skip -= if *lines { u64::from(newline.is_some()) } else { length as u64 };
                    piece = &piece[length..];
                }
                if !piece.is_empty() {
                    emit(piece);
                }
            }
            Amount::Last { .. } => {
                self.kept.extend_from_slice(piece);
                if self.kept.len() >= self.cut_at {
                    let unneeded = self.kept.len() - self.rest().len();
                    self.kept.drain(..unneeded);
                    self.cut_at = (2 * self.kept.len()).max(SLACK);
                }
            }
        }
    }

    /// Whether more is wanted than can be kept.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.kept.len() > KEPT_MAX
    }

    /// What is wanted and was not handed out yet, once the stream has ended.
    #[must_use]
    pub fn rest(&self) -> &[u8] {
        let Amount::Last { count, lines } = self.amount else { return &[] };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let start = match lines {
            false => self.kept.len().saturating_sub(count),
            true if count == 0 => self.kept.len(),
            true => {
                // The newline at the very end ends a line and begins none.
                let inner = &self.kept[..self.kept.len().saturating_sub(1)];
                let mut newlines = inner.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
                newlines.nth(count - 1).map_or(0, |(at, _)| at + 1)
            }
        };
        &self.kept[start..]
    }
}

#[cfg(test)]
mod tests {
    use super::{Amount, End};
    use proptest::prelude::*;

    fn end_of(text: &[u8], amount: Amount, piece: usize) -> Vec<u8> {
        let (mut end, mut out) = (End::new(amount), Vec::new());
        for piece in text.chunks(piece.max(1)) {
            end.push(piece, |bytes| out.extend_from_slice(bytes));
        }
        out.extend_from_slice(end.rest());
        out
    }

    #[test]
    fn amounts_are_read() {
        let last = |count, lines| Some(Amount::Last { count, lines });
        assert_eq!(Amount::parse(b"5", true), last(5, true));
        assert_eq!(Amount::parse(b"-5", true), last(5, true));
        assert_eq!(Amount::parse(b"1K", false), last(1024, false));
        assert_eq!(Amount::parse(b"+3", true), Some(Amount::After { skip: 2, lines: true }));
        assert_eq!(Amount::parse(b"+0", false), Some(Amount::After { skip: 0, lines: false }));
        assert_eq!(Amount::parse(b"--5", true), None);
        assert_eq!(Amount::parse(b"", true), None);
    }

    #[test]
    fn the_last_line_may_lack_its_newline() {
        let last = |count| Amount::Last { count, lines: true };
        assert_eq!(end_of(b"a\nb\nc", last(1), 9), b"c");
        assert_eq!(end_of(b"a\nb\nc\n", last(2), 2), b"b\nc\n");
        assert_eq!(end_of(b"a\n\n", last(1), 2), b"\n");
        assert_eq!(end_of(b"a\nb", last(0), 2), b"");
        assert_eq!(end_of(b"", last(3), 2), b"");
    }

    #[test]
    fn a_long_stream_is_not_kept_whole() {
        let mut end = End::new(Amount::Last { count: 2, lines: true });
        for i in 0..100_000 {
            end.push(format!("line {i}\n").as_bytes(), |_| unreachable!());
            assert!(end.kept.len() < 200_000);
        }
        assert_eq!(end.rest(), b"line 99998\nline 99999\n");
    }

    proptest! {
        #[test]
        fn it_is_what_the_whole_would_give(text in "[ab\n]{0,40}", count in 0_usize..12, piece in 1_usize..9, lines: bool, last: bool) {
            let units: Vec<&[u8]> = if lines {
                text.as_bytes().split_inclusive(|&byte| byte == b'\n').collect()
            } else {
                text.as_bytes().chunks(1).collect()
            };
            let amount = if last { Amount::Last { count: count as u64, lines } } else { Amount::After { skip: count as u64, lines } };
            let from = if last { units.len().saturating_sub(count) } else { count.min(units.len()) };
            prop_assert_eq!(end_of(text.as_bytes(), amount, piece), units[from..].concat());
        }
    }
}
