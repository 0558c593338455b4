//! READ of what is made when it is opened, piece by piece.

use crate::arch::clock::{self, Nanos, SECOND};
use crate::fs;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::O_RDONLY;
use askr_agentbus::policy::Origin;
use askr_vfs::{File, Snapshot};

/// A file that no piece is asked of for so long is closed.
const IDLE: Nanos = 10 * SECOND;

/// The generated file, as those of `/proc`, that was read last. It stays open for pieces that do not begin at its start:
/// opened again it would have another content, and the pieces would not fit together.
pub(in crate::bus) struct Reading {
    open: Option<Open>,
}

struct Open {
    file: File,
    path: Vec<u8>,
    origin: Origin,
    used: Nanos,
}

impl Reading {
    pub(super) const fn new() -> Self {
        Self { open: None }
    }

    /// The file at `path` for a piece that begins at `offset`.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub(super) fn open(&mut self, origin: Origin, offset: u64, path: &[u8]) -> Result<File, Errno> {
        match self.open.take() {
            Some(open) if offset > 0 && open.origin == origin && open.path == path => Ok(open.file),
            _ => fs::open(origin, &fs::root(), path, O_RDONLY, 0),
        }
    }

    /// A piece was read. There may be more, and who reads on asks once more at the end.
    pub(super) fn keep(&mut self, file: File, origin: Origin, path: &[u8]) {
        let node: &dyn core::any::Any = &**file.node();
        if node.is::<Snapshot>() {
            self.open = Some(Open { file, path: path.to_vec(), origin, used: clock::now() });
        }
    }

    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// When it is to be closed, if it is open.
    pub(super) fn idle_at(&self) -> Option<Nanos> {
        self.open.as_ref().map(|open| open.used + IDLE)
    }
}
