//! What is done by path: looking, listing, making, moving and removing.

use alloc::vec::Vec;
use core::ffi::c_void;
use core::mem::MaybeUninit;

use askr_abi::Errno;
use littlefs_rust_core as lfs;
use littlefs_rust_core::lfs_type::lfs_type::{LFS_TYPE_DIR, LFS_TYPE_USERATTR};

use super::{Entry, Info, Littlefs, Path, check};
use crate::Result;
use crate::blocks::{BLOCK, Blocks};
use crate::facts::{ATTRIBUTE, Attribute};

impl Littlefs {
    /// The disk, unmounted; open files are lost.
    pub(crate) fn into_blocks(self) -> Blocks {
        self.core.blocks
    }

    /// Size of the file system in bytes.
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.core.state.block_count) * BLOCK as u64
    }

    /// Longest name in bytes.
    pub(crate) const fn name_max(&self) -> usize {
        self.core.state.name_max as usize
    }

    /// Largest file in bytes.
    pub(crate) const fn file_max(&self) -> u64 {
        self.core.state.file_max as u64
    }

    /// How often something was written to the disk: what is on it is the same as long as this is.
    pub(crate) fn writes(&self) -> u64 {
        self.core.blocks.writes()
    }

    /// Blocks in use. Looks at the whole file system if something was written since it was last asked for.
    ///
    /// # Errors
    /// EIO.
    pub(crate) fn used_blocks(&mut self) -> Result<u32> {
        let writes = self.writes();
        match self.used {
            Some((then, used)) if then == writes => Ok(used),
            _ => {
                let used = check(lfs::lfs_fs_size(self.begin()))?;
                self.used = Some((writes, used));
                Ok(used)
            }
        }
    }

    /// Returns after everything written is where a power cut cannot reach it.
    ///
    /// # Errors
    /// EIO.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.core.blocks.flush()
    }

    /// Finishes what a power cut interrupted, so that no later operation has to.
    ///
    /// # Errors
    /// EIO, ENOSPC.
    pub(crate) fn make_consistent(&mut self) -> Result<()> {
        check(lfs::lfs_fs_mkconsistent(self.begin())).map(drop)
    }

    /// What is at `path`.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, EIO.
    pub(crate) fn stat(&mut self, path: &Path) -> Result<Info> {
        let mut info = lfs::LfsInfo { type_: 0, size: 0, name: [0; 256] };
        check(lfs::lfs_stat(self.begin(), path.as_ptr(), &raw mut info))?;
        let attribute = self.attribute(path)?;
        Ok(Info { is_dir: u32::from(info.type_) == LFS_TYPE_DIR, size: u64::from(info.size), attribute })
    }

    fn attribute(&mut self, path: &Path) -> Result<Option<Attribute>> {
        let mut value = [0; Attribute::SIZE];
        let size = Attribute::SIZE as u32;
        let found = lfs::lfs_getattr(self.begin(), path.as_ptr(), ATTRIBUTE, value.as_mut_ptr().cast(), size);
        if found == lfs::LFS_ERR_NOATTR {
            return Ok(None);
        }
        Ok((check(found)? == size).then(|| Attribute::decode(&value)).flatten())
    }

    /// Sets the attribute of what is at `path` and is not open.
    ///
    /// # Errors
    /// ENOENT, ENOSPC, EIO.
    pub(crate) fn set_attribute(&mut self, path: &Path, attribute: &Attribute) -> Result<()> {
        let value = attribute.encode();
        let (bytes, size) = (value.as_ptr().cast::<c_void>(), Attribute::SIZE as u32);
        check(lfs::lfs_setattr(self.begin(), path.as_ptr(), ATTRIBUTE, bytes, size)).map(drop)
    }

    /// Makes an empty directory.
    ///
    /// # Errors
    /// EEXIST, ENOENT, ENOSPC, ENAMETOOLONG, EIO.
    pub(crate) fn mkdir(&mut self, path: &Path) -> Result<()> {
        check(lfs::lfs_mkdir(self.begin(), path.as_ptr())).map(drop)
    }

    /// Removes a file or an empty directory. The file must not be open, or has to be given to [`Self::detach`].
    ///
    /// # Errors
    /// ENOENT, ENOTEMPTY, ENOSPC, EIO.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<()> {
        check(lfs::lfs_remove(self.begin(), path.as_ptr())).map(drop)
    }

    /// Moves `old` to `new`, as one step. Neither may be open, except that what was at `new` can be given to
    /// [`Self::detach`].
    ///
    /// # Errors
    /// ENOENT, EISDIR, ENOTDIR, ENOTEMPTY, ENOSPC, ENAMETOOLONG, EIO.
    pub(crate) fn rename(&mut self, old: &Path, new: &Path) -> Result<()> {
        check(lfs::lfs_rename(self.begin(), old.as_ptr(), new.as_ptr())).map(drop)
    }

    /// The names in a directory.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, EIO; ENOMEM, since a directory may be larger than memory.
    pub(crate) fn list(&mut self, path: &Path) -> Result<Vec<Entry>> {
        // SAFETY: plain data, which `lfs_dir_open` fills.
        let mut dir: lfs::LfsDir = unsafe { MaybeUninit::zeroed().assume_init() };
        check(lfs::lfs_dir_open(self.begin(), &raw mut dir, path.as_ptr()))?;
        let mut entries = Vec::new();
        let listed = loop {
            let mut info = lfs::LfsInfo { type_: 0, size: 0, name: [0; 256] };
            match check(lfs::lfs_dir_read(&raw mut self.core.state, &raw mut dir, &raw mut info)) {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(errno) => break Err(errno),
            }
            let name = info.name.split(|&byte| byte == 0).next().unwrap_or_default();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let is_dir = u32::from(info.type_) == LFS_TYPE_DIR;
            // The entry that was read is the one before the position.
            let attribute = self.attribute_in(&dir.m, dir.id.wrapping_sub(1));
            let size = u64::from(info.size);
            let entry =
                attribute.and_then(|attribute| Ok(Entry { name: copy(name)?, is_dir, size, attribute }));
            match entry.and_then(|entry| push(&mut entries, entry)) {
                Ok(()) => {}
                Err(errno) => break Err(errno),
            }
        };
        let closed = check(lfs::lfs_dir_close(&raw mut self.core.state, &raw mut dir)).map(drop);
        listed.and(closed).map(|()| entries)
    }

    /// The attribute of the entry `id`, without a search for its name.
    fn attribute_in(&mut self, dir: &lfs::LfsMdir, id: u16) -> Result<Option<Attribute>> {
        let mut value = [0; Attribute::SIZE];
        let mask = lfs::lfs_mktag(0x7ff, 0x3ff, 0);
        let wanted = LFS_TYPE_USERATTR + u32::from(ATTRIBUTE);
        let tag = lfs::lfs_mktag(wanted, u32::from(id), Attribute::SIZE as u32);
        match check(lfs::lfs_dir_get(&raw mut self.core.state, dir, mask, tag, value.as_mut_ptr().cast())) {
            Ok(_) => Ok(Attribute::decode(&value)),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

pub(super) fn copy(name: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(name.len()).map_err(|_| Errno::ENOMEM)?;
    copy.extend_from_slice(name);
    Ok(copy)
}

fn push(entries: &mut Vec<Entry>, entry: Entry) -> Result<()> {
    entries.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
    entries.push(entry);
    Ok(())
}
