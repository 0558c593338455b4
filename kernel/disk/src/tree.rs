//! Which nodes are in use, where they are in the tree, and which of them are open in littlefs. All of it is under the
//! one lock of the file system.
//!
//! littlefs names things by path, and a file that is opened twice there is two files. Here a node that is in use exists
//! once, so everybody who opened it sees the same, and it knows its place in the tree, so that a rename further up does
//! not matter to it.

use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

use askr_abi::Errno;
use askr_abi::types::Timespec;
use askr_vfs::Fullness;

use crate::Result;
use crate::facts::Facts;
use crate::fs::{Hooks, Lock};
use crate::listing::Listing;
use crate::littlefs::{Handle, Littlefs, Path};
use crate::node::Node;

/// Files of the disk that may be open at once; ENFILE.
pub(crate) const OPEN_MAX: usize = 256;
/// Number of the root directory.
pub(crate) const ROOT: u64 = 1;

/// The file system under its lock.
pub(crate) struct Tree<R: Lock> {
    pub(crate) lfs: Littlefs,
    pub(crate) hooks: Hooks,
    live: BTreeMap<u64, Live<R>>,
    /// Directory and name → number, of the nodes in use that have a name.
    names: BTreeMap<(u64, Vec<u8>), u64>,
    generation: u64,
    open: usize,
    fullness: Fullness,
    pub(crate) listing: Option<Listing>,
}

/// A node that is in use.
struct Live<R: Lock> {
    node: Weak<Node<R>>,
    generation: u64,
    /// Nothing for the root.
    parent: Option<Arc<Node<R>>>,
    name: Vec<u8>,
    /// Whether somebody opened it, and did not only look at it.
    opened: bool,
    unlinked: bool,
    handle: Option<Handle>,
    /// Since when there is something to write.
    dirty_since: Option<Timespec>,
    /// What went wrong when nobody was there to be told; the next `fsync` tells.
    error: Option<Errno>,
}

/// What the drop of a node leaves: its number, and which node of that number it was.
pub(crate) type Dropped = (u64, u64);

impl<R: Lock> Tree<R> {
    pub(crate) fn new(lfs: Littlefs, hooks: Hooks) -> Self {
        Self {
            lfs,
            hooks,
            live: BTreeMap::new(),
            names: BTreeMap::new(),
            generation: 0,
            open: 0,
            fullness: Fullness::Room,
            listing: None,
        }
    }

    /// Lets go of a node that nobody uses any more; what of it is still to be written is written.
    pub(crate) fn retire(&mut self, (id, generation): Dropped) {
        if self.live.get(&id).is_some_and(|live| live.generation == generation) {
            self.commit_quietly(id);
            self.close(id);
            self.take_name(id);
            self.live.remove(&id);
            // Another directory may get its number.
            self.listing.take_if(|listing| listing.is_of(id));
        }
    }

    /// Writes what is to be written; an error is reported, and kept for whoever asks next.
    fn commit_quietly(&mut self, id: u64) {
        let Err(errno) = self.commit(id) else { return };
        (self.hooks.lost)(&self.names_to(id).join(&b'/'), errno);
        if let Some(live) = self.live.get_mut(&id) {
            live.error = Some(errno);
            live.dirty_since = None;
        }
    }

    /// Makes what was written to a node what its name shows.
    pub(crate) fn commit(&mut self, id: u64) -> Result<()> {
        let Some(Live { handle: Some(handle), unlinked: false, .. }) = self.live.get(&id) else {
            return Ok(());
        };
        if self.lfs.is_dirty(*handle) {
            match self.lfs.sync(*handle) {
                Ok(()) => self.fullness.written(0),
                Err(Errno::ENOSPC) => {
                    self.refused();
                    return Err(Errno::ENOSPC);
                }
                Err(errno) => return Err(errno),
            }
        }
        if let Some(live) = self.live.get_mut(&id) {
            live.dirty_since = None;
        }
        Ok(())
    }

    /// There was no space for something.
    pub(crate) fn refused(&mut self) {
        if self.fullness.refused() {
            (self.hooks.full)();
        }
    }

    /// Something was written: see [`Fullness::written`].
    pub(crate) const fn written(&mut self, bytes: usize) {
        self.fullness.written(bytes as u64);
    }

