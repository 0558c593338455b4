//! What a node of a file system can do.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;

use askr_abi::Errno;
use askr_abi::types::{
    DT_CHR, DT_DIR, DT_FIFO, DT_LNK, DT_REG, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFREG, Stat, Timespec,
};

use crate::Result;

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
}

/// A node of a file system. What a kind of node cannot do it leaves to the defaults, which say so with the
/// errno that Linux gives. Kernel code that needs more of a node (a terminal's `ioctl`, say) asks for the type
/// behind it: `Any` is a supertrait.
///
/// Names passed in are checked already ([`askr_core::path::check_name`]).
pub trait Vnode: Any + Send + Sync {
    /// What is known about it.
    ///
    /// # Errors
    /// EIO when the medium fails.
    fn metadata(&self) -> Result<Metadata>;

    /// Called when it is opened. A node that must show one state to an open file, whatever happens meanwhile,
    /// returns the node to use for that.
    ///
    /// # Errors
    /// Those of making that state.
    fn open(&self) -> Result<Option<Arc<dyn Vnode>>> {
        Ok(None)
    }

    /// The entry of this name.
    ///
    /// # Errors
    /// ENOENT; ENOTDIR when this is no directory.
    fn lookup(&self, _name: &[u8]) -> Result<Arc<dyn Vnode>> {
        Err(Errno::ENOTDIR)
    }

    /// Gives the entries from `cursor` on to `emit` until it returns false; that entry counts as not given.
    /// 0 is the start, other cursors come from [`DirEntry::next`]. Entries that stay are given exactly once
    /// however others come and go between calls.
    ///
    /// # Errors
    /// ENOTDIR when this is no directory.
    fn read_dir(&self, _cursor: u64, _emit: &mut dyn FnMut(DirEntry<'_>) -> bool) -> Result<()> {
        Err(Errno::ENOTDIR)
    }

    /// Reads at `offset` (streams ignore it). 0 is the end.
    ///
    /// # Errors
    /// EISDIR; EAGAIN when a stream has nothing yet.
    fn read_at(&self, _offset: u64, _into: &mut [u8]) -> Result<usize> {
        Err(self.not_a_file())
    }

    /// Writes at `offset` (streams ignore it); a gap before it reads as zeros. May write less than all.
    ///
    /// # Errors
    /// EROFS, EISDIR, ENOSPC, EFBIG; EAGAIN when a stream takes nothing now.
    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> Result<usize> {
        Err(self.read_only_file())
    }

    /// Writes at the end, as one step, and returns how much and where the end is now.
    ///
    /// # Errors
    /// As [`Self::write_at`].
    fn append(&self, _bytes: &[u8]) -> Result<(usize, u64)> {
        Err(self.read_only_file())
    }

    /// Cuts or extends (with zeros) to `size` bytes.
    ///
    /// # Errors
    /// As [`Self::write_at`].
    fn truncate(&self, _size: u64) -> Result<()> {
        Err(self.read_only_file())
    }

    /// Returns after everything written is where a power cut cannot reach it.
    ///
    /// # Errors
    /// EIO when the medium fails.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    /// Makes an empty regular file.
    ///
    /// # Errors
    /// EEXIST, ENOSPC, EROFS; ENOTDIR when this is no directory; ENOENT when it has been removed.
    fn create(&self, _name: &[u8], _mode: u32) -> Result<Arc<dyn Vnode>> {
        Err(self.read_only_dir())
    }

    /// Makes an empty directory.
    ///
    /// # Errors
    /// As [`Self::create`].
    fn mkdir(&self, _name: &[u8], _mode: u32) -> Result<Arc<dyn Vnode>> {
        Err(self.read_only_dir())
    }

    /// Makes a symbolic link to `target`.
    ///
    /// # Errors
    /// As [`Self::create`].
    fn symlink(&self, _name: &[u8], _target: &[u8]) -> Result<Arc<dyn Vnode>> {
        Err(self.read_only_dir())
    }

    /// Removes the name of a node that is no directory. Open files live on.
    ///
    /// # Errors
    /// ENOENT, EISDIR, EROFS, ENOTDIR.
    fn unlink(&self, _name: &[u8]) -> Result<()> {
        Err(self.read_only_dir())
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, ENOTEMPTY, EROFS.
    fn rmdir(&self, _name: &[u8]) -> Result<()> {
        Err(self.read_only_dir())
    }

    /// Moves the entry `old` to `new` in `new_dir`, as one step; what was there is replaced.
    ///
    /// # Errors
    /// ENOENT, EXDEV (another file system), EINVAL (a directory into itself), ENOTDIR, EISDIR, ENOTEMPTY,
    /// EROFS.
    fn rename(&self, _old: &[u8], _new_dir: &dyn Vnode, _new: &[u8]) -> Result<()> {
        Err(self.read_only_dir())
    }

    /// What a symbolic link points at.
    ///
    /// # Errors
    /// EINVAL when this is none.
    fn read_link(&self) -> Result<Vec<u8>> {
        Err(Errno::EINVAL)
    }

    /// The refusal of reading what is no file.
    #[doc(hidden)]
    fn not_a_file(&self) -> Errno {
        match self.metadata() {
            Ok(Metadata { kind: Kind::Directory, .. }) => Errno::EISDIR,
            Ok(_) => Errno::EINVAL,
            Err(errno) => errno,
        }
    }

    /// The refusal of changing the content of what takes none.
    #[doc(hidden)]
    fn read_only_file(&self) -> Errno {
        match self.metadata() {
            Ok(Metadata { kind: Kind::Directory, .. }) => Errno::EISDIR,
            Ok(Metadata { kind: Kind::File, .. }) => Errno::EROFS,
            Ok(_) => Errno::EINVAL,
            Err(errno) => errno,
        }
    }

    /// The refusal of changing entries where there are none or they are fixed.
    #[doc(hidden)]
    fn read_only_dir(&self) -> Errno {
        match self.metadata() {
            Ok(Metadata { kind: Kind::Directory, .. }) => Errno::EROFS,
            Ok(_) => Errno::ENOTDIR,
            Err(errno) => errno,
        }
    }
}

impl core::fmt::Debug for dyn Vnode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.metadata().fmt(f)
    }
}
