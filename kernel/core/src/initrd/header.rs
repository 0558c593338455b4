//! One tar header block (POSIX.1-2017, `pax` utility, "ustar Interchange Format").

use alloc::borrow::Cow;
use core::ops::Range;

use super::{BLOCK, InitrdError};

const NAME: Range<usize> = 0..100;
const MODE: Range<usize> = 100..108;
const SIZE: Range<usize> = 124..136;
const MTIME: Range<usize> = 136..148;
const CHECKSUM: Range<usize> = 148..156;
const TYPE: usize = 156;
const LINK: Range<usize> = 157..257;
const MAGIC: Range<usize> = 257..263;
const PREFIX: Range<usize> = 345..500;

/// What the type flag says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Symlink,
    Pax,
    PaxGlobal,
    GnuPath,
    GnuLink,
}

pub(super) struct Header<'a> {
    pub(super) path: Cow<'a, [u8]>,
    pub(super) link: &'a [u8],
    pub(super) mode: u32,
    pub(super) mtime: u64,
    /// Bytes of content that follow; 0 for kinds that have none, whatever the field says.
    pub(super) size: usize,
    pub(super) kind: Kind,
}

pub(super) fn parse(block: &[u8; BLOCK], at: usize) -> Result<Header<'_>, InitrdError> {
    let bad = InitrdError::Number(at);
    if number(&block[CHECKSUM]) != Some(checksum(block)) {
        return Err(InitrdError::Checksum(at));
    }
    let posix = match &block[MAGIC] {
        b"ustar\0" => true,
        b"ustar " => false,
        _ => return Err(InitrdError::Magic(at)),
    };
    let kind = kind(block[TYPE]).ok_or(InitrdError::Kind(at, block[TYPE]))?;
    let size = match kind {
        Kind::Directory | Kind::Symlink => 0,
        _ => number(&block[SIZE]).and_then(|size| usize::try_from(size).ok()).ok_or(bad)?,
    };
    let mode = number(&block[MODE]).and_then(|mode| u32::try_from(mode).ok()).ok_or(bad)?;
    Ok(Header {
        path: path(block, posix),
        link: until_nul(&block[LINK]),
        mode: mode & 0o7777,
        mtime: number(&block[MTIME]).ok_or(bad)?,
        size,
        kind,
    })
}

/// The field up to its NUL; a field may be filled to the last byte without one.
pub(super) fn until_nul(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == 0).next().unwrap_or_default()
}

fn kind(flag: u8) -> Option<Kind> {
    Some(match flag {
        b'0' | b'7' | 0 => Kind::File,
        b'2' => Kind::Symlink,
        b'5' => Kind::Directory,
        b'x' => Kind::Pax,
        b'g' => Kind::PaxGlobal,
        b'L' => Kind::GnuPath,
        b'K' => Kind::GnuLink,
        _ => return None,
    })
}

/// The POSIX form puts the front of a long path into the prefix field; the GNU form uses that field otherwise.
fn path(block: &[u8; BLOCK], posix: bool) -> Cow<'_, [u8]> {
    let name = until_nul(&block[NAME]);
    let prefix = until_nul(&block[PREFIX]);
    if !posix || prefix.is_empty() {
        return Cow::Borrowed(name);
    }
    Cow::Owned([prefix, b"/", name].concat())
}

/// The sum of all bytes of the header, its checksum field taken as spaces.
fn checksum(block: &[u8; BLOCK]) -> u64 {
    let bytes = block.iter().enumerate();
    bytes.map(|(at, &byte)| if CHECKSUM.contains(&at) { u64::from(b' ') } else { u64::from(byte) }).sum()
}

/// A number field: octal digits between blanks, or (GNU) base 256 with the top bit of the first byte set.
fn number(field: &[u8]) -> Option<u64> {
    let (&first, rest) = field.split_first()?;
    if first & 0x80 != 0 {
        return base256(first & 0x7f, rest);
    }
    let text = until_nul(field).trim_ascii();
    text.iter().try_fold(0_u64, |value, &digit| match digit {
        b'0'..=b'7' => value.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// Bit 6 of the first byte is the sign: negative numbers are refused.
fn base256(first: u8, rest: &[u8]) -> Option<u64> {
    if first & 0x40 != 0 {
        return None;
    }
    rest.iter()
        .try_fold(u64::from(first), |value, &byte| value.checked_mul(256)?.checked_add(u64::from(byte)))
}
