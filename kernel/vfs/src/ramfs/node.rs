//! A node of the file system in memory.

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::any::Any;

use askr_abi::Errno;
use askr_abi::types::Timespec;
use spin::Mutex;

use super::Shared;
use super::budget::{NODE_COST, cost_of_name};
use super::content::Content;
use super::directory::Directory;
use crate::{Change, Kind, Metadata, Result, Vnode};

pub(super) struct Node {
    pub(super) fs: Arc<Shared>,
    pub(super) this: Weak<Node>,
    ino: u64,
    pub(super) body: Body,
    state: Mutex<State>,
}

pub(super) enum Body {
    File(Mutex<Content>),
    Directory(Mutex<Directory>),
    Symlink(Vec<u8>),
}

struct State {
    mode: u32,
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
        let body = Body::Directory(Mutex::new(Directory::new(None)));
        Self::make(fs, 0o755, body, None)
    }

    fn make(fs: Arc<Shared>, mode: u32, body: Body, mtime: Option<Timespec>) -> Arc<Self> {
        let ctime = (fs.clock)();
        let state = Mutex::new(State { mode, nlink: 1, mtime: mtime.unwrap_or(ctime), ctime });
        Arc::new_cyclic(|this| Self { ino: fs.ino(), fs, this: Weak::clone(this), body, state })
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.fs
    }

    /// The other node as one of this file system.
    pub(super) fn sibling<'a>(&self, other: &'a dyn Vnode) -> Option<&'a Self> {
        let other: &dyn Any = other;
        other.downcast_ref::<Self>().filter(|node| Arc::ptr_eq(&node.fs, &self.fs))
    }

    pub(super) fn directory(&self) -> Result<&Mutex<Directory>> {
        match &self.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(Errno::ENOTDIR),
        }
    }

    pub(super) fn content(&self) -> Result<&Mutex<Content>> {
        match &self.body {
            Body::File(content) => Ok(content),
            Body::Directory(_) => Err(Errno::EISDIR),
            Body::Symlink(_) => Err(Errno::EINVAL),
        }
    }

    pub(super) fn touch(&self) {
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
        self.fs.budget.charge(NODE_COST + body.charged() + cost_of_name(name))?;
        let node = Self::make(Arc::clone(&self.fs), mode, body, mtime);
        directory.lock().insert(name, Arc::clone(&node));
        self.touch();
        Ok(node)
    }

    pub(super) fn facts(&self) -> Metadata {
        let size = match &self.body {
            Body::File(content) => content.lock().bytes().len() as u64,
            Body::Directory(_) => 0,
            Body::Symlink(target) => target.len() as u64,
        };
        let state = self.state.lock();
        let bare = Metadata::bare(self.kind(), state.mode, self.fs.dev, self.ino);
        Metadata { size, nlink: state.nlink, mtime: state.mtime, ctime: state.ctime, ..bare }
    }

    pub(super) fn apply(&self, change: &Change) {
        let now = (self.fs.clock)();
        let mut state = self.state.lock();
        state.mode = change.mode.map_or(state.mode, |mode| mode & 0o7777);
        state.mtime = change.mtime.unwrap_or(state.mtime);
        state.ctime = now;
    }

    /// Gives it another name in `directory`.
    pub(super) fn add_name(&self, directory: &Self, name: &[u8]) -> Result<()> {
        let this = self.this.upgrade().ok_or(Errno::ENOENT)?;
        directory.directory()?.lock().check_free(name)?;
        let now = (self.fs.clock)();
        let mut state = self.state.lock();
        let nlink = match state.nlink {
            0 => return Err(Errno::ENOENT),
            nlink => nlink.checked_add(1).ok_or(Errno::EMLINK)?,
        };
        self.fs.budget.charge(cost_of_name(name))?;
        (state.nlink, state.ctime) = (nlink, now);
        drop(state);
        directory.directory()?.lock().insert(name, this);
        directory.touch();
        Ok(())
    }

    /// Takes a name of this directory away from its node.
    pub(super) fn drop_name(&self, name: &[u8]) -> Result<()> {
        let gone = self.directory()?.lock().remove(name);
        self.fs.budget.refund(cost_of_name(name));
        if let Some(node) = gone {
            let mut state = node.state.lock();
            state.nlink = state.nlink.saturating_sub(1);
            state.ctime = (self.fs.clock)();
        }
        self.touch();
        Ok(())
    }

    /// Whether `self` is `other` or lies below it.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let mut at = self.this.upgrade();
        // Goes up one directory a round; directories form a tree, so it ends at the root.
        while let Some(node) = at {
            if core::ptr::eq(&*node, other) {
                return true;
            }
            let place = node.directory().and_then(|directory| directory.lock().place());
            at = place.ok().flatten().map(|(parent, _)| parent);
        }
        false
    }

    /// Whether `node` may take the place of `old`; an old directory is marked as removed.
    pub(super) fn make_way(node: &Self, old: &Self) -> Result<()> {
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
