//! What a node of the file system in memory can do.

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

use askr_abi::Errno;
use spin::Mutex;

use super::Usage;
use super::budget::cost_of_name;
use super::directory::Directory;
use super::node::{Body, Node};
use crate::{Change, DirEntry, FsStat, Kind, Metadata, Place, Result, Vnode};

/// The number by which `statfs(2)` knows a file system in memory (`TMPFS_MAGIC`).
const TMPFS_MAGIC: u64 = 0x0102_1994;
/// Unit in which `statfs(2)` tells sizes.
const BLOCK: u64 = 4096;

impl Vnode for Node {
    fn kind(&self) -> Kind {
        match self.body {
            Body::File(_) => Kind::File,
            Body::Directory(_) => Kind::Directory,
            Body::Symlink(_) => Kind::Symlink,
        }
    }

    fn metadata(&self) -> Result<Metadata> {
        Ok(self.facts())
    }

    fn place(&self) -> Result<Place> {
        let _tree = self.fs.tree.lock();
        let place = self.directory()?.lock().place()?;
        Ok(place.map_or(Place::Root, |(parent, name)| Place::In { parent, name }))
    }

    fn change(&self, change: &Change) -> Result<()> {
        self.apply(change);
        Ok(())
    }

    fn statfs(&self) -> Result<FsStat> {
        let Usage { used, limit } = self.fs.budget.usage();
        Ok(FsStat {
            magic: TMPFS_MAGIC,
            block_size: BLOCK,
            blocks: limit / BLOCK,
            free: limit.saturating_sub(used) / BLOCK,
            writable: true,
        })
    }

    fn lookup(&self, name: &[u8]) -> Result<Arc<dyn Vnode>> {
        let _tree = self.fs.tree.lock();
        let node = self.directory()?.lock().get(name).map(Arc::clone)?;
        Ok(node)
    }

    fn read_dir(&self, cursor: u64, emit: &mut dyn FnMut(DirEntry<'_>) -> bool) -> Result<()> {
        let _tree = self.fs.tree.lock();
        self.directory()?.lock().list(cursor, emit);
        Ok(())
    }

    fn is_in_memory(&self) -> bool {
        true
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        Ok(self.content()?.lock().read_at(offset, into))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        let written = self.content()?.lock().write_at(&self.fs.budget, offset, bytes);
        self.fs.noted(written, |()| bytes.len())?;
        self.touch();
        Ok(bytes.len())
    }

    fn append(&self, bytes: &[u8]) -> Result<(usize, u64)> {
        let mut content = self.content()?.lock();
        let end = content.bytes().len() as u64;
        let written = content.write_at(&self.fs.budget, end, bytes);
        drop(content);
        self.fs.noted(written, |()| bytes.len())?;
        self.touch();
        Ok((bytes.len(), end + bytes.len() as u64))
    }

    fn truncate(&self, size: u64) -> Result<()> {
        let truncated = self.content()?.lock().truncate(&self.fs.budget, size);
        self.fs.noted(truncated, |()| 0)?;
        self.touch();
        Ok(())
    }

    fn create(&self, name: &[u8], mode: u32) -> Result<Arc<dyn Vnode>> {
        self.fs.noted(self.add(name, mode, Body::borrowed(&[]), None), |_| 0)
    }

    fn mkdir(&self, name: &[u8], mode: u32) -> Result<Arc<dyn Vnode>> {
        let place = Some((Weak::clone(&self.this), name.to_vec()));
        let body = Body::Directory(Mutex::new(Directory::new(place)));
        self.fs.noted(self.add(name, mode, body, None), |_| 0)
    }

    fn symlink(&self, name: &[u8], target: &[u8]) -> Result<Arc<dyn Vnode>> {
        self.fs.noted(self.add(name, 0o777, Body::Symlink(target.to_vec()), None), |_| 0)
    }

    fn link(&self, name: &[u8], node: &dyn Vnode) -> Result<()> {
        let node = self.sibling(node).ok_or(Errno::EXDEV)?;
        let _tree = self.fs.tree.lock();
        if node.kind() == Kind::Directory {
            return Err(Errno::EPERM);
        }
        self.fs.noted(node.add_name(self, name), |()| 0)
    }

    fn unlink(&self, name: &[u8]) -> Result<()> {
        let _tree = self.fs.tree.lock();
        if self.directory()?.lock().get(name)?.kind() == Kind::Directory {
            return Err(Errno::EISDIR);
        }
        self.drop_name(name)
    }

    fn rmdir(&self, name: &[u8]) -> Result<()> {
        let _tree = self.fs.tree.lock();
        let node = self.directory()?.lock().get(name).map(Arc::clone)?;
        node.directory()?.lock().retire()?;
        self.drop_name(name)
    }

    fn rename(&self, old: &[u8], new_dir: &dyn Vnode, new: &[u8], replace: bool) -> Result<()> {
        let new_dir = self.sibling(new_dir).ok_or(Errno::EXDEV)?;
        let _tree = self.fs.tree.lock();
        let node = self.directory()?.lock().get(old).map(Arc::clone)?;
        if node.kind() == Kind::Directory && new_dir.is_within(&node) {
            return Err(Errno::EINVAL);
        }
        let found = new_dir.directory()?.lock().get(new).map(Arc::clone);
        if found.is_ok() && !replace {
            return Err(Errno::EEXIST);
        }
        if found.as_ref().is_ok_and(|found| Arc::ptr_eq(found, &node)) {
            return Ok(());
        }
        if found.is_err() {
            new_dir.directory()?.lock().check_free(new)?;
        }
        self.fs.noted(self.fs.budget.charge(cost_of_name(new)), |()| 0)?;
        if let Ok(found) = found {
            Self::make_way(&node, &found).inspect_err(|_| self.fs.budget.refund(cost_of_name(new)))?;
            new_dir.drop_name(new)?;
        }
        self.directory()?.lock().remove(old);
        self.fs.budget.refund(cost_of_name(old));
        if let Body::Directory(directory) = &node.body {
            directory.lock().set_place(Weak::clone(&new_dir.this), new);
        }
        new_dir.directory()?.lock().insert(new, node);
        self.touch();
        new_dir.touch();
        Ok(())
    }

    fn read_link(&self) -> Result<Vec<u8>> {
        match &self.body {
            Body::Symlink(target) => Ok(target.clone()),
            _ => Err(Errno::EINVAL),
        }
    }
}
