//! A node of the file system in memory.

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::any::Any;

use askr_abi::Errno;
use askr_abi::types::Timespec;
use spin::Mutex;

use super::Shared;
use super::budget::NODE_COST;
use super::content::Content;
use super::directory::Directory;
use crate::{DirEntry, Kind, Metadata, Result, Vnode};

pub(super) struct Node {
    fs: Arc<Shared>,
    this: Weak<Node>,
    ino: u64,
    mode: u32,
    body: Body,
    state: Mutex<State>,
}

pub(super) enum Body {
    File(Mutex<Content>),
    Directory(Mutex<Directory>),
    Symlink(Vec<u8>),
}

struct State {
    nlink: u32,
    mtime: Timespec,
    ctime: Timespec,
}

impl Body {
    pub(super) const fn borrowed(content: &'static [u8]) -> Self {
        Self::File(Mutex::new(Content::Borrowed(content)))
    }

    /// Bytes charged for it.
    fn charged(&self) -> u64 {
        match self {
            Self::File(content) => content.lock().charged(),
            Self::Directory(_) => 0,
            Self::Symlink(target) => target.len() as u64,
        }
    }
}

impl Node {
    /// The root of a new file system; it costs nothing.
    pub(super) fn root(fs: Arc<Shared>) -> Arc<Self> {
        let body = Body::Directory(Mutex::new(Directory::new(Weak::new())));
        Self::make(fs, 0o755, body, None)
    }

    fn make(fs: Arc<Shared>, mode: u32, body: Body, mtime: Option<Timespec>) -> Arc<Self> {
        let ctime = (fs.clock)();
        let state = Mutex::new(State { nlink: 1, mtime: mtime.unwrap_or(ctime), ctime });
        Arc::new_cyclic(|this| Self { ino: fs.ino(), fs, this: Weak::clone(this), mode, body, state })
    }

    pub(super) const fn ino(&self) -> u64 {
        self.ino
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.fs
    }

    /// The other node as one of this file system.
    pub(super) fn sibling<'a>(&self, other: &'a dyn Vnode) -> Option<&'a Self> {
        let other: &dyn Any = other;
        other.downcast_ref::<Self>().filter(|node| Arc::ptr_eq(&node.fs, &self.fs))
    }

    fn directory(&self) -> Result<&Mutex<Directory>> {
        match &self.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(Errno::ENOTDIR),
        }
    }

    fn content(&self) -> Result<&Mutex<Content>> {
        match &self.body {
            Body::File(content) => Ok(content),
            Body::Directory(_) => Err(Errno::EISDIR),
            Body::Symlink(_) => Err(Errno::EINVAL),
        }
    }

    fn touch(&self) {
        let now = (self.fs.clock)();
        let mut state = self.state.lock();
        (state.mtime, state.ctime) = (now, now);
    }

    /// Makes a node in this directory.
    pub(super) fn add(
        &self,
        name: &[u8],
        mode: u32,
        body: Body,
        mtime: Option<Timespec>,
    ) -> Result<Arc<dyn Vnode>> {
        let _tree = self.fs.tree.lock();
        let directory = self.directory()?;
        directory.lock().check_free(name)?;
        self.fs.budget.charge(NODE_COST + body.charged() + name.len() as u64)?;
        let node = Self::make(Arc::clone(&self.fs), mode, body, mtime);
        directory.lock().insert(name, Arc::clone(&node));
        self.touch();
        Ok(node)
    }

    /// Takes a name of this directory away from its node.
    fn drop_name(&self, name: &[u8]) -> Result<()> {
        let gone = self.directory()?.lock().remove(name);
        self.fs.budget.refund(name.len() as u64);
        if let Some(node) = gone {
            let mut state = node.state.lock();
            state.nlink = 0;
            state.ctime = (self.fs.clock)();
        }
        self.touch();
        Ok(())
    }

    /// Whether `self` is `other` or lies below it.
    fn is_within(&self, other: &Self) -> bool {
        let mut at = self.this.upgrade();
        // Goes up one directory a round; directories form a tree, so it ends at the root.
        while let Some(node) = at {
            if core::ptr::eq(&*node, other) {
                return true;
            }
            at = node.directory().ok().and_then(|directory| directory.lock().parent.upgrade());
        }
        false
    }

    /// Whether `node` may take the place of `old`; an old directory is marked as removed.
    fn make_way(node: &Self, old: &Self) -> Result<()> {
        match (node.kind(), old.kind()) {
            (Kind::Directory, Kind::Directory) => old.directory()?.lock().retire(),
            (Kind::Directory, _) => Err(Errno::ENOTDIR),
            (_, Kind::Directory) => Err(Errno::EISDIR),
            _ => Ok(()),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.fs.budget.refund(NODE_COST + self.body.charged());
    }
}

