//! The calls of the VFS.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;

use askr_abi::Errno;
use askr_vfs::{Change, DirEntry, FsStat, Kind, Metadata, Place, Vnode};

use crate::Result;
use crate::blocks::BLOCK;
use crate::facts::Facts;
use crate::fs::Lock;
use crate::node::Node;
use crate::tree::{ROOT, Tree};

/// Longest target of a symbolic link that is read.
const LINK_MAX: u64 = 4096;
/// What `statfs` calls it: "lfs" and the major version, as there is no number of Linux's for littlefs.
const MAGIC: u64 = 0x0273_666c;

impl<R: Lock> Vnode for Node<R> {
    fn kind(&self) -> Kind {
        self.facts().kind
    }

    fn metadata(&self) -> Result<Metadata> {
        let facts = self.facts();
        Ok(facts.metadata(self.shared.dev, self.id()))
    }

    fn place(&self) -> Result<Place> {
        self.require_directory()?;
        self.shared.with(|tree| {
            if self.id() == ROOT {
                return Ok(Place::Root);
            }
            let (parent, name) = tree.place(self.id()).ok_or(Errno::ENOENT)?;
            Ok(Place::In { parent, name })
        })
    }

    fn open(&self) -> Result<Option<Arc<dyn Vnode>>> {
        if self.facts().kind == Kind::File {
            self.shared.with(|tree| {
                tree.handle(self.id(), &self.facts())?;
                tree.set_opened(self.id());
                Ok(())
            })?;
        }
        Ok(None)
    }

    fn lookup(&self, name: &[u8]) -> Result<Arc<dyn Vnode>> {
        Ok(self.lookup_node(name)?)
    }

