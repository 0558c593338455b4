//! `cargo run`: the terminal is given back at every end, QEMU never outlives the runner, and every option does what it says.

#[path = "../common/program.rs"]
#[allow(dead_code, reason = "it is for all tests, and these use a part of it")]
mod program;

mod debugger;
mod disks;
mod lines;
mod options;
mod restarts;
mod support;
mod terminals;
