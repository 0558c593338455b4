//! What is done to open files.

use alloc::boxed::Box;
use alloc::vec;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

use askr_abi::Errno;
use littlefs_rust_core as lfs;
use littlefs_rust_core::lfs_type::lfs_open_flags::{
    LFS_F_DIRTY, LFS_F_ERRED, LFS_F_INLINE, LFS_F_WRITING, LFS_O_CREAT, LFS_O_EXCL, LFS_O_RDWR,
};
use littlefs_rust_core::lfs_type::lfs_type::{LFS_TYPE_CTZSTRUCT, LFS_TYPE_INLINESTRUCT, LFS_TYPE_USERATTR};
use littlefs_rust_core::lfs_type::lfs_whence_flags::LFS_SEEK_SET;

use super::{Handle, Littlefs, OpenFile, Path, check};
use crate::Result;
use crate::blocks::BLOCK;
use crate::facts::{ATTRIBUTE, Attribute};

/// The library's number for no block (`LFS_BLOCK_NULL`): a file without a name is in no directory.
const BLOCK_NULL: u32 = u32::MAX;

impl Littlefs {
    /// Opens the file at `path`, or makes it; its attribute becomes `attribute` with the next [`Self::sync`] that has
    /// something to write.
    ///
    /// # Errors
    /// ENOENT, EISDIR, ENOSPC, ENAMETOOLONG, EIO.
    pub(crate) fn open(&mut self, path: &Path, attribute: &Attribute, create: bool) -> Result<Handle> {
        let mut cache = vec![0; BLOCK];
        let config =
            lfs::LfsFileConfig { buffer: cache.as_mut_ptr().cast(), attrs: ptr::null_mut(), attr_count: 0 };
        // SAFETY: plain data, which `lfs_file_opencfg` fills.
        let file = unsafe { MaybeUninit::zeroed().assume_init() };
        let mut open = Box::new(OpenFile { file, config, attribute: *attribute, _cache: cache });
        let flags = LFS_O_RDWR | if create { LFS_O_CREAT | LFS_O_EXCL } else { 0 };
        let state = self.begin();
        let code =
            lfs::lfs_file_opencfg(state, &raw mut open.file, path.as_ptr(), flags, &raw const open.config);
        check(code)?;
        if create {
            open.file.flags |= LFS_F_DIRTY as u32;
        }
        let handle = Handle(self.next);
        self.next += 1;
        self.files.insert(handle, open);
        Ok(handle)
    }

    /// Closes a file without writing what is still to be written: [`Self::sync`] comes before.
    pub(crate) fn close(&mut self, handle: Handle) {
        let Some(mut open) = self.files.remove(&handle) else { return };
        // The library leaves a file that it cannot write in its list, with a pointer to what ends here. It writes
        // nothing of a file that has this flag.
        open.file.flags |= LFS_F_ERRED as u32;
        let _ = lfs::lfs_file_close(self.begin(), &raw mut open.file);
        // The blocks of a file without a name are free from here on, and nothing was written that would say so.
        self.used = None;
    }

    /// Makes the content and the attribute of an open file what its name shows, as one step.
    ///
    /// # Errors
    /// ENOSPC, EIO.
    pub(crate) fn sync(&mut self, handle: Handle) -> Result<()> {
        // Moves the position away from where it was written, which makes the library finish writing. It does not commit
        // then: what it would do for attributes of its own puts them to the wrong entry when a directory is split.
        let (state, file) = self.seek(handle, 0)?;
        let open = self.files.get_mut(&handle).ok_or(Errno::EBADF)?;
        if open.file.flags & LFS_F_DIRTY as u32 == 0 || open.file.m.pair[0] == BLOCK_NULL {
            return Ok(());
        }
        let is_inline = open.file.flags & LFS_F_INLINE as u32 != 0;
        if !is_inline {
            // The content first: a directory that names blocks not written yet would be a lie.
            self.core.blocks.flush()?;
        }
        let content = lfs::LfsCtz { head: open.file.ctz.head.to_le(), size: open.file.ctz.size.to_le() };
        let (kind, size, bytes) = if is_inline {
            (LFS_TYPE_INLINESTRUCT, open.file.ctz.size, open.file.cache.buffer.cast_const().cast::<c_void>())
        } else {
            (LFS_TYPE_CTZSTRUCT, size_of::<lfs::LfsCtz>() as u32, (&raw const content).cast())
        };
        let (id, value) = (u32::from(open.file.id), open.attribute.encode());
        let own = LFS_TYPE_USERATTR + u32::from(ATTRIBUTE);
        let changes = [
            lfs::lfs_mattr { tag: lfs::lfs_mktag(kind, id, size), buffer: bytes },
            lfs::lfs_mattr {
                tag: lfs::lfs_mktag(own, id, Attribute::SIZE as u32),
                buffer: value.as_ptr().cast(),
            },
        ];
        // SAFETY: the state is that of a mounted file system.
        unsafe { lfs::lfs_alloc_ckpoint(state) };
        // SAFETY: `file` is in its box, where the library knows it to be.
        let dir = unsafe { &raw mut (*file).m };
        check(lfs::lfs_dir_commit(state, dir, changes.as_ptr().cast(), changes.len() as i32))?;
        if let Some(open) = self.files.get_mut(&handle) {
            open.file.flags &= !(LFS_F_DIRTY as u32);
        }
        Ok(())
    }

