//! `dmesg`: the kernel's messages since boot, from `/proc/kmsg`; it says itself how many are lost.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::Syntax;
use askr_userland::input::Input;
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "dmesg",
    operands: "",
    about: "Prints the kernel's messages since boot, each with the seconds since then.",
    flags: &[],
};

/// Where the kernel shows them.
const MESSAGES: &[u8] = b"/proc/kmsg";

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    if let Some(more) = given.operands.first() {
        misuse(&SYNTAX, 1, format_args!("extra operand '{}'", Bytes(more)));
    }
    let outcome = Outcome::new();
    if let Err(errno) = print() {
        outcome.complain_of(MESSAGES, errno);
    }
    outcome.status()
}

/// A message may hold the name of a program, which may hold anything: a terminal gets it made harmless.
fn print() -> Result<(), Errno> {
    let input = Input::open(MESSAGES)?;
    let mut lines = input.lines();
    while let Some(line) = lines.next_line()? {
        io::print_name(line.strip_suffix(b"\n").unwrap_or(line));
        io::print_bytes(b"\n");
    }
    Ok(())
}