impl Vnode for Node {
    fn kind(&self) -> Kind {
        match self.body {
            Body::File(_) => Kind::File,
            Body::Directory(_) => Kind::Directory,
            Body::Symlink(_) => Kind::Symlink,
        }
    }

    fn metadata(&self) -> Result<Metadata> {
        let size = match &self.body {
            Body::File(content) => content.lock().bytes().len() as u64,
            Body::Directory(_) => 0,
            Body::Symlink(target) => target.len() as u64,
        };
        let state = self.state.lock();
        let bare = Metadata::bare(self.kind(), self.mode, self.fs.dev, self.ino);
        Ok(Metadata { size, nlink: state.nlink, mtime: state.mtime, ctime: state.ctime, ..bare })
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

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        Ok(self.content()?.lock().read_at(offset, into))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        self.content()?.lock().write_at(&self.fs.budget, offset, bytes)?;
        self.touch();
        Ok(bytes.len())
    }

    fn append(&self, bytes: &[u8]) -> Result<(usize, u64)> {
        let mut content = self.content()?.lock();
        let end = content.bytes().len() as u64;
        content.write_at(&self.fs.budget, end, bytes)?;
        drop(content);
        self.touch();
        Ok((bytes.len(), end + bytes.len() as u64))
    }

    fn truncate(&self, size: u64) -> Result<()> {
        self.content()?.lock().truncate(&self.fs.budget, size)?;
        self.touch();
        Ok(())
    }

    fn create(&self, name: &[u8], mode: u32) -> Result<Arc<dyn Vnode>> {
        self.add(name, mode, Body::borrowed(&[]), None)
    }

    fn mkdir(&self, name: &[u8], mode: u32) -> Result<Arc<dyn Vnode>> {
        self.add(name, mode, Body::Directory(Mutex::new(Directory::new(Weak::clone(&self.this)))), None)
    }

    fn symlink(&self, name: &[u8], target: &[u8]) -> Result<Arc<dyn Vnode>> {
        self.add(name, 0o777, Body::Symlink(target.to_vec()), None)
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

    fn rename(&self, old: &[u8], new_dir: &dyn Vnode, new: &[u8]) -> Result<()> {
        let new_dir = self.sibling(new_dir).ok_or(Errno::EXDEV)?;
        let _tree = self.fs.tree.lock();
        let node = self.directory()?.lock().get(old).map(Arc::clone)?;
        if node.kind() == Kind::Directory && new_dir.is_within(&node) {
            return Err(Errno::EINVAL);
        }
        let found = new_dir.directory()?.lock().get(new).map(Arc::clone);
        if found.as_ref().is_ok_and(|found| Arc::ptr_eq(found, &node)) {
            return Ok(());
        }
        if found.is_err() {
            new_dir.directory()?.lock().check_free(new)?;
        }
        self.fs.budget.charge(new.len() as u64)?;
        if let Ok(found) = found {
            Self::make_way(&node, &found).inspect_err(|_| self.fs.budget.refund(new.len() as u64))?;
            new_dir.drop_name(new)?;
        }
        self.directory()?.lock().remove(old);
        self.fs.budget.refund(old.len() as u64);
        if let Body::Directory(directory) = &node.body {
            directory.lock().parent = Weak::clone(&new_dir.this);
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
