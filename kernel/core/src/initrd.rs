//! Reads the initial archive: a tar file in the POSIX.1-2017 "ustar" form with "pax" extended headers, or in
//! the GNU form with its long names. That is what `tar` and the common libraries write.
//!
//! It is strict: whatever it cannot understand is an error with its place, never an entry left out.

mod header;

use alloc::borrow::Cow;
use core::fmt;
use core::ops::Range;

use header::{Header, Kind};

/// Size of a tar block in bytes.
pub const BLOCK: usize = 512;
/// Most headers read from one archive, which bounds the work on a hostile one.
pub const HEADERS_MAX: usize = 16_384;
/// Longest pax record or GNU long name accepted in bytes.
pub const EXTENDED_MAX: usize = 16 * 1024;

/// One entry of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its path as written, for instance `bin/sh` or `./etc/`.
    pub path: Cow<'a, [u8]>,
    /// Permission bits (lower twelve bits of the mode).
    pub mode: u32,
    /// Last change in seconds since 1970.
    pub mtime: u64,
    /// What it is.
    pub kind: EntryKind<'a>,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind<'a> {
    /// A regular file and where its bytes lie in the archive; the range is inside it.
    File(Range<usize>),
    /// A directory.
    Directory,
    /// A symbolic link and what it points at.
    Symlink(Cow<'a, [u8]>),
}

/// Why an archive cannot be read, with the offset of the header in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitrdError {
    /// The archive ends inside a header or an entry.
    Truncated(usize),
    /// The checksum of the header is wrong.
    Checksum(usize),
    /// The header is of the old form without the "ustar" magic.
    Magic(usize),
    /// A number in the header is no octal or base-256 number or is out of range.
    Number(usize),
    /// A kind of entry that has no place here (hard link, device, …): the type flag.
    Kind(usize, u8),
    /// The entry has no name.
    Name(usize),
    /// An extended header is malformed, too long, or sets for all entries what belongs to one.
    Extended(usize),
    /// More than [`HEADERS_MAX`] headers.
    TooMany,
}

impl fmt::Display for InitrdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(at) => write!(f, "archive cut off in the entry at {at}"),
            Self::Checksum(at) => write!(f, "wrong checksum of the header at {at}"),
            Self::Magic(at) => write!(f, "header at {at} is neither ustar nor GNU tar"),
            Self::Number(at) => write!(f, "bad number in the header at {at}"),
            Self::Kind(at, flag) => {
                write!(
                    f,
                    "entry at {at} is of kind {flag:#04x}; only files, directories and symbolic links can be"
                )
            }
            Self::Name(at) => write!(f, "entry at {at} has no name"),
            Self::Extended(at) => write!(f, "bad extended header at {at}"),
            Self::TooMany => write!(f, "archive has over {HEADERS_MAX} headers"),
        }
    }
}

impl core::error::Error for InitrdError {}

/// Reads the entries of `archive` in order. After an error nothing follows.
#[must_use]
pub fn entries(archive: &[u8]) -> Entries<'_> {
    Entries { archive, offset: 0, headers: 0, done: false }
}

/// See [`entries`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    archive: &'a [u8],
    offset: usize,
    headers: usize,
    done: bool,
}

/// What extended headers say about the entry that follows them.
#[derive(Default)]
struct Extended<'a> {
    path: Option<&'a [u8]>,
    link: Option<&'a [u8]>,
    size: Option<usize>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, InitrdError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let entry = self.read_entry().transpose();
        self.done = !matches!(entry, Some(Ok(_)));
        entry
    }
}

