//! A node of the disk: files, directories and symbolic links as the VFS knows them.

use alloc::sync::Arc;
use alloc::vec;
use core::any::Any;
use core::sync::atomic::{AtomicBool, Ordering};

use askr_abi::Errno;
use askr_vfs::{Kind, Vnode};
use spin::Mutex;

use crate::Result;
use crate::blocks::BLOCK;
use crate::facts::{Attribute, Facts};
use crate::fs::{Lock, Shared};
use crate::littlefs::{Handle, Path};
use crate::tree::{Dropped, Tree};

/// A node that is in use. It is the only one for its file.
pub(crate) struct Node<R: Lock> {
    pub(crate) shared: Arc<Shared<R>>,
    number: Dropped,
    /// Not under the lock of the file system, so that a look at them does not wait for the disk.
    pub(crate) facts: Mutex<Facts>,
    /// Whether something was written since it came into use.
    pub(crate) written: AtomicBool,
}

impl<R: Lock> Node<R> {
    pub(crate) fn new(shared: Arc<Shared<R>>, number: Dropped, facts: Facts) -> Self {
        Self { shared, number, facts: Mutex::new(facts), written: AtomicBool::new(false) }
    }

    pub(crate) const fn id(&self) -> u64 {
        self.number.0
    }

    pub(crate) fn facts(&self) -> Facts {
        *self.facts.lock()
    }

    pub(crate) fn set_unlinked(&self) {
        self.facts.lock().unlinked = true;
    }

