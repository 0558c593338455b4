//! The end of a program's output, and how much there was.

use alloc_crate::vec::Vec;

/// Most bytes of an output that are kept.
pub const TAIL_MAX: usize = 1024;

/// The end of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    kept: Vec<u8>,
    /// All bytes, kept or not.
    pub bytes: u64,
    /// All ends of lines.
    pub lines: u64,
}

impl Tail {
    /// More of the output.
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.lines += piece.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.kept.extend_from_slice(&piece[piece.len().saturating_sub(TAIL_MAX)..]);
        let surplus = self.kept.len().saturating_sub(TAIL_MAX);
        self.kept.drain(..surplus);
    }

    /// The last `room` bytes at most, from the start of a line if there is one; and whether something is left out.
    #[must_use]
    pub fn end(&self, room: usize) -> (&[u8], bool) {
        let cut = &self.kept[self.kept.len().saturating_sub(room)..];
        if cut.len() as u64 == self.bytes {
            return (cut, false);
        }
        let line = cut.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        (if line < cut.len() { &cut[line..] } else { cut }, true)
    }
}

#[cfg(test)]
mod tests {
    use super::{TAIL_MAX, Tail};
    use proptest::prelude::*;

    #[test]
    fn the_end_begins_with_a_whole_line() {
        let mut tail = Tail::default();
        tail.push(b"one\ntwo\nthree\n");
        assert_eq!(tail.end(100), (&b"one\ntwo\nthree\n"[..], false));
        assert_eq!(tail.end(8), (&b"three\n"[..], true));
        assert_eq!(tail.end(3), (&b"ee\n"[..], true));
        assert_eq!((tail.lines, tail.bytes), (3, 14));
    }

    proptest! {
        #[test]
        fn it_is_the_end_of_all(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..900), 0..6), room in 0..2000_usize) {
            let mut tail = Tail::default();
            pieces.iter().for_each(|piece| tail.push(piece));
            let all = pieces.concat();
            let (end, cut) = tail.end(room);
            prop_assert!(all.ends_with(end) && end.len() <= room.min(TAIL_MAX));
            prop_assert_eq!(cut, end.len() < all.len());
            prop_assert_eq!(tail.bytes, all.len() as u64);
        }
    }
}
