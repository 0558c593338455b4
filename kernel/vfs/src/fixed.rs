//! A directory whose entries never change, such as `/dev`.

use alloc::sync::Arc;
use alloc::vec::Vec;

use askr_abi::Errno;

use crate::{DirEntry, Kind, Metadata, Place, Result, Vnode};

/// A read-only directory with the entries it was made with.
pub struct FixedDir {
    dev: u64,
    ino: u64,
    place: Place,
    entries: Vec<(&'static str, Arc<dyn Vnode>)>,
}

impl FixedDir {
    /// A directory with the numbers `dev` and `ino` at this place.
    #[must_use]
    pub const fn new(dev: u64, ino: u64, place: Place, entries: Vec<(&'static str, Arc<dyn Vnode>)>) -> Self {
        Self { dev, ino, place, entries }
    }
}

impl Vnode for FixedDir {
    fn kind(&self) -> Kind {
        Kind::Directory
    }

    fn metadata(&self) -> Result<Metadata> {
        Ok(Metadata::bare(Kind::Directory, 0o555, self.dev, self.ino))
    }

    fn place(&self) -> Result<Place> {
        Ok(self.place.clone())
    }

    fn lookup(&self, name: &[u8]) -> Result<Arc<dyn Vnode>> {
        let found = self.entries.iter().find(|(entry, _)| entry.as_bytes() == name);
        found.map(|(_, node)| Arc::clone(node)).ok_or(Errno::ENOENT)
    }

    fn read_dir(&self, cursor: u64, emit: &mut dyn FnMut(DirEntry<'_>) -> bool) -> Result<()> {
        let start = usize::try_from(cursor).unwrap_or(usize::MAX);
        for (index, (name, node)) in self.entries.iter().enumerate().skip(start) {
            let facts = node.metadata()?;
            let Metadata { ino, kind, .. } = facts;
            let next = index as u64 + 1;
            if !emit(DirEntry { name: name.as_bytes(), ino, kind, next, facts: Some(facts) }) {
                break;
            }
        }
        Ok(())
    }
}