    /// As this node, if the VFS gave one of this disk.
    pub(crate) fn of<'n>(&self, node: &'n dyn Vnode) -> Result<&'n Self> {
        let node = (node as &dyn Any).downcast_ref::<Self>().ok_or(Errno::EXDEV)?;
        if Arc::ptr_eq(&node.shared, &self.shared) { Ok(node) } else { Err(Errno::EXDEV) }
    }

    pub(crate) fn require_directory(&self) -> Result<()> {
        if self.facts().kind == Kind::Directory { Ok(()) } else { Err(Errno::ENOTDIR) }
    }

    pub(crate) fn require_file(&self) -> Result<()> {
        match self.facts().kind {
            Kind::File => Ok(()),
            Kind::Directory => Err(Errno::EISDIR),
            _ => Err(Errno::EINVAL),
        }
    }

    pub(crate) fn new_facts(&self, kind: Kind, mode: u32) -> Facts {
        let attribute = Attribute::new(kind, mode, self.shared.now());
        Facts::new(kind == Kind::Directory, 0, Some(attribute))
    }

    /// The entry of this name.
    pub(crate) fn lookup_node(&self, name: &[u8]) -> Result<Arc<Self>> {
        self.require_directory()?;
        self.shared.with(|tree| self.find(tree, name))
    }

    pub(crate) fn find(&self, tree: &mut Tree<R>, name: &[u8]) -> Result<Arc<Self>> {
        if let Some(node) = tree.known(self.id(), name) {
            return Ok(node);
        }
        if name.len() > tree.lfs.name_max() {
            return Err(Errno::ENAMETOOLONG);
        }
        let info = tree.look(self.id(), name)?;
        let facts = Facts::new(info.is_dir, info.size, info.attribute);
        let dir = tree.node(self.id())?;
        Ok(tree.add(Some((&dir, name)), |number| Self::new(self.shared.clone(), number, facts)))
    }

    /// Removes the name of `node`.
    pub(crate) fn remove(&self, name: &[u8], node: &Self) -> Result<()> {
        self.shared.attempt(|tree| {
            let path = tree.path(self.id(), Some(name))?;
            tree.before_unlink(node)?;
            tree.lfs.remove(&path)?;
            tree.after_unlink(node);
            Ok(())
        })
    }

    /// Notes what a change of the content has led to.
    pub(crate) fn changed(&self, tree: &mut Tree<R>, size: u64) {
        let now = (tree.hooks.clock)();
        let facts = {
            let mut facts = self.facts.lock();
            facts.size = size;
            facts.mtime = now;
            *facts
        };
        tree.set_dirty(self.id(), &facts);
        if !self.written.swap(true, Ordering::Relaxed) {
            (tree.hooks.wake)();
        }
    }

    /// Writes at `offset`, after zeros if that is beyond the end.
    pub(crate) fn write(&self, tree: &mut Tree<R>, offset: u64, bytes: &[u8]) -> Result<usize> {
        let handle = tree.handle(self.id(), &self.facts())?;
        if bytes.is_empty() {
            return Ok(0);
        }
        let room = tree.lfs.file_max().saturating_sub(offset).min(bytes.len() as u64) as usize;
        if room == 0 {
            return Err(Errno::EFBIG);
        }
        let size = self.facts().size;
        if offset > size {
            self.extend(tree, handle, size, offset)?;
        }
        let written = tree.lfs.write(handle, offset, &bytes[..room])?;
        if written == room {
            tree.written(written);
        }
        let end = offset + written as u64;
        self.changed(tree, end.max(size.max(offset)));
        Ok(written)
    }

    /// Puts zeros at the end. What does not fit leaves the file as it was.
    pub(crate) fn extend(&self, tree: &mut Tree<R>, handle: Handle, size: u64, to: u64) -> Result<()> {
        if to > tree.lfs.file_max() {
            return Err(Errno::EFBIG);
        }
        if to > tree.lfs.size() {
            return Err(Errno::ENOSPC);
        }
        let zeros = vec![0; BLOCK];
        let mut at = size;
        while at < to {
            let wanted = (to - at).min(BLOCK as u64) as usize;
            match tree.lfs.write(handle, at, &zeros[..wanted]) {
                Ok(count) => at += count as u64,
                Err(errno) => {
                    tree.lfs.cut(handle, size)?;
                    return Err(errno);
                }
            }
        }
        self.changed(tree, to);
        Ok(())
    }

    /// Adds a name with what is behind it to this directory.
    pub(crate) fn make(&self, name: &[u8], facts: Facts, content: Option<&[u8]>) -> Result<Arc<dyn Vnode>> {
        self.require_directory()?;
        self.shared.attempt(|tree| {
            let path = tree.path(self.id(), Some(name))?;
            if name.len() > tree.lfs.name_max() {
                return Err(Errno::ENAMETOOLONG);
            }
            if tree.known(self.id(), name).is_some() {
                return Err(Errno::EEXIST);
            }
            let is_dir = facts.kind == Kind::Directory;
            if is_dir {
                tree.lfs.mkdir(&path)?;
                if let Err(errno) = tree.lfs.set_attribute(&path, &facts.attribute()) {
                    // Without it the directory would have other rights than it was to have.
                    tree.lfs.remove(&path)?;
                    return Err(errno);
                }
                tree.written(0);
            } else {
                tree.require_open_room()?;
            }
            let dir = tree.node(self.id())?;
            let node = tree.add(Some((&dir, name)), |number| Self::new(self.shared.clone(), number, facts));
            if !is_dir {
                let made = tree.open_at(node.id(), &path, &facts, true).and_then(|_| match content {
                    Some(content) => node.fill(tree, content),
                    None => Ok(()),
                });
                if let Err(errno) = made {
                    node.undo(tree, &path, errno);
                    return Err(errno);
                }
                node.written.store(true, Ordering::Relaxed);
                (tree.hooks.wake)();
            }
            Ok(node as Arc<dyn Vnode>)
        })
    }

    /// Gives a new link its target.
    pub(crate) fn fill(&self, tree: &mut Tree<R>, content: &[u8]) -> Result<()> {
        if self.write(tree, 0, content)? < content.len() {
            return Err(Errno::ENOSPC);
        }
        tree.commit(self.id())
    }

    /// Takes a file away that could not be made as a whole. One that was there before stays.
    pub(crate) fn undo(&self, tree: &mut Tree<R>, path: &Path, errno: Errno) {
        tree.after_unlink(self);
        if errno != Errno::EEXIST {
            // Best effort: the first error is the one to tell.
            let _ = tree.lfs.remove(path);
        }
    }
}

impl<R: Lock> Drop for Node<R> {
    fn drop(&mut self) {
        self.shared.drop_node(self.number, self.written.load(Ordering::Relaxed));
    }
}
