//! The disk of a booted guest: what it keeps when QEMU is killed, what it flushes, what the host reads.

#[path = "../common/mod.rs"]
mod common;

mod guest;
mod host;
mod image;
mod kills;
mod log;