    /// Bytes were given back.
    pub(crate) const fn released(&mut self, bytes: u64) {
        self.fullness.released(bytes);
    }

    /// As [`Self::commit`] for all nodes that have had something to write since `before`. Returns whether others are left.
    pub(crate) fn commit_all(&mut self, before: Timespec) -> bool {
        let dirty = self.live.iter().filter_map(|(&id, live)| Some((id, live.dirty_since?)));
        let (due, later): (Vec<_>, Vec<_>) =
            dirty.partition(|(_, since)| (since.sec, since.nsec) <= (before.sec, before.nsec));
        due.into_iter().for_each(|(id, _)| self.commit_quietly(id));
        !later.is_empty()
    }

    /// The error that nobody was told yet.
    pub(crate) fn take_error(&mut self, id: u64) -> Result<()> {
        self.live.get_mut(&id).and_then(|live| live.error.take()).map_or(Ok(()), Err)
    }

    fn close(&mut self, id: u64) {
        if let Some(handle) = self.live.get_mut(&id).and_then(|live| live.handle.take()) {
            self.lfs.close(handle);
            self.open -= 1;
        }
    }

    fn take_name(&mut self, id: u64) {
        if let Some((parent, name)) = self.place(id) {
            self.names.remove(&(parent.id(), name));
        }
    }

    /// Directory and name of a node; nothing for the root and for what has no name any more.
    pub(crate) fn place(&self, id: u64) -> Option<(Arc<Node<R>>, Vec<u8>)> {
        let live = self.live.get(&id).filter(|live| !live.unlinked)?;
        Some((live.parent.clone()?, live.name.clone()))
    }

    /// The names from the root to a node.
    fn names_to(&self, id: u64) -> Vec<&[u8]> {
        let mut names = Vec::new();
        let mut live = self.live.get(&id);
        while let Some(Live { parent: Some(parent), name, .. }) = live {
            names.push(&name[..]);
            live = self.live.get(&parent.id());
        }
        names.reverse();
        names
    }

    /// The path to a node, or to a name in it.
    ///
    /// # Errors
    /// ENOENT when it has been removed.
    pub(crate) fn path(&self, id: u64, name: Option<&[u8]>) -> Result<Path> {
        match self.live.get(&id) {
            Some(live) if !live.unlinked => Ok(Path::new(self.names_to(id).into_iter().chain(name))),
            _ => Err(Errno::ENOENT),
        }
    }

    /// The number that a name in a directory has or would get.
    pub(crate) fn number(&self, dir: u64, name: &[u8]) -> u64 {
        match self.names.get(&(dir, name.to_vec())) {
            Some(&id) => id,
            None => hash(self.names_to(dir).into_iter().chain([name])),
        }
    }

    /// The node of this name, if it is in use.
    pub(crate) fn known(&mut self, dir: u64, name: &[u8]) -> Option<Arc<Node<R>>> {
        let id = *self.names.get(&(dir, name.to_vec()))?;
        let live = self.live.get(&id)?;
        let node = live.node.upgrade();
        if node.is_none() {
            // It was dropped since the last look at those.
            self.retire((id, live.generation));
        }
        node
    }

    /// The node of this number, which is in use.
    ///
    /// # Errors
    /// ENOENT when it is not.
    pub(crate) fn node(&self, id: u64) -> Result<Arc<Node<R>>> {
        self.live.get(&id).and_then(|live| live.node.upgrade()).ok_or(Errno::ENOENT)
    }

    /// Adds a node that comes into use; `make` gets its number.
    pub(crate) fn add(
        &mut self,
        place: Option<(&Arc<Node<R>>, &[u8])>,
        make: impl FnOnce(Dropped) -> Node<R>,
    ) -> Arc<Node<R>> {
        let mut id = place.map_or(ROOT, |(dir, name)| self.number(dir.id(), name));
        // Another file may have been here, been moved and still be in use. At most as many rounds as there are nodes.
        while self.live.contains_key(&id) {
            id += 1;
        }
        self.generation += 1;
        let node = Arc::new(make((id, self.generation)));
        let (parent, name) =
            place.map_or((None, Vec::new()), |(dir, name)| (Some(dir.clone()), name.to_vec()));
        if let Some(parent) = &parent {
            self.names.insert((parent.id(), name.clone()), id);
        }
        let live = Live {
            node: Arc::downgrade(&node),
            generation: self.generation,
            parent,
            name,
            opened: false,
            unlinked: false,
            handle: None,
            dirty_since: None,
            error: None,
        };
        self.live.insert(id, live);
        node
    }

