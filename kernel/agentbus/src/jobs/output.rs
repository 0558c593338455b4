//! What a job has written to one of its outputs: the last bytes of it, and how many there were.

use alloc::collections::VecDeque;

use askr_wire::message::OutputReply;
use askr_wire::status::Status;
use askr_wire::{Message, NoRoom};

/// Bytes that an output has memory for from the start.
pub(super) const FIRST_BLOCK: usize = 4096;

/// One output of a job. Positions are counted from its first byte; the oldest bytes go when there is no room.
#[derive(Debug)]
pub(super) struct Output {
    kept: VecDeque<u8>,
    /// Most bytes that are kept.
    limit: usize,
    /// Bytes written so far.
    total: u64,
    /// Whether somebody holds it open.
    open: bool,
}

impl Output {
    /// An empty output that keeps up to `limit` bytes, with memory for the first of them.
    pub(super) fn new(limit: usize) -> Result<Self, Status> {
        let mut kept = VecDeque::new();
        kept.try_reserve_exact(limit.min(FIRST_BLOCK)).map_err(|_| Status::NoMem)?;
        Ok(Self { kept, limit, total: 0, open: true })
    }

    /// Bytes of memory that it has.
    pub(super) fn memory(&self) -> usize {
        self.kept.capacity()
    }

    /// Bytes of memory that it would take more if it kept `more` bytes beside those it has.
    pub(super) fn growth(&self, more: usize) -> usize {
        let wanted = self.kept.len().saturating_add(more).min(self.limit);
        if wanted <= self.kept.capacity() {
            return 0;
        }
        // Doubling, so that what is copied stays in proportion to what was written.
        let target = wanted.max(2 * self.kept.capacity()).min(self.limit);
        target - self.kept.capacity()
    }

    /// Takes so much more memory; if there is none, it keeps less.
    pub(super) fn grow(&mut self, growth: usize) {
        if growth == 0 {
            return;
        }
        let target = self.kept.capacity() + growth;
        let _ = self.kept.try_reserve_exact(target - self.kept.len());
    }

    /// Appends bytes. It never waits and takes no memory: the oldest bytes go instead.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.kept.capacity().min(self.limit);
        let bytes = &bytes[bytes.len().saturating_sub(room)..];
        let excess = (self.kept.len() + bytes.len()).saturating_sub(room);
        self.kept.drain(..excess);
        self.kept.extend(bytes);
    }

    /// Nobody holds it open any more.
    pub(super) const fn close(&mut self) {
        self.open = false;
    }

    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Whether somebody who has read up to `cursor` need not wait.
    pub(super) const fn has_news(&self, cursor: u64) -> bool {
        self.total > cursor || !self.open
    }

    /// Encodes what is there from `cursor` on, at most `max` bytes and what fits.
    pub(super) fn encode(&self, cursor: u64, max: u32, out: &mut [u8]) -> Result<usize, Status> {
        if cursor > self.total {
            return Err(Status::Inval);
        }
        let first = self.total - self.kept.len() as u64;
        let lost = first.saturating_sub(cursor);
        let reply = OutputReply { lost, total: self.total, ended: !self.open, data: &[] };
        let head = reply.encode(out).map_err(|NoRoom| Status::MsgSize)?;
        let (older, newer) = self.kept.as_slices();
        let skip = usize::try_from(cursor + lost - first).unwrap_or(usize::MAX);
        let rest = |part: &[u8], skip: usize| skip.min(part.len())..part.len();
        let parts = [&older[rest(older, skip)], &newer[rest(newer, skip.saturating_sub(older.len()))]];
        let mut length = head;
        let most = out.len().min(head.saturating_add(max as usize));
        for part in parts {
            let count = part.len().min(most - length);
            out[length..length + count].copy_from_slice(&part[..count]);
            length += count;
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use askr_wire::Message;
    use askr_wire::message::OutputReply;
    use askr_wire::status::Status;
    use proptest::prelude::*;

    use super::{FIRST_BLOCK, Output};

    fn write(output: &mut Output, bytes: &[u8]) {
        output.grow(output.growth(bytes.len()));
        output.append(bytes);
    }

    #[test]
    fn the_oldest_bytes_go_and_are_counted() {
        let mut output = Output::new(4).unwrap();
        write(&mut output, b"abc");
        write(&mut output, b"defg");
        let mut out = [0; 64];
        let length = output.encode(1, u32::MAX, &mut out).unwrap();
        let reply = OutputReply::decode(&out[..length]).unwrap();
        assert_eq!(reply, OutputReply { lost: 2, total: 7, ended: false, data: b"defg" });
        assert_eq!(output.encode(8, 1, &mut out), Err(Status::Inval), "nothing has been written there");
        assert_eq!(output.encode(0, 1, &mut out[..3]), Err(Status::MsgSize));
    }

    #[test]
    fn without_more_memory_it_keeps_what_it_has_room_for() {
        let mut output = Output::new(64 << 10).unwrap();
        let written: Vec<u8> = (0..10_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        for piece in written.chunks(777) {
            output.append(piece);
        }
        assert_eq!(output.memory(), FIRST_BLOCK);
        let mut out = vec![0; 8192];
        let length = output.encode(0, u32::MAX, &mut out).unwrap();
        let reply = OutputReply::decode(&out[..length]).unwrap();
        assert_eq!((reply.lost, reply.total), (10_000 - FIRST_BLOCK as u64, 10_000));
        assert_eq!(reply.data, &written[10_000 - FIRST_BLOCK..]);
    }

    proptest! {
        /// Whatever is written in whatever pieces: from every place on, what is told lost and what is given are
        /// exactly what was written, and never more is kept than the limit.
        #[test]
        fn every_byte_is_given_or_counted_as_lost(
            limit in 1_usize..12_000,
            pieces in prop::collection::vec(0_usize..9_000, 0..8),
            reads in prop::collection::vec((0_usize..=1000, 0_u32..5_000, 17_usize..6_000), 1..8),
        ) {
            let mut output = Output::new(limit).unwrap();
            let mut written = Vec::new();
            for (index, length) in pieces.into_iter().enumerate() {
                let piece: Vec<u8> = (0..length).map(|n| (n * 7 + index).to_le_bytes()[0]).collect();
                write(&mut output, &piece);
                written.extend(piece);
                prop_assert!(output.memory() <= limit);
            }
            for (place, max, room) in reads {
                let cursor = written.len() * place / 1000;
                let mut out = vec![0; room];
                let length = output.encode(cursor as u64, max, &mut out).unwrap();
                let reply = OutputReply::decode(&out[..length]).unwrap();
                let lost = written.len().saturating_sub(limit).saturating_sub(cursor);
                prop_assert_eq!((reply.lost, reply.total), (lost as u64, written.len() as u64));
                let rest = &written[cursor + lost..];
                let most = (max as usize).min(room - OutputReply::HEAD_LEN).min(rest.len());
                prop_assert_eq!(reply.data, &rest[..most]);
            }
        }
    }
}
