//! The virtual file system as the kernel uses it, on a small tree.

mod common;
mod files;
mod model;
mod paths;
mod pipe;
mod ramfs;