    /// The file of a node, opened in littlefs if it is not yet.
    ///
    /// # Errors
    /// ENFILE; ENOENT when it has been removed; EIO.
    pub(crate) fn handle(&mut self, id: u64, facts: &Facts) -> Result<Handle> {
        if let Some(handle) = self.live.get(&id).and_then(|live| live.handle) {
            return Ok(handle);
        }
        let path = self.path(id, None)?;
        self.open_at(id, &path, facts, false)
    }

    /// Whether a node is open in littlefs.
    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.live.get(&id).is_some_and(|live| live.handle.is_some())
    }

    /// As [`Self::handle`] for a file that is made with it.
    pub(crate) fn open_at(&mut self, id: u64, path: &Path, facts: &Facts, create: bool) -> Result<Handle> {
        self.require_open_room()?;
        let handle = self.lfs.open(path, &facts.attribute(), create)?;
        self.open += 1;
        if let Some(live) = self.live.get_mut(&id) {
            live.handle = Some(handle);
            live.dirty_since = create.then(|| (self.hooks.clock)());
        }
        Ok(handle)
    }

    /// # Errors
    /// ENFILE.
    pub(crate) fn require_open_room(&self) -> Result<()> {
        if self.open < OPEN_MAX { Ok(()) } else { Err(Errno::ENFILE) }
    }

    /// Notes that a node was opened.
    pub(crate) fn set_opened(&mut self, id: u64) {
        if let Some(live) = self.live.get_mut(&id) {
            live.opened = true;
        }
    }

    /// Notes that a node has something to write, and its new attribute.
    pub(crate) fn set_dirty(&mut self, id: u64, facts: &Facts) {
        let now = (self.hooks.clock)();
        let Some(live) = self.live.get_mut(&id) else { return };
        live.dirty_since.get_or_insert(now);
        if let Some(handle) = live.handle {
            self.lfs.put_attribute(handle, &facts.attribute());
        }
    }

    /// Before the name of a node goes: whoever has it open must be able to go on.
    pub(crate) fn before_unlink(&mut self, node: &Node<R>) -> Result<()> {
        let opened = self.live.get(&node.id()).is_some_and(|live| live.opened);
        if opened && node.facts().kind == askr_vfs::Kind::File {
            self.handle(node.id(), &node.facts())?;
        }
        Ok(())
    }

    /// After the name of a node has gone.
    pub(crate) fn after_unlink(&mut self, node: &Node<R>) {
        self.take_name(node.id());
        self.released(node.facts().size);
        node.set_unlinked();
        if let Some(live) = self.live.get_mut(&node.id()) {
            live.unlinked = true;
            live.dirty_since = None;
            if let Some(handle) = live.handle {
                self.lfs.detach(handle);
            }
        }
    }

    /// Before a node is moved: its file is written and closed, since littlefs would lose sight of it.
    pub(crate) fn before_move(&mut self, id: u64) -> Result<()> {
        self.commit(id)?;
        self.close(id);
        Ok(())
    }

    /// After a node was moved.
    pub(crate) fn after_move(&mut self, id: u64, dir: &Arc<Node<R>>, name: &[u8]) {
        self.take_name(id);
        self.names.insert((dir.id(), name.to_vec()), id);
        if let Some(live) = self.live.get_mut(&id) {
            live.parent = Some(dir.clone());
            live.name = name.to_vec();
        }
    }

    /// Whether `outer` is `inner` or a directory above it.
    pub(crate) fn contains(&self, outer: u64, inner: u64) -> bool {
        let mut at = Some(inner);
        while let Some(id) = at {
            if id == outer {
                return true;
            }
            at = self.live.get(&id).and_then(|live| live.parent.as_ref()).map(|parent| parent.id());
        }
        false
    }
}

/// A number for a path: the same as long as it is called so. FNV-1a, 62 bits.
pub(crate) fn hash<'a>(names: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for name in names {
        for &byte in name.iter().chain(b"/") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    // The multiplication spreads towards the top, so the lowest bits go; 0 and 1 are taken.
    (hash >> 2).max(ROOT + 1)
}
