//! An open file description: what file descriptors refer to and share (POSIX.1-2017 section 3.258).

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use askr_abi::Errno;
use askr_abi::types::{O_ACCMODE, O_APPEND, O_NONBLOCK, O_RDONLY, O_WRONLY, SEEK_CUR, SEEK_END, SEEK_SET};

use crate::dirent::DirentWriter;
use crate::{DirEntry, Kind, Metadata, Result, Vnode};

/// Flags that `fcntl(F_SETFL)` changes.
const CHANGEABLE: u32 = O_APPEND | O_NONBLOCK;
/// How often a read is made again because others moved the position meanwhile.
const READ_ATTEMPTS: usize = 16;
/// Position in a directory after `.` and `..`, which the file itself gives.
const DOTS: u64 = 2;

/// An open file description.
#[derive(Debug)]
pub struct File {
    node: Arc<dyn Vnode>,
    path: Vec<u8>,
    flags: AtomicU32,
    parent_ino: u64,
    offset: AtomicU64,
}

impl File {
    /// Opens a node that no path leads to or has led to (a pipe, a terminal) or that [`crate::Vfs::open`]
    /// found. `flags` are those of `open(2)`; `parent_ino` is what `..` shows in a listing.
    #[must_use]
    pub fn new(node: Arc<dyn Vnode>, path: Vec<u8>, flags: u32, parent_ino: u64) -> Self {
        Self { node, path, flags: AtomicU32::new(flags), parent_ino, offset: AtomicU64::new(0) }
    }

    /// The node.
    #[must_use]
    pub fn node(&self) -> &Arc<dyn Vnode> {
        &self.node
    }

