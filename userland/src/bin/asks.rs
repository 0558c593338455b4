//! `asks`: the questions that wait for an answer, from `/proc/asks`. `answer` answers one.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use askr_userland::bytes::Bytes;
use askr_userland::cli::Syntax;
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "asks",
    operands: "",
    about: "Prints the questions that wait: number, who asks, the seconds left, question, choices, context, default.",
    flags: &[],
};

/// Where the kernel shows them.
const ASKS: &[u8] = b"/proc/asks";
/// Most of that file that is read, in bytes.
const FILE_MAX: usize = 1 << 20;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    if let Some(more) = given.operands.first() {
        misuse(&SYNTAX, 1, format_args!("extra operand '{}'", Bytes(more)));
    }
    let outcome = Outcome::new();
    if let Err(errno) = print() {
        outcome.complain_of(ASKS, errno);
    }
    outcome.status()
}

fn print() -> Result<(), Errno> {
    // The kernel has escaped what is not to be shown as it is.
    io::print_bytes(&io::read_file(ASKS, FILE_MAX)?);
    io::flush()
}
