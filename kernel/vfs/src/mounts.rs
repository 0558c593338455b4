//! Which file system is where.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use askr_abi::Errno;
use askr_core::path;
use spin::RwLock;

use crate::{Result, Vnode};

/// Most mounts.
pub const MOUNTS_MAX: usize = 32;

/// A file system in the tree.
#[derive(Clone, Debug)]
pub struct Mount {
    /// Name of the kind of file system, such as `ramfs`.
    pub name: &'static str,
    /// Its root directory.
    pub root: Arc<dyn Vnode>,
    /// Its number (`st_dev`).
    pub dev: u64,
    /// The directory that holds the mount point; none for the root of the tree.
    pub(crate) above: Option<Arc<dyn Vnode>>,
}

/// Canonical path of the mount point → what is mounted there. A mount point can be neither moved nor removed, so these
/// paths hold for good. No node is asked for anything under the lock.
#[derive(Debug)]
pub(crate) struct Mounts(RwLock<BTreeMap<Vec<u8>, Mount>>);

impl Mounts {
    pub(crate) fn new(root: Mount) -> Self {
        Self(RwLock::new(BTreeMap::from([(b"/".to_vec(), root)])))
    }

    /// # Errors
    /// EBUSY when something is mounted there, the file system is mounted elsewhere, or [`MOUNTS_MAX`] is reached.
    pub(crate) fn add(&self, path: Vec<u8>, mount: Mount) -> Result<()> {
        let mut mounts = self.0.write();
        let known = mounts.values().any(|other| other.dev == mount.dev);
        if known || mounts.len() >= MOUNTS_MAX || mounts.contains_key(&path) {
            return Err(Errno::EBUSY);
        }
        mounts.insert(path, mount);
        Ok(())
    }

    pub(crate) fn list(&self) -> Vec<(Vec<u8>, Mount)> {
        self.0.read().iter().map(|(path, mount)| (path.clone(), mount.clone())).collect()
    }

    /// The root of what is mounted at `path`.
    pub(crate) fn at(&self, path: &[u8]) -> Option<Arc<dyn Vnode>> {
        self.0.read().get(path).map(|mount| Arc::clone(&mount.root))
    }

    /// Where the file system with this number is.
    pub(crate) fn of(&self, dev: u64) -> Option<(Vec<u8>, Mount)> {
        let mounts = self.0.read();
        let found = mounts.iter().find(|(_, mount)| mount.dev == dev);
        found.map(|(path, mount)| (path.clone(), mount.clone()))
    }

    /// Whether something is mounted at `path` or below it.
    pub(crate) fn within(&self, path: &[u8]) -> bool {
        self.0.read().keys().any(|point| path::is_within(point, path))
    }
}