    /// The canonical path it was opened by; a rename since then does not show.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// What the node is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.node.kind()
    }

    /// The flags it was opened with, or was given since then.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    /// Changes `O_APPEND` and `O_NONBLOCK`; other flags stay as they are (`fcntl(2)`, `F_SETFL`).
    pub fn set_flags(&self, flags: u32) {
        let kept = self.flags() & !CHANGEABLE;
        self.flags.store(kept | flags & CHANGEABLE, Ordering::Relaxed);
    }

    /// What is known about the node.
    ///
    /// # Errors
    /// Those of [`Vnode::metadata`].
    pub fn metadata(&self) -> Result<Metadata> {
        self.node.metadata()
    }

    /// Reads at the position and moves it. No lock is held meanwhile, since a node may wait for its medium; when
    /// others moved the position in that time, it reads again from there, so no two readers get the same bytes.
    ///
    /// # Errors
    /// EBADF when not open for reading; those of [`Vnode::read_at`].
    pub fn read(&self, into: &mut [u8]) -> Result<usize> {
        self.require_readable()?;
        if !self.kind().is_seekable() {
            return self.node.read_at(0, into);
        }
        let mut count = 0;
        for _ in 0..READ_ATTEMPTS {
            let start = self.offset.load(Ordering::Relaxed);
            count = self.node.read_at(start, into)?;
            if self.move_from(start, start.saturating_add(count as u64)) {
                break;
            }
        }
        Ok(count)
    }

    /// Writes at the position (or with O_APPEND at the end) and moves it. The place is claimed before, so writers
    /// that share this description do not write over each other.
    ///
    /// # Errors
    /// EBADF when not open for writing; those of [`Vnode::write_at`].
    pub fn write(&self, bytes: &[u8]) -> Result<usize> {
        self.require_writable()?;
        if self.kind() != Kind::File {
            return self.node.write_at(0, bytes);
        }
        if self.flags() & O_APPEND != 0 {
            let (count, end) = self.node.append(bytes)?;
            self.offset.store(end, Ordering::Relaxed);
            return Ok(count);
        }
        let start = self.offset.load(Ordering::Relaxed);
        let end = start.saturating_add(bytes.len() as u64);
        self.offset.store(end, Ordering::Relaxed);
        let result = self.node.write_at(start, bytes);
        let count = *result.as_ref().unwrap_or(&0);
        if count < bytes.len() {
            // What was not written is given back, unless others claimed what comes after.
            self.move_from(end, start.saturating_add(count as u64));
        }
        result
    }

    /// Reads at `offset`, the position stays (`pread(2)`).
    ///
    /// # Errors
    /// ESPIPE for a stream, EBADF, those of [`Vnode::read_at`].
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        self.require_seekable()?;
        self.require_readable()?;
        self.node.read_at(offset, into)
    }

    /// Writes at `offset`, the position stays (`pwrite(2)`).
    ///
    /// # Errors
    /// ESPIPE for a stream, EBADF, those of [`Vnode::write_at`].
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        self.require_seekable()?;
        self.require_writable()?;
        self.node.write_at(offset, bytes)
    }

    /// Moves the position and returns it (`lseek(2)`).
    ///
    /// # Errors
    /// ESPIPE for a stream; EINVAL for an unknown `whence` or a position before the start; EOVERFLOW.
    pub fn seek(&self, offset: i64, whence: u32) -> Result<u64> {
        self.require_seekable()?;
        let base = match whence {
            SEEK_SET => 0,
            SEEK_CUR => self.offset.load(Ordering::Relaxed),
            SEEK_END => self.metadata()?.size,
            _ => return Err(Errno::EINVAL),
        };
        let base = i64::try_from(base).map_err(|_| Errno::EOVERFLOW)?;
        let position = base.checked_add(offset).ok_or(Errno::EOVERFLOW)?;
        let position = u64::try_from(position).map_err(|_| Errno::EINVAL)?;
        self.offset.store(position, Ordering::Relaxed);
        Ok(position)
    }

    /// Cuts or extends the file (`ftruncate(2)`).
    ///
    /// # Errors
    /// EINVAL when not open for writing; those of [`Vnode::truncate`].
    pub fn truncate(&self, size: u64) -> Result<()> {
        self.require_writable().map_err(|_| Errno::EINVAL)?;
        self.node.truncate(size)
    }

    /// Called when a descriptor of it is closed: tells what went wrong with what was written.
    ///
    /// # Errors
    /// Those of [`Vnode::flush`].
    pub fn flush(&self) -> Result<()> {
        if self.flags() & O_ACCMODE == O_RDONLY { Ok(()) } else { self.node.flush() }
    }

    /// Writes the next entries of a directory as `struct linux_dirent64` and returns their bytes; 0 is the
    /// end (`getdents64(2)`). `.` and `..` come first.
    ///
    /// # Errors
    /// ENOTDIR; EBADF; ENOENT when it has been removed; EINVAL when `into` has no room for even one entry.
    pub fn read_dirents(&self, into: &mut [u8]) -> Result<usize> {
        if self.kind() != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        self.require_readable()?;
        self.node.place()?; // ENOENT when it has been removed
        let own = self.metadata()?;
        let mut position = self.offset.load(Ordering::Relaxed);
        let mut writer = DirentWriter::new(into);
        for (name, ino) in
            [(&b"."[..], own.ino), (b"..", self.parent_ino)].into_iter().skip(dots_given(position))
        {
            let dot = DirEntry { name, ino, kind: Kind::Directory, next: 0, facts: None };
            if !writer.push(&dot, position + 1) {
                break;
            }
            position += 1;
        }
        if position >= DOTS && !writer.is_full() {
            self.node.read_dir(position - DOTS, &mut |entry| {
                let next = entry.next.saturating_add(DOTS);
                let taken = writer.push(&entry, next);
                if taken {
                    position = next;
                }
                taken
            })?;
        }
        if writer.len() == 0 && writer.is_full() {
            return Err(Errno::EINVAL);
        }
        self.offset.store(position, Ordering::Relaxed);
        Ok(writer.len())
    }

    /// Moves the position unless it is no longer at `from`; returns whether it did.
    fn move_from(&self, from: u64, to: u64) -> bool {
        self.offset.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn require_readable(&self) -> Result<()> {
        if self.flags() & O_ACCMODE == O_WRONLY { Err(Errno::EBADF) } else { Ok(()) }
    }

    fn require_writable(&self) -> Result<()> {
        if self.flags() & O_ACCMODE == O_RDONLY { Err(Errno::EBADF) } else { Ok(()) }
    }

    fn require_seekable(&self) -> Result<()> {
        if self.kind().is_seekable() { Ok(()) } else { Err(Errno::ESPIPE) }
    }
}

/// How many of `.` and `..` come before this position.
fn dots_given(position: u64) -> usize {
    match position {
        0 => 0,
        1 => 1,
        _ => 2,
    }
}