impl<'a> Entries<'a> {
    /// The next entry with the extended headers before it; none at the end of the archive.
    fn read_entry(&mut self) -> Result<Option<Entry<'a>>, InitrdError> {
        let mut extended = Extended::default();
        loop {
            let at = self.offset;
            let Some(header) = self.read_header()? else { return Ok(None) };
            self.headers += 1;
            if self.headers > HEADERS_MAX {
                return Err(InitrdError::TooMany);
            }
            match header.kind {
                Kind::Pax => extended.read_pax(self.take(at, header.size)?, at)?,
                Kind::PaxGlobal => {
                    let mut global = Extended::default();
                    global.read_pax(self.take(at, header.size)?, at)?;
                    if global.path.is_some() || global.link.is_some() || global.size.is_some() {
                        return Err(InitrdError::Extended(at));
                    }
                }
                Kind::GnuPath => extended.path = Some(long_name(self.take(at, header.size)?, at)?),
                Kind::GnuLink => extended.link = Some(long_name(self.take(at, header.size)?, at)?),
                _ => return self.finish_entry(at, header, &extended).map(Some),
            }
        }
    }

    /// Archives end with a block of zeros; some writers leave even that out.
    fn read_header(&mut self) -> Result<Option<Header<'a>>, InitrdError> {
        if self.offset >= self.archive.len() {
            return Ok(None);
        }
        let block = self.archive[self.offset..].first_chunk::<BLOCK>();
        let block = block.ok_or(InitrdError::Truncated(self.offset))?;
        if block.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let header = header::parse(block, self.offset)?;
        self.offset += BLOCK;
        Ok(Some(header))
    }

    /// The range of the content of the entry whose header is at `at`; steps over it and its padding.
    fn take_range(&mut self, at: usize, size: usize) -> Result<Range<usize>, InitrdError> {
        let end = self.offset.checked_add(size).filter(|&end| end <= self.archive.len());
        let range = self.offset..end.ok_or(InitrdError::Truncated(at))?;
        self.offset = range.end.next_multiple_of(BLOCK);
        Ok(range)
    }

    fn take(&mut self, at: usize, size: usize) -> Result<&'a [u8], InitrdError> {
        if size > EXTENDED_MAX {
            return Err(InitrdError::Extended(at));
        }
        Ok(&self.archive[self.take_range(at, size)?])
    }

    fn finish_entry(
        &mut self,
        at: usize,
        header: Header<'a>,
        extended: &Extended<'a>,
    ) -> Result<Entry<'a>, InitrdError> {
        let path = extended.path.map_or(header.path, Cow::Borrowed);
        if path.is_empty() || path.contains(&0) {
            return Err(InitrdError::Name(at));
        }
        let range = self.take_range(at, extended.size.unwrap_or(header.size))?;
        let kind = match header.kind {
            // Writers older than ustar mark a directory only by the slash.
            Kind::File if path.ends_with(b"/") => EntryKind::Directory,
            Kind::File => EntryKind::File(range),
            Kind::Directory => EntryKind::Directory,
            Kind::Symlink => {
                let target = extended.link.unwrap_or(header.link);
                if target.is_empty() || target.contains(&0) {
                    return Err(InitrdError::Name(at));
                }
                EntryKind::Symlink(Cow::Borrowed(target))
            }
            Kind::Pax | Kind::PaxGlobal | Kind::GnuPath | Kind::GnuLink => {
                return Err(InitrdError::Extended(at));
            }
        };
        Ok(Entry { path, mode: header.mode, mtime: header.mtime, kind })
    }
}

/// A GNU long name: the bytes before the NUL that ends it.
fn long_name(content: &[u8], at: usize) -> Result<&[u8], InitrdError> {
    let name = header::until_nul(content);
    if name.is_empty() { Err(InitrdError::Extended(at)) } else { Ok(name) }
}

impl<'a> Extended<'a> {
    /// Reads records of the form `LENGTH KEY=VALUE\n`, LENGTH counting the whole record in decimal.
    fn read_pax(&mut self, mut records: &'a [u8], at: usize) -> Result<(), InitrdError> {
        let bad = InitrdError::Extended(at);
        // Each round takes at least one byte off `records`, which EXTENDED_MAX bounds.
        while !records.is_empty() {
            let space = records.iter().position(|&byte| byte == b' ').ok_or(bad)?;
            let length =
                decimal(&records[..space]).filter(|&n| n > space + 1 && n <= records.len()).ok_or(bad)?;
            let (record, rest) = records.split_at(length);
            let body = record[space + 1..].strip_suffix(b"\n").ok_or(bad)?;
            let equals = body.iter().position(|&byte| byte == b'=').ok_or(bad)?;
            let value = &body[equals + 1..];
            match &body[..equals] {
                b"path" => self.path = Some(value),
                b"linkpath" => self.link = Some(value),
                b"size" => self.size = Some(decimal(value).ok_or(bad)?),
                _ => {}
            }
            records = rest;
        }
        Ok(())
    }
}

fn decimal(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    core::str::from_utf8(digits).ok()?.parse().ok()
}
