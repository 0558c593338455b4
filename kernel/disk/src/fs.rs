//! A mounted disk.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use askr_abi::Errno;
use askr_abi::types::Timespec;
use askr_vfs::{Kind, Vnode};
use lock_api::{Mutex, RawMutex};

use crate::Result;
use crate::blocks::{BlockDevice, Blocks};
use crate::facts::{Attribute, Facts};
use crate::littlefs::Littlefs;
use crate::node::Node;
use crate::tree::{Dropped, Tree};

/// The lock around a file system: whoever waits for it lets others run.
pub trait Lock: RawMutex + Send + Sync + 'static {}

impl<R: RawMutex + Send + Sync + 'static> Lock for R {}

/// What a file system needs to know from outside, and tells.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// Tells the time of day.
    pub clock: fn() -> Timespec,
    /// There is something to write that nobody waits for: [`DiskFs::write_back`] wants to be called soon. Called from
    /// anywhere, also while the file system is locked.
    pub wake: fn(),
    /// What was written to the file of this path (without its first slash) is lost, and nobody else was told.
    pub lost: fn(&[u8], Errno),
    /// It has become full: told once, until there was room again. Called while the file system is locked.
    pub full: fn(),
    /// Blocks that it may keep in memory. Directories that are larger than this are read from the disk at every look.
    pub cached_blocks: usize,
}

/// A mounted disk.
pub struct DiskFs<R: Lock> {
    shared: Arc<Shared<R>>,
    root: Arc<Node<R>>,
}

/// What all nodes of one disk share.
pub(crate) struct Shared<R: Lock> {
    pub(crate) dev: u64,
    hooks: Hooks,
    tree: Mutex<R, Tree<R>>,
    /// Nodes that nobody uses any more and that the tree does not know of yet: a drop must not wait for the disk.
    dropped: spin::Mutex<Vec<Dropped>>,
}

impl<R: Lock> Shared<R> {
    /// Does an operation, with the lock. Other tasks run while the disk works.
    pub(crate) fn with<T>(&self, operation: impl FnOnce(&mut Tree<R>) -> T) -> T {
        let mut tree = self.tree.lock();
        // First what came before it. A node that goes may be the last to use its directory; there are as many rounds
        // as levels at most.
        loop {
            let dropped = core::mem::take(&mut *self.dropped.lock());
            if dropped.is_empty() {
                break;
            }
            dropped.into_iter().for_each(|one| tree.retire(one));
        }
        operation(&mut tree)
    }

    /// As [`Self::with`], for an operation that may find no space.
    pub(crate) fn attempt<T>(&self, operation: impl FnOnce(&mut Tree<R>) -> Result<T>) -> Result<T> {
        self.with(|tree| {
            let result = operation(tree);
            if let Err(Errno::ENOSPC) = result {
                tree.refused();
            }
            result
        })
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.with(|tree| {
            tree.commit_all(Timespec { sec: i64::MAX, nsec: 0 });
            tree.lfs.flush()
        })
    }

    pub(crate) fn now(&self) -> Timespec {
        (self.hooks.clock)()
    }

    pub(crate) fn drop_node(&self, one: Dropped, is_dirty: bool) {
        self.dropped.lock().push(one);
        if is_dirty {
            (self.hooks.wake)();
        }
    }
}

impl<R: Lock> DiskFs<R> {
    /// Mounts the file system on `device`, with `dev` as its number.
    ///
    /// # Errors
    /// EIO when the device fails; EINVAL when there is no littlefs of ours on it, or one that is larger than the device.
    pub fn mount(device: Box<dyn BlockDevice>, dev: u64, hooks: Hooks) -> Result<Self> {
        let mut lfs =
            Littlefs::mount(Blocks::new(device, hooks.cached_blocks)).map_err(|(errno, _)| errno)?;
        lfs.make_consistent()?;
        let shared = Arc::new(Shared {
            dev,
            hooks,
            tree: Mutex::new(Tree::new(lfs, hooks)),
            dropped: spin::Mutex::new(Vec::new()),
        });
        let facts = Facts::new(true, 0, Some(Attribute::new(Kind::Directory, 0o755, (hooks.clock)())));
        let root = shared.with(|tree| tree.add(None, |number| Node::new(shared.clone(), number, facts)));
        Ok(Self { shared, root })
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> Arc<dyn Vnode> {
        self.root.clone()
    }

    /// Returns after everything written to any file is where a power cut cannot reach it (`sync(2)`).
    ///
    /// # Errors
    /// EIO when the device fails. What could not be written for another reason was told by [`Hooks::lost`].
    pub fn sync(&self) -> Result<()> {
        self.shared.sync()
    }

    /// Writes what has waited for `age` seconds. Returns whether something is left.
    pub fn write_back(&self, age: i64) -> bool {
        self.shared.with(|tree| {
            let now = (tree.hooks.clock)();
            tree.commit_all(Timespec { sec: now.sec.saturating_sub(age), nsec: now.nsec })
        })
    }
}
