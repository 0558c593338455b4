//! Entries of a directory as `getdents64(2)` returns them: `struct linux_dirent64`.

use crate::DirEntry;

/// `d_ino`, `d_off`, `d_reclen`, `d_type`; the name follows.
const HEAD: usize = 8 + 8 + 2 + 1;
/// Records start at multiples of this.
const ALIGN: usize = 8;

/// Writes records one after the other into a buffer.
pub(crate) struct DirentWriter<'b> {
    into: &'b mut [u8],
    len: usize,
    full: bool,
}

impl<'b> DirentWriter<'b> {
    pub(crate) const fn new(into: &'b mut [u8]) -> Self {
        Self { into, len: 0, full: false }
    }

    /// Bytes written.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Whether an entry found no room.
    pub(crate) const fn is_full(&self) -> bool {
        self.full
    }

    /// Writes one record whose `d_off` is `next`; false if it finds no room.
    pub(crate) fn push(&mut self, entry: &DirEntry<'_>, next: u64) -> bool {
        // The name ends in a NUL, and zeros fill up to the next record.
        let size = (HEAD + entry.name.len() + 1).next_multiple_of(ALIGN);
        let (Some(record), Ok(reclen)) = (self.into[self.len..].get_mut(..size), u16::try_from(size)) else {
            self.full = true;
            return false;
        };
        record.fill(0);
        record[0..8].copy_from_slice(&entry.ino.to_le_bytes());
        record[8..16].copy_from_slice(&next.to_le_bytes());
        record[16..18].copy_from_slice(&reclen.to_le_bytes());
        record[18] = entry.kind.dirent_type();
        record[HEAD..HEAD + entry.name.len()].copy_from_slice(entry.name);
        self.len += size;
        true
    }
}
