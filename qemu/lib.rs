//! QEMU, driven from `cargo run` and from tests.
//!
//! [`Machine`] says what to boot. [`Machine::start`] gives a [`Guest`], whose console is scripted the way a
//! person types; [`Machine::spawn`] gives the bare [`Vm`] with the raw end of COM1. Every wait takes a
//! duration; QEMU is killed when its `Vm` is dropped and when this process dies in any way.

#![forbid(unsafe_code)]

mod boot_image;
mod command_line;
mod console;
mod disk;
mod error;
mod guest;
mod initrd;
mod machine;
mod qmp;
mod resets;
mod run_folder;
mod screenshot;
mod spawner;
mod vm;

pub use boot_image::{Door, write_boot_image};
pub use console::Console;
pub use disk::{Disk, NEW_DISK_SIZE};
pub use error::{Error, Result};
pub use guest::Guest;
pub use initrd::ExtraFile;
pub use machine::{Accel, Machine, Model};
pub use screenshot::Screenshot;
pub use vm::{Exit, Vm};

use std::path::Path;

/// The kernel's ELF file, as build.rs built it.
pub const KERNEL: &str = env!("ASKR_KERNEL");

/// The initrd (tar) with the user programs, as build.rs packed it.
pub const INITRD: &str = env!("ASKR_INITRD");

/// The folder for run folders and agent sockets: `askr` in the target folder.
#[must_use]
pub fn state_dir() -> &'static Path {
    Path::new(env!("ASKR_STATE_DIR"))
}
