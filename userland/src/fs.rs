//! Files and directories, in the way of Rust's standard library. Paths are bytes.

use crate::dirent::Entries;
use crate::io::{self, c_path};
use crate::sys;
use alloc_crate::vec;
use alloc_crate::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{
    DT_CHR, DT_DIR, DT_FIFO, DT_LNK, DT_REG, O_APPEND, O_CLOEXEC, O_CREAT, O_DIRECTORY, O_RDONLY, O_TRUNC,
    O_WRONLY, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, S_IFREG, SEEK_CUR, SEEK_END, SEEK_SET, Stat,
    Timespec,
};

pub use crate::io::File;
pub use crate::sys::FsUsage;

/// Bytes that [`ReadDir`] asks for at a time.
const DIRECTORY_PIECE: usize = 4096;
/// Permission bits of new files, before the umask.
const FILE_MODE: u32 = 0o666;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// Regular file.
    File,
    /// Directory.
    Directory,
    /// Symbolic link.
    Symlink,
    /// Character device.
    CharDevice,
    /// Pipe.
    Pipe,
    /// Something that this library does not know.
    Unknown,
}

impl FileType {
    const fn from_mode(mode: u32) -> Self {
        match mode & S_IFMT {
            S_IFREG => Self::File,
            S_IFDIR => Self::Directory,
            S_IFLNK => Self::Symlink,
            S_IFCHR => Self::CharDevice,
            S_IFIFO => Self::Pipe,
            _ => Self::Unknown,
        }
    }

    const fn from_dirent(kind: u8) -> Self {
        match kind {
            DT_REG => Self::File,
            DT_DIR => Self::Directory,
            DT_LNK => Self::Symlink,
            DT_CHR => Self::CharDevice,
            DT_FIFO => Self::Pipe,
            _ => Self::Unknown,
        }
    }
}

/// What is known about a file.
#[derive(Clone, Copy, Debug)]
pub struct Metadata(pub Stat);

impl Metadata {
    /// What it is.
    #[must_use]
    pub const fn file_type(&self) -> FileType {
        FileType::from_mode(self.0.mode)
    }

    /// Whether it is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.file_type() == FileType::Directory
    }

    /// Whether it is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.file_type() == FileType::File
    }

    /// Whether it is a symbolic link.
    #[must_use]
    pub fn is_symlink(&self) -> bool {
        self.file_type() == FileType::Symlink
    }

    /// Size in bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.0.size.unsigned_abs()
    }

    /// Whether it has no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.size == 0
    }

    /// The permission bits.
    #[must_use]
    pub const fn mode(&self) -> u32 {
        self.0.mode & 0o7777
    }

    /// Last change of the content.
    #[must_use]
    pub const fn modified(&self) -> Timespec {
        self.0.mtime
    }

    /// Whether both are the same file under whatever names.
    #[must_use]
    pub const fn is_same_file(&self, other: &Self) -> bool {
        self.0.dev == other.0.dev && self.0.ino == other.0.ino
    }
}

/// Where to go in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeekFrom {
    /// Bytes from the start.
    Start(u64),
    /// Bytes from the position.
    Current(i64),
    /// Bytes from the end.
    End(i64),
}

impl File {
    /// Opens `path` for writing, made if it is missing and empty in any case.
    pub fn create(path: &[u8]) -> Result<Self, Errno> {
        Self::open_with(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE)
    }

