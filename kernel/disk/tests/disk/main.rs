//! The file system on a disk in memory.
#![allow(clippy::cast_possible_truncation, reason = "sizes of small disks")]

mod cuts;
mod device;
mod files;
mod listing;
mod model;
mod state;
