//! The records that `getdents64(2)` writes: `d_ino` (8 bytes), `d_off` (8), `d_reclen` (2), `d_type` (1), the name
//! with a NUL, padding.

/// Bytes before the name.
const HEAD: usize = 19;

/// One name in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Number of the file.
    pub ino: u64,
    /// `DT_*`, 0 if unknown.
    pub kind: u8,
    /// The name.
    pub name: &'a [u8],
}

/// The records in the part of the buffer that the kernel filled.
#[derive(Clone, Debug)]
pub struct Entries<'a>(&'a [u8]);

impl<'a> Entries<'a> {
    /// Reads `filled`.
    #[must_use]
    pub fn new(filled: &'a [u8]) -> Self {
        Self(filled)
    }

    /// What was not read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    /// The next record; `None` at the end and at a record that does not fit.
    fn next(&mut self) -> Option<Entry<'a>> {
        let length = usize::from(u16::from_le_bytes(self.0.get(16..18)?.try_into().ok()?));
        let record = self.0.get(..length)?;
        let name = record.get(HEAD..)?;
        self.0 = &self.0[length..];
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        Some(Entry {
            ino: u64::from_le_bytes(record[..8].try_into().ok()?),
            kind: record[18],
            name: &name[..end],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Entries, Entry, HEAD};
    use proptest::prelude::*;

    fn record(ino: u64, kind: u8, name: &[u8]) -> Vec<u8> {
        let length = (HEAD + name.len() + 1).next_multiple_of(8);
        let mut bytes = ino.to_le_bytes().to_vec();
        bytes.extend([0xAA; 8]);
        bytes.extend(u16::try_from(length).unwrap().to_le_bytes());
        bytes.push(kind);
        bytes.extend(name);
        bytes.resize(length, 0);
        bytes
    }

    #[test]
    fn records_are_read_in_order() {
        let bytes = [record(1, 4, b".."), record(7, 8, b"a long name")].concat();
        let entries: Vec<_> = Entries::new(&bytes).collect();
        assert_eq!(entries[0], Entry { ino: 1, kind: 4, name: b".." });
        assert_eq!(entries[1], Entry { ino: 7, kind: 8, name: b"a long name" });
        assert_eq!(entries.len(), 2);
    }

    #[test]
    fn a_record_that_does_not_fit_ends_the_list() {
        let mut bytes = record(1, 8, b"x");
        bytes[16] = 0;
        assert_eq!(Entries::new(&bytes).count(), 0);
        bytes[16] = 200;
        assert_eq!(Entries::new(&bytes).count(), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            prop_assert!(Entries::new(&bytes).count() <= bytes.len());
        }
    }
}
