//! The file system on the disk: littlefs, a file system that survives power cuts, behind the nodes of the VFS
//! ([`DiskFs`]). The disk itself is behind [`BlockDevice`], and all of it behind a lock that the caller chooses: in the
//! kernel one on which tasks sleep.
//!
//! What a power cut leaves is said in docs/architecture.md, "The disk".
#![no_std]
#![deny(unsafe_code)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "usize has 64 bits on all that this runs on, and sizes are small"
)]

extern crate alloc;

mod blocks;
mod facts;
mod format;
mod fs;
mod listing;
mod littlefs;
mod node;
mod tree;
mod vnode;

pub use blocks::{BLOCK, BlockDevice, SECTOR};
pub use format::{State, examine, format};
pub use fs::{DiskFs, Hooks, Lock};

/// Result of an operation on the disk.
pub type Result<T> = core::result::Result<T, askr_abi::Errno>;