    /// Whether an open file has something that [`Self::sync`] would write.
    pub(crate) fn is_dirty(&self, handle: Handle) -> bool {
        self.files
            .get(&handle)
            .is_some_and(|open| open.file.flags & (LFS_F_DIRTY | LFS_F_WRITING) as u32 != 0)
    }

    /// After the name of an open file was removed: keeps its blocks from being used for others.
    pub(crate) fn detach(&mut self, handle: Handle) {
        if let Some(open) = self.files.get_mut(&handle) {
            // The library counts the blocks of an open file as used only while it has changes.
            open.file.flags |= LFS_F_DIRTY as u32;
        }
    }

    /// Changes the attribute that goes with the content.
    pub(crate) fn put_attribute(&mut self, handle: Handle, attribute: &Attribute) {
        if let Some(open) = self.files.get_mut(&handle) {
            open.attribute = *attribute;
            open.file.flags |= LFS_F_DIRTY as u32;
        }
    }

    /// Size of an open file in bytes.
    pub(crate) fn file_size(&mut self, handle: Handle) -> Result<u64> {
        let (state, open) = self.at(handle)?;
        check(lfs::lfs_file_size(state, &raw mut open.file)).map(u64::from)
    }

    /// Reads at `offset`; 0 is the end.
    ///
    /// # Errors
    /// EIO; ENOSPC when something is to be written first.
    pub(crate) fn read(&mut self, handle: Handle, offset: u64, into: &mut [u8]) -> Result<usize> {
        if offset >= self.file_size(handle)? {
            return Ok(0);
        }
        let (state, file) = self.seek(handle, offset)?;
        let count = check(lfs::lfs_file_read(state, file, into.as_mut_ptr().cast(), length(into.len())))?;
        Ok(count as usize)
    }

    /// Writes at `offset`, which is not beyond the end, and returns how much of it: less than all when the disk is full.
    ///
    /// # Errors
    /// ENOSPC when it was full before, EFBIG, EIO.
    pub(crate) fn write(&mut self, handle: Handle, offset: u64, bytes: &[u8]) -> Result<usize> {
        let (state, file) = self.seek(handle, offset)?;
        let result = check(lfs::lfs_file_write(state, file, bytes.as_ptr().cast(), length(bytes.len())));
        match result {
            Ok(count) => Ok(count as usize),
            Err(Errno::ENOSPC) => {
                // What came before the block that there was no room for is part of the file, and the position tells
                // how much that is.
                let position = check(lfs::lfs_file_tell(state, file)).map_or(offset, u64::from);
                let taken = position.saturating_sub(offset).min(bytes.len() as u64);
                if taken == 0 { Err(Errno::ENOSPC) } else { Ok(taken as usize) }
            }
            Err(errno) => Err(errno),
        }
    }

    /// Cuts a file to `size`, which is not beyond the end.
    ///
    /// # Errors
    /// ENOSPC, EIO.
    pub(crate) fn cut(&mut self, handle: Handle, size: u64) -> Result<()> {
        let size = u32::try_from(size).map_err(|_| Errno::EFBIG)?;
        let (state, open) = self.at(handle)?;
        check(lfs::lfs_file_truncate(state, &raw mut open.file, size)).map(drop)
    }

    fn seek(&mut self, handle: Handle, offset: u64) -> Result<(*mut lfs::Lfs, *mut lfs::LfsFile)> {
        let offset = i32::try_from(offset).map_err(|_| Errno::EFBIG)?;
        let (state, open) = self.at(handle)?;
        let file = &raw mut open.file;
        check(lfs::lfs_file_seek(state, file, offset, LFS_SEEK_SET))?;
        Ok((state, file))
    }

    fn at(&mut self, handle: Handle) -> Result<(*mut lfs::Lfs, &mut OpenFile)> {
        self.core.blocks.begin();
        let open = self.files.get_mut(&handle).ok_or(Errno::EBADF)?;
        Ok((&raw mut self.core.state, open))
    }
}

/// The library counts in 32 bits; the caller may get less than all.
fn length(bytes: usize) -> u32 {
    bytes.min(1 << 20) as u32
}
