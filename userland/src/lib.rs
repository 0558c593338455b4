//! Runtime library of Askr's user programs.
//!
//! A program is a `#![no_std]`, `#![no_main]` crate with a `fn main(args: Args) -> i32`, named to the library
//! with [`main!`]. The modules that touch the machine exist only on `target_os = "none"`; the rest is pure and
//! is tested on the host.
#![cfg_attr(not(test), no_std)]
#![deny(unsafe_code)]

extern crate alloc as alloc_crate;

pub mod answer;
pub mod assist;
pub mod bytes;
pub mod cli;
pub mod clock;
pub mod columns;
pub mod date;
pub mod dirent;
pub mod edit;
pub mod escape;
pub mod hexdump;
pub mod lines;
pub mod names;
pub mod number;
pub mod order;
#[cfg(feature = "patterns")]
pub mod pattern;
pub mod permissions;
pub mod procfs;
pub mod shell;
pub mod signal;
pub mod tail;

#[cfg(target_os = "none")]
pub mod agent;
#[cfg(target_os = "none")]
mod alloc;
#[cfg(target_os = "none")]
pub mod env;
#[cfg(target_os = "none")]
pub mod fs;
#[cfg(target_os = "none")]
pub mod input;
#[cfg(target_os = "none")]
pub mod io;
#[cfg(target_os = "none")]
pub mod process;
#[cfg(target_os = "none")]
pub mod start;
#[cfg(target_os = "none")]
#[allow(unsafe_code, reason = "the one place where programs meet the kernel")]
pub mod sys;
#[cfg(target_os = "none")]
pub mod tool;
#[cfg(target_os = "none")]
pub mod tree;

pub use askr_abi::Errno;
#[cfg(target_os = "none")]
pub use env::Args;
