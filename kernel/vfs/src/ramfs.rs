//! The file system in memory: the root, `/tmp`. What it holds comes from the initial archive or is written by
//! programs, within a budget of bytes.

mod budget;
mod content;
mod directory;
mod node;
mod vnode;

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

use askr_abi::Errno;
use askr_abi::types::Timespec;
use spin::Mutex;

pub use budget::Usage;

use crate::{Result, Vnode};
use budget::Budget;
use node::{Body, Node};

/// Tells the time of day.
pub type Clock = fn() -> Timespec;

/// A file system in memory.
#[derive(Clone)]
pub struct RamFs {
    root: Arc<Node>,
}

/// What all nodes of one file system share.
struct Shared {
    dev: u64,
    clock: Clock,
    /// Told when it has become full.
    full: fn(),
    budget: Budget,
    next_ino: AtomicU64,
    /// Held while names are looked at or changed, so that each change is one step even when it touches two
    /// directories. It comes before the locks of nodes, of which only one is held at a time.
    tree: Mutex<()>,
}

impl RamFs {
    /// An empty file system with the number `dev` that holds at most `limit` bytes: contents, names and a
    /// fixed cost for each node; bytes borrowed from the initial archive are free.
    #[must_use]
    pub fn new(dev: u64, limit: u64, clock: Clock) -> Self {
        Self::watched(dev, limit, clock, || {})
    }

    /// As [`Self::new`], for somebody who is to be told by `full` when it has become full: once, until there was room
    /// again. It is called while nodes are locked, and uses none.
    #[must_use]
    pub fn watched(dev: u64, limit: u64, clock: Clock, full: fn()) -> Self {
        let shared = Shared {
            dev,
            clock,
            full,
            budget: Budget::new(limit),
            next_ino: AtomicU64::new(1),
            tree: Mutex::new(()),
        };
        Self { root: Node::root(Arc::new(shared)) }
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> Arc<dyn Vnode> {
        Arc::clone(&self.root) as Arc<dyn Vnode>
    }

    /// How much of the budget is in use.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.root.shared().budget.usage()
    }

    /// Puts a file with borrowed content into `dir`; it is copied when first written to.
    ///
    /// # Errors
    /// EEXIST, ENOSPC; EXDEV when `dir` is no directory of this file system.
    pub fn insert_static(
        &self,
        dir: &dyn Vnode,
        name: &[u8],
        content: &'static [u8],
        mode: u32,
        mtime: Timespec,
    ) -> Result<()> {
        let dir = self.root.sibling(dir).ok_or(Errno::EXDEV)?;
        dir.add(name, mode, Body::borrowed(content), Some(mtime)).map(drop)
    }
}

impl Shared {
    /// Takes note of how something ended that needs space; `bytes` of what it gave were written.
    fn noted<T>(&self, result: Result<T>, bytes: impl FnOnce(&T) -> usize) -> Result<T> {
        if self.budget.note(result.as_ref().map(bytes).map_err(|&errno| errno)) {
            (self.full)();
        }
        result
    }

    fn ino(&self) -> u64 {
        self.next_ino.fetch_add(1, Ordering::Relaxed)
    }
}
