//! `sync`: has everything that was written brought to the disk, and waits for that.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::cli::Syntax;
use askr_userland::{Args, sys, tool};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "sync",
    operands: "",
    about: "Waits until everything that was written is on the disk.",
    flags: &[],
};

fn main(args: Args) -> i32 {
    let _ = tool::read(&SYNTAX, args, 1);
    sys::sync();
    0
}