    fn read_dir(&self, cursor: u64, emit: &mut dyn FnMut(DirEntry<'_>) -> bool) -> Result<()> {
        self.require_directory()?;
        let mut cursor = cursor;
        // Places only go up, and the names in a directory are as many as its blocks have room for.
        loop {
            let page = self.shared.with(|tree| {
                let mut page = Vec::new();
                for (place, entry) in tree.page(self.id(), cursor)? {
                    let ino = tree.number(self.id(), &entry.name);
                    // One that is in use may know better what was not written yet.
                    let facts = tree.known(self.id(), &entry.name).map(|node| node.facts());
                    let facts =
                        facts.unwrap_or_else(|| Facts::new(entry.is_dir, entry.size, entry.attribute));
                    page.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
                    page.push((place, entry.name, facts.metadata(self.shared.dev, ino)));
                }
                Ok::<_, Errno>(page)
            })?;
            let Some((last, ..)) = page.last() else { break };
            cursor = last + 1;
            for (place, name, facts) in &page {
                let Metadata { ino, kind, .. } = *facts;
                if !emit(DirEntry { name, ino, kind, next: place + 1, facts: Some(*facts) }) {
                    return Ok(());
                }
            }
        }
        self.shared.with(Tree::forget_listing);
        Ok(())
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        self.require_file()?;
        self.shared.with(|tree| {
            let handle = tree.handle(self.id(), &self.facts())?;
            tree.lfs.read(handle, offset, into)
        })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        self.require_file()?;
        self.shared.attempt(|tree| self.write(tree, offset, bytes))
    }

    fn append(&self, bytes: &[u8]) -> Result<(usize, u64)> {
        self.require_file()?;
        self.shared.attempt(|tree| {
            let count = self.write(tree, self.facts().size, bytes)?;
            Ok((count, self.facts().size))
        })
    }

    fn truncate(&self, size: u64) -> Result<()> {
        self.require_file()?;
        self.shared.attempt(|tree| {
            let handle = tree.handle(self.id(), &self.facts())?;
            let before = self.facts().size;
            if size > before {
                return self.extend(tree, handle, before, size);
            }
            if size < before {
                tree.lfs.cut(handle, size)?;
                tree.released(before - size);
            }
            self.changed(tree, size);
            Ok(())
        })
    }

    fn change(&self, change: &Change) -> Result<()> {
        let mut facts = self.facts();
        facts.mode = change.mode.map_or(facts.mode, |mode| (mode & 0o7777) as u16);
        facts.mtime = change.mtime.unwrap_or(facts.mtime);
        self.shared.attempt(|tree| {
            if facts.kind == Kind::Directory || !tree.is_open(self.id()) {
                // The root's are not kept: littlefs has its own things there.
                if self.id() != ROOT {
                    let path = tree.path(self.id(), None)?;
                    tree.lfs.set_attribute(&path, &facts.attribute())?;
                }
            } else {
                tree.set_dirty(self.id(), &facts);
                self.written.store(true, Ordering::Relaxed);
                (tree.hooks.wake)();
            }
            let mut own = self.facts.lock();
            (own.mode, own.mtime) = (facts.mode, facts.mtime);
            Ok(())
        })
    }

    fn sync_all(&self) -> Result<()> {
        self.shared.sync()
    }

    fn statfs(&self) -> Result<FsStat> {
        self.shared.with(|tree| {
            let used = tree.lfs.used_blocks()?;
            let blocks = tree.lfs.size() / BLOCK as u64;
            let free = blocks.saturating_sub(u64::from(used));
            Ok(FsStat { magic: MAGIC, block_size: BLOCK as u64, blocks, free, writable: true })
        })
    }

    fn flush(&self) -> Result<()> {
        self.shared.with(|tree| {
            tree.commit(self.id())?;
            tree.take_error(self.id())
        })
    }

    fn sync(&self) -> Result<()> {
        self.shared.with(|tree| {
            tree.commit(self.id())?;
            tree.lfs.flush()?;
            tree.take_error(self.id())
        })
    }

    fn create(&self, name: &[u8], mode: u32) -> Result<Arc<dyn Vnode>> {
        self.make(name, self.new_facts(Kind::File, mode), None)
    }

    fn mkdir(&self, name: &[u8], mode: u32) -> Result<Arc<dyn Vnode>> {
        self.make(name, self.new_facts(Kind::Directory, mode), None)
    }

    fn symlink(&self, name: &[u8], target: &[u8]) -> Result<Arc<dyn Vnode>> {
        self.make(name, self.new_facts(Kind::Symlink, 0o777), Some(target))
    }

    fn unlink(&self, name: &[u8]) -> Result<()> {
        let node = self.lookup_node(name)?;
        if node.facts().kind == Kind::Directory {
            return Err(Errno::EISDIR);
        }
        self.remove(name, &node)
    }

    fn rmdir(&self, name: &[u8]) -> Result<()> {
        let node = self.lookup_node(name)?;
        node.require_directory()?;
        self.remove(name, &node)
    }

    fn rename(&self, old: &[u8], new_dir: &dyn Vnode, new: &[u8], replace: bool) -> Result<()> {
        let new_dir = self.of(new_dir)?;
        new_dir.require_directory()?;
        let node = self.lookup_node(old)?;
        let replaced = match new_dir.lookup_node(new) {
            Ok(replaced) => Some(replaced),
            Err(Errno::ENOENT) => None,
            Err(errno) => return Err(errno),
        };
        if replaced.is_some() && !replace {
            return Err(Errno::EEXIST);
        }
        if replaced.as_ref().is_some_and(|replaced| replaced.id() == node.id()) {
            return Ok(());
        }
        let is_dir = |node: &Self| node.facts().kind == Kind::Directory;
        match &replaced {
            Some(replaced) if is_dir(&node) && !is_dir(replaced) => return Err(Errno::ENOTDIR),
            Some(replaced) if !is_dir(&node) && is_dir(replaced) => return Err(Errno::EISDIR),
            _ => {}
        }
        self.shared.attempt(|tree| {
            if tree.contains(node.id(), new_dir.id()) {
                return Err(Errno::EINVAL);
            }
            let (from, to) = (tree.path(self.id(), Some(old))?, tree.path(new_dir.id(), Some(new))?);
            tree.before_move(node.id())?;
            if let Some(replaced) = &replaced {
                tree.before_unlink(replaced)?;
            }
            tree.lfs.rename(&from, &to)?;
            if let Some(replaced) = &replaced {
                tree.after_unlink(replaced);
            }
            let dir = tree.node(new_dir.id())?;
            tree.after_move(node.id(), &dir, new);
            Ok(())
        })
    }

    fn read_link(&self) -> Result<Vec<u8>> {
        let facts = self.facts();
        if facts.kind != Kind::Symlink {
            return Err(Errno::EINVAL);
        }
        let mut target = vec![0; facts.size.min(LINK_MAX) as usize];
        let count = self.shared.with(|tree| {
            let handle = tree.handle(self.id(), &facts)?;
            tree.lfs.read(handle, 0, &mut target)
        })?;
        target.truncate(count);
        Ok(target)
    }
}
