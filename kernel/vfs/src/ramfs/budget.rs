//! How many bytes a file system in memory may take.

use askr_abi::Errno;
use spin::Mutex;

use crate::{Fullness, Result};

/// What one node costs besides its names and content: what its structures take, and the share of its directory's.
pub(super) const NODE_COST: u64 = 384;
/// A name is kept by its place in the order, by itself, and by the directory that it names, ...
const NAME_COPIES: u64 = 3;
/// ... and each of them costs so much besides its bytes.
const NAME_COST: u64 = 32;

/// What a name costs.
pub(super) const fn cost_of_name(name: &[u8]) -> u64 {
    NAME_COPIES * (name.len() as u64 + NAME_COST)
}

/// Bytes in use and the most there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes in use.
    pub used: u64,
    /// The most there may be in use.
    pub limit: u64,
}

pub(super) struct Budget(Mutex<State>);

struct State {
    usage: Usage,
    fullness: Fullness,
}

impl Budget {
    pub(super) const fn new(limit: u64) -> Self {
        Self(Mutex::new(State { usage: Usage { used: 0, limit }, fullness: Fullness::Room }))
    }

    pub(super) fn usage(&self) -> Usage {
        self.0.lock().usage
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// ENOSPC when that many are not left; then none is taken.
    pub(super) fn charge(&self, bytes: u64) -> Result<()> {
        let usage = &mut self.0.lock().usage;
        let used = usage.used.checked_add(bytes).filter(|&used| used <= usage.limit);
        usage.used = used.ok_or(Errno::ENOSPC)?;
        Ok(())
    }

    /// Gives back bytes that were charged.
    pub(super) fn refund(&self, bytes: u64) {
        let mut state = self.0.lock();
        state.usage.used = state.usage.used.saturating_sub(bytes);
        state.fullness.released(bytes);
    }

    /// Takes note of how something ended that needs space. Returns whether the file system has become full by it.
    pub(super) fn note(&self, result: Result<usize>) -> bool {
        let fullness = &mut self.0.lock().fullness;
        match result {
            Ok(bytes) => fullness.written(bytes as u64),
            Err(Errno::ENOSPC) => return fullness.refused(),
            Err(_) => {}
        }
        false
    }
}
