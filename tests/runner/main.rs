//! `cargo run`: the terminal is given back at every end, QEMU never outlives the runner, and every option does what it says.

mod debugger;
mod disks;
mod lines;
mod options;
mod support;
mod terminals;
