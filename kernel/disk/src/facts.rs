//! What is known about a node beside its content. littlefs has room for attributes, and ours is one of them.

use askr_abi::types::Timespec;
use askr_vfs::{Kind, Metadata};

/// Number of the attribute in littlefs: "a".
pub(crate) const ATTRIBUTE: u8 = 0x61;
/// First byte of it: its layout.
const LAYOUT: u8 = 1;
const FILE: u8 = 0;
const SYMLINK: u8 = 1;
/// Rights of what the host made, which has no attribute: a program that was copied there can be run.
const MODE_UNKNOWN: u16 = 0o755;

/// `[layout:1][kind:1][mode:2][nanoseconds:4][seconds:8]`, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) symlink: bool,
    pub(crate) mode: u16,
    pub(crate) mtime: Timespec,
}

impl Attribute {
    pub(crate) const SIZE: usize = 16;
    /// That of what has none.
    pub(crate) const UNKNOWN: Self =
        Self { symlink: false, mode: MODE_UNKNOWN, mtime: Timespec { sec: 0, nsec: 0 } };

    pub(crate) fn new(kind: Kind, mode: u32, mtime: Timespec) -> Self {
        Self { symlink: kind == Kind::Symlink, mode: (mode & 0o7777) as u16, mtime }
    }

    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0] = LAYOUT;
        bytes[1] = if self.symlink { SYMLINK } else { FILE };
        bytes[2..4].copy_from_slice(&self.mode.to_le_bytes());
        bytes[4..8].copy_from_slice(&(self.mtime.nsec as u32).to_le_bytes());
        bytes[8..].copy_from_slice(&self.mtime.sec.to_le_bytes());
        bytes
    }

    /// Nothing for a layout of another time.
    pub(crate) fn decode(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        let [LAYOUT, kind @ (FILE | SYMLINK), rest @ ..] = bytes else { return None };
        let mode = u16::from_le_bytes([rest[0], rest[1]]);
        let nsec = u32::from_le_bytes([rest[2], rest[3], rest[4], rest[5]]);
        let sec =
            i64::from_le_bytes([rest[6], rest[7], rest[8], rest[9], rest[10], rest[11], rest[12], rest[13]]);
        let mtime = Timespec { sec, nsec: i64::from(nsec) };
        (mode <= 0o7777 && nsec < 1_000_000_000).then_some(Self { symlink: *kind == SYMLINK, mode, mtime })
    }
}

/// What [`askr_vfs::Vnode::metadata`] tells, as far as it can change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) mode: u16,
    pub(crate) mtime: Timespec,
    /// Whether no name leads to it any more.
    pub(crate) unlinked: bool,
}

impl Facts {
    pub(crate) fn new(is_dir: bool, size: u64, attribute: Option<Attribute>) -> Self {
        let Attribute { symlink, mode, mtime } = attribute.unwrap_or(Attribute::UNKNOWN);
        let kind = kind_of(is_dir, symlink);
        Self { kind, size: if is_dir { 0 } else { size }, mode, mtime, unlinked: false }
    }

    /// As the VFS has it, of the node with this number.
    pub(crate) fn metadata(&self, dev: u64, id: u64) -> Metadata {
        Metadata {
            size: self.size,
            mtime: self.mtime,
            ctime: self.mtime,
            nlink: u32::from(!self.unlinked),
            ..Metadata::bare(self.kind, u32::from(self.mode), dev, id)
        }
    }

    pub(crate) fn attribute(&self) -> Attribute {
        Attribute { symlink: self.kind == Kind::Symlink, mode: self.mode, mtime: self.mtime }
    }
}

pub(crate) const fn kind_of(is_dir: bool, symlink: bool) -> Kind {
    match (is_dir, symlink) {
        (true, _) => Kind::Directory,
        (false, true) => Kind::Symlink,
        (false, false) => Kind::File,
    }
}