    /// Opens `path` for writing at its end, made if it is missing.
    pub fn append(path: &[u8]) -> Result<Self, Errno> {
        Self::open_with(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, FILE_MODE)
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// As [`io::write_all`].
    pub fn write_all(&self, bytes: &[u8]) -> Result<(), Errno> {
        io::write_all(self.fd(), bytes)
    }

    /// Moves the position and returns it.
    pub fn seek(&self, to: SeekFrom) -> Result<u64, Errno> {
        let (offset, whence) = match to {
            SeekFrom::Start(offset) => (i64::try_from(offset).map_err(|_| Errno::EINVAL)?, SEEK_SET),
            SeekFrom::Current(offset) => (offset, SEEK_CUR),
            SeekFrom::End(offset) => (offset, SEEK_END),
        };
        sys::lseek(self.fd(), offset, whence)
    }

    /// Cuts the file or extends it with zeros.
    pub fn set_len(&self, length: u64) -> Result<(), Errno> {
        sys::ftruncate(self.fd(), length)
    }

    /// Returns when everything written is where a power cut cannot reach it.
    pub fn sync(&self) -> Result<(), Errno> {
        sys::fsync(self.fd())
    }

    /// What is known about it.
    pub fn metadata(&self) -> Result<Metadata, Errno> {
        sys::fstat(self.fd()).map(Metadata)
    }
}

/// What is known about what `path` leads to.
pub fn metadata(path: &[u8]) -> Result<Metadata, Errno> {
    sys::stat(&c_path(path)?).map(Metadata)
}

/// What is known about `path` itself, even if it is a symbolic link.
pub fn symlink_metadata(path: &[u8]) -> Result<Metadata, Errno> {
    sys::lstat(&c_path(path)?).map(Metadata)
}

/// Makes a directory with these permission bits, less the umask.
pub fn create_dir(path: &[u8], mode: u32) -> Result<(), Errno> {
    sys::mkdir(&c_path(path)?, mode)
}

/// Removes an empty directory.
pub fn remove_dir(path: &[u8]) -> Result<(), Errno> {
    sys::rmdir(&c_path(path)?)
}

/// Removes a name of what is no directory.
pub fn remove_file(path: &[u8]) -> Result<(), Errno> {
    sys::unlink(&c_path(path)?)
}

/// Moves a file or a directory, as one step; what is there is replaced.
pub fn rename(old: &[u8], new: &[u8]) -> Result<(), Errno> {
    sys::rename(&c_path(old)?, &c_path(new)?)
}

/// Gives a file a second name.
pub fn hard_link(old: &[u8], new: &[u8]) -> Result<(), Errno> {
    sys::link(&c_path(old)?, &c_path(new)?)
}

/// Makes the symbolic link `path` that points at `target`.
pub fn symlink(target: &[u8], path: &[u8]) -> Result<(), Errno> {
    sys::symlink(&c_path(target)?, &c_path(path)?)
}

/// What a symbolic link points at.
pub fn read_link(path: &[u8]) -> Result<Vec<u8>, Errno> {
    sys::readlink(&c_path(path)?)
}

/// Sets the permission bits of what `path` leads to.
pub fn set_mode(path: &[u8], mode: u32) -> Result<(), Errno> {
    sys::chmod(&c_path(path)?, mode)
}

/// Sets the time of the last change of what `path` leads to; `None` is now.
pub fn set_modified(path: &[u8], time: Option<Timespec>) -> Result<(), Errno> {
    sys::set_modified(&c_path(path)?, time, true)
}

/// How full the file system is that holds `path`.
pub fn usage(path: &[u8]) -> Result<FsUsage, Errno> {
    sys::statfs(&c_path(path)?)
}

/// A pipe: the end to read and the end to write. Both are closed by `execve`; `sys::dup2` makes one that is not.
pub fn pipe() -> Result<(File, File), Errno> {
    let (read, write) = sys::pipe(O_CLOEXEC)?;
    Ok((File::from_fd(read), File::from_fd(write)))
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name.
    pub name: Vec<u8>,
    /// What it is.
    pub file_type: FileType,
    /// Number of the file.
    pub ino: u64,
}

/// The entries of a directory, without `.` and `..`, as the kernel gives them. Others may come and go meanwhile.
#[derive(Debug)]
pub struct ReadDir {
    directory: File,
    buffer: Vec<u8>,
    filled: usize,
    at: usize,
    done: bool,
}

/// Reads a directory.
pub fn read_dir(path: &[u8]) -> Result<ReadDir, Errno> {
    let directory = File::open_with(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)?;
    Ok(ReadDir { directory, buffer: vec![0; DIRECTORY_PIECE], filled: 0, at: 0, done: false })
}

impl ReadDir {
    /// Fills the buffer again; false at the end.
    fn refill(&mut self) -> Result<bool, Errno> {
        self.at = 0;
        self.filled = sys::getdents64(self.directory.fd(), &mut self.buffer)?;
        Ok(self.filled > 0)
    }

    /// The next entry of the buffer.
    fn take(&mut self) -> Option<DirEntry> {
        let mut entries = Entries::new(&self.buffer[self.at..self.filled]);
        let entry = entries.next()?;
        let taken = DirEntry {
            name: entry.name.to_vec(),
            file_type: FileType::from_dirent(entry.kind),
            ino: entry.ino,
        };
        self.at = self.filled - entries.rest().len();
        Some(taken)
    }
}

impl Iterator for ReadDir {
    type Item = Result<DirEntry, Errno>;

    /// An error is the last item.
    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            match self.take() {
                Some(entry) if matches!(&entry.name[..], b"." | b"..") => {}
                Some(entry) => return Some(Ok(entry)),
                None => match self.refill() {
                    Ok(more) => self.done = !more,
                    Err(errno) => {
                        self.done = true;
                        return Some(Err(errno));
                    }
                },
            }
        }
        None
    }
}
