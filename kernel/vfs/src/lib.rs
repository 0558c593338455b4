//! Virtual file system: what a node can do ([`Vnode`]), what a path leads to ([`Vfs`]), what an open file is
//! ([`File`]), and the file system that lives in memory ([`RamFs`]).
//!
//! An operation on a path has two steps: [`Vfs::locate`] says what the path leads to, with its canonical path;
//! then the caller acts on that [`Target`]. A path starts at a directory, not at its path: it leads on from there when the
//! directory has been moved. In between it can judge the canonical path, which no symbolic link
//! or `..` can dress up as another.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod dirent;
mod file;
mod fixed;
mod fullness;
mod generated;
mod metadata;
mod mounts;
mod node;
mod pipe;
mod populate;
mod ramfs;
mod vfs;
mod walk;

pub use askr_abi::Errno;
pub use file::File;
pub use fixed::FixedDir;
pub use fullness::Fullness;
pub use generated::{Generated, Snapshot};
pub use metadata::{Change, DirEntry, FsStat, Kind, Metadata, Place};
pub use mounts::{MOUNTS_MAX, Mount};
pub use node::Vnode;
pub use pipe::{PIPE_BUF, PIPE_CAPACITY, Pipe};
pub use populate::{PopulateError, Populated, populate};
pub use ramfs::{Clock, RamFs, Usage};
pub use vfs::Vfs;
pub use walk::{LINKS_MAX, Target};

/// Result of an operation on files.
pub type Result<T> = core::result::Result<T, Errno>;
