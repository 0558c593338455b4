//! The entries of a directory.

use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

use askr_abi::Errno;

use super::node::Node;
use crate::{DirEntry, Metadata, Result};

/// The entries of a directory by name, and in the order they came for listings: an entry keeps its place there
/// while others come and go.
pub(super) struct Directory {
    /// Its parent and its name there; none for the root.
    place: Option<(Weak<Node>, Vec<u8>)>,
    /// It has been removed but is still in use: nothing can be made in it.
    removed: bool,
    entries: BTreeMap<Vec<u8>, (u64, Arc<Node>)>,
    order: BTreeMap<u64, Vec<u8>>,
    next: u64,
}

impl Directory {
    pub(super) const fn new(place: Option<(Weak<Node>, Vec<u8>)>) -> Self {
        Self { place, removed: false, entries: BTreeMap::new(), order: BTreeMap::new(), next: 0 }
    }

    /// Where it is.
    pub(super) fn place(&self) -> Result<Option<(Arc<Node>, Vec<u8>)>> {
        if self.removed {
            return Err(Errno::ENOENT);
        }
        let Some((parent, name)) = &self.place else { return Ok(None) };
        Ok(Some((parent.upgrade().ok_or(Errno::ENOENT)?, name.clone())))
    }

    /// Says that it has been moved.
    pub(super) fn set_place(&mut self, parent: Weak<Node>, name: &[u8]) {
        self.place = Some((parent, name.to_vec()));
    }

    pub(super) fn get(&self, name: &[u8]) -> Result<&Arc<Node>> {
        self.entries.get(name).map(|(_, node)| node).ok_or(Errno::ENOENT)
    }

    /// Whether an entry of this name can be made.
    pub(super) fn check_free(&self, name: &[u8]) -> Result<()> {
        if self.removed {
            return Err(Errno::ENOENT);
        }
        if self.entries.contains_key(name) { Err(Errno::EEXIST) } else { Ok(()) }
    }

    /// Adds an entry, replacing one of the same name.
    pub(super) fn insert(&mut self, name: &[u8], node: Arc<Node>) {
        self.remove(name);
        self.order.insert(self.next, name.to_vec());
        self.entries.insert(name.to_vec(), (self.next, node));
        self.next += 1;
    }

    pub(super) fn remove(&mut self, name: &[u8]) -> Option<Arc<Node>> {
        let (place, node) = self.entries.remove(name)?;
        self.order.remove(&place);
        Some(node)
    }

    /// Marks an empty directory as removed.
    pub(super) fn retire(&mut self) -> Result<()> {
        if !self.entries.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.removed = true;
        Ok(())
    }

    pub(super) fn list(&self, cursor: u64, emit: &mut dyn FnMut(DirEntry<'_>) -> bool) {
        for (&place, name) in self.order.range(cursor..) {
            let Some((_, node)) = self.entries.get(name) else { continue };
            let facts = node.facts();
            let Metadata { ino, kind, .. } = facts;
            if !emit(DirEntry { name, ino, kind, next: place + 1, facts: Some(facts) }) {
                break;
            }
        }
    }
}
