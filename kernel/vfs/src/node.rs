//! What a node of a file system can do.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;

use askr_abi::Errno;

use crate::{Change, DirEntry, FsStat, Kind, Metadata, Place, Result};

/// A node of a file system. What a kind of node cannot do it leaves to the defaults, which say so with the
/// errno that Linux gives. Kernel code that needs more of a node (a terminal's `ioctl`, say) asks for the type
/// behind it: `Any` is a supertrait.
///
/// Names passed in are checked already ([`askr_core::path::check_name`]).
///
/// **Waiting.** Every method but [`Self::kind`] may wait for a medium, so callers hold no lock across a call and do not
/// rely on anything that they knew before it; a node does itself what has to be one step. The streams (terminal, pipes)
/// never wait: they say EAGAIN.
///
/// **Life.** A node lives as long as somebody has it: as working directory, as open file, or for the time of a call. One
/// that has lost its last name is used on until then; what it takes is given back when it is dropped. Dropping may wait
/// too.
pub trait Vnode: Any + Send + Sync {
    /// What it is. It never changes, and saying so never waits.
    fn kind(&self) -> Kind;

    /// What is known about it.
    ///
    /// # Errors
    /// EIO when the medium fails.
    fn metadata(&self) -> Result<Metadata>;

    /// Where a directory is now: its parent and its name there change with a rename.
    ///
    /// # Errors
    /// ENOENT when it has been removed; ENOTDIR when this is no directory.
    fn place(&self) -> Result<Place> {
        Err(Errno::ENOTDIR)
    }

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

    /// Whether its content is simply there: reading it never waits, and costs the same in small pieces.
    fn is_in_memory(&self) -> bool {
        false
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

    /// Changes what is known about it.
    ///
    /// # Errors
    /// EPERM when that is fixed; EROFS; ENOSPC.
    fn change(&self, _change: &Change) -> Result<()> {
        Err(Errno::EPERM)
    }

    /// Called when a description of it that may have written is closed: what was written becomes what its name
    /// shows, and an error that came of it is told now, if it was not told before.
    ///
    /// # Errors
    /// ENOSPC, EIO.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Returns after everything written is where a power cut cannot reach it; of a directory, its entries.
    ///
    /// # Errors
    /// EIO when the medium fails.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    /// As [`Self::sync`], for the whole file system that it is on.
    ///
    /// # Errors
    /// EIO when the medium fails.
    fn sync_all(&self) -> Result<()> {
        Ok(())
    }

    /// What is known about the file system that it is on.
    ///
    /// # Errors
    /// EIO when the medium fails.
    fn statfs(&self) -> Result<FsStat> {
        Ok(FsStat::default())
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

    /// Gives `node`, which is no directory, another name.
    ///
    /// # Errors
    /// As [`Self::create`]; EXDEV (another file system), EMLINK, EPERM (not possible here), ENOENT when `node` has no name
    /// any more.
    fn link(&self, _name: &[u8], _node: &dyn Vnode) -> Result<()> {
        Err(if self.kind() == Kind::Directory { Errno::EPERM } else { Errno::ENOTDIR })
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

    /// Moves the entry `old` to `new` in `new_dir`, as one step; what was there is replaced, unless `replace` is false.
    /// Two names of one node stay as they are.
    ///
    /// # Errors
    /// EEXIST (not to be replaced), ENOENT, EXDEV (another file system), EINVAL (a directory into itself), ENOTDIR, EISDIR, ENOTEMPTY,
    /// EROFS.
    fn rename(&self, _old: &[u8], _new_dir: &dyn Vnode, _new: &[u8], _replace: bool) -> Result<()> {
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
        if self.kind() == Kind::Directory { Errno::EISDIR } else { Errno::EINVAL }
    }

    /// The refusal of changing the content of what takes none.
    #[doc(hidden)]
    fn read_only_file(&self) -> Errno {
        match self.kind() {
            Kind::Directory => Errno::EISDIR,
            Kind::File => Errno::EROFS,
            _ => Errno::EINVAL,
        }
    }

    /// The refusal of changing entries where there are none or they are fixed.
    #[doc(hidden)]
    fn read_only_dir(&self) -> Errno {
        if self.kind() == Kind::Directory { Errno::EROFS } else { Errno::ENOTDIR }
    }
}

impl core::fmt::Debug for dyn Vnode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.kind().fmt(f)
    }
}
