//! Virtual file system: nodes, path resolution, ramfs.
#![no_std]
#![forbid(unsafe_code)]
