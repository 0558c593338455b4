//! What is known about a node, and about a file system.

use alloc::sync::Arc;
use alloc::vec::Vec;

use askr_abi::types::{
    DT_CHR, DT_DIR, DT_FIFO, DT_LNK, DT_REG, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFREG, Stat, Timespec,
};

use crate::Vnode;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Regular file.
    File,
    /// Directory.
    Directory,
    /// Symbolic link.
    Symlink,
    /// Character device, such as a terminal.
    CharDevice,
    /// Pipe.
    Pipe,
}

impl Kind {
    /// Its bits in `st_mode`.
    #[must_use]
    pub const fn mode_bits(self) -> u32 {
        match self {
            Self::File => S_IFREG,
            Self::Directory => S_IFDIR,
            Self::Symlink => S_IFLNK,
            Self::CharDevice => S_IFCHR,
            Self::Pipe => S_IFIFO,
        }
    }

    /// Its number in `d_type`.
    #[must_use]
    pub const fn dirent_type(self) -> u8 {
        match self {
            Self::File => DT_REG,
            Self::Directory => DT_DIR,
            Self::Symlink => DT_LNK,
            Self::CharDevice => DT_CHR,
            Self::Pipe => DT_FIFO,
        }
    }

    /// Whether a position in it means something: not in streams.
    #[must_use]
    pub const fn is_seekable(self) -> bool {
        matches!(self, Self::File | Self::Directory)
    }
}

/// What is known about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: Kind,
    /// Permission bits (lower twelve bits of `st_mode`).
    pub mode: u32,
    /// Number of the file system it is on.
    pub dev: u64,
    /// Its number there.
    pub ino: u64,
    /// Names that lead to it; 1 for a directory, which says that subdirectories are not counted.
    pub nlink: u32,
    /// Device number, for devices.
    pub rdev: u64,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content.
    pub mtime: Timespec,
    /// Last change of the node.
    pub ctime: Timespec,
}

impl Metadata {
    /// A node without size and times, for devices and generated files.
    #[must_use]
    pub const fn bare(kind: Kind, mode: u32, dev: u64, ino: u64) -> Self {
        let never = Timespec { sec: 0, nsec: 0 };
        Self { kind, mode, dev, ino, nlink: 1, rdev: 0, size: 0, mtime: never, ctime: never }
    }

    /// As `stat(2)` gives it. Times of access are not kept: they are given as the last change.
    #[must_use]
    pub fn to_stat(&self) -> Stat {
        Stat {
            dev: self.dev,
            ino: self.ino,
            nlink: u64::from(self.nlink),
            mode: self.kind.mode_bits() | self.mode & 0o7777,
            rdev: self.rdev,
            size: i64::try_from(self.size).unwrap_or(i64::MAX),
            blksize: 4096,
            blocks: i64::try_from(self.size.div_ceil(512)).unwrap_or(i64::MAX),
            atime: self.mtime,
            mtime: self.mtime,
            ctime: self.ctime,
            ..Stat::default()
        }
    }
}

/// One entry of a directory, `.` and `..` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirEntry<'a> {
    /// Its name, not NUL-terminated.
    pub name: &'a [u8],
    /// Number of the node.
    pub ino: u64,
    /// What it is.
    pub kind: Kind,
    /// Where to go on after this entry.
    pub next: u64,
    /// What is known about the node, if the listing tells it at no further cost. Of a mount point it is what is below.
    pub facts: Option<Metadata>,
}

/// Where a directory is.
#[derive(Clone, Debug)]
pub enum Place {
    /// It is the root of its file system.
    Root,
    /// It is an entry of another.
    In {
        /// The directory that holds it.
        parent: Arc<dyn Vnode>,
        /// Its name there.
        name: Vec<u8>,
    },
}

/// What is to be changed of what is known about a node; the rest stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Permission bits.
    pub mode: Option<u32>,
    /// Last change of the content.
    pub mtime: Option<Timespec>,
}

/// What is known about a file system. The default is one that stores nothing, such as `/proc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FsStat {
    /// Its kind, as the magic numbers of `statfs(2)` have it; 0 if it has none.
    pub magic: u64,
    /// Bytes in a block; 0 where nothing is stored.
    pub block_size: u64,
    /// All blocks.
    pub blocks: u64,
    /// Free blocks.
    pub free: u64,
    /// Whether files can be written and made.
    pub writable: bool,
}
