//! `readlink LINK...`: prints what symbolic links say.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::cli::{Syntax, flag};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, io, sys};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "readlink",
    operands: "LINK...",
    about: "Prints what symbolic links say.",
    flags: &[flag(b'n', "no-newline", "no end of line")],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    if given.operands.is_empty() {
        misuse(&SYNTAX, 1, format_args!("missing operand"));
    }
    for path in &given.operands {
        match io::c_path(path).and_then(|path| sys::readlink(&path)) {
            Ok(target) => {
                io::print_name(&target);
                io::print_bytes(if given.has(b'n') { b"" } else { b"\n" });
            }
            // As everywhere, a name that is no link is told by the status alone.
            Err(_) => outcome.note(1),
        }
    }
    outcome.status()
}
