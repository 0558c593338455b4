//! `cp [-rv] FILE... TARGET`: copies files and, with `-r`, directories.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::Args;
use askr_userland::cli::{Syntax, flag};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::tree::{Copy, destinations};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "cp",
    operands: "FILE... TARGET",
    about: "Copies files. A TARGET that is a directory gets them under their names.",
    flags: &[
        flag(b'r', "recursive", "directories too; links stay links"),
        flag(b'R', "", "as -r"),
        flag(b'a', "archive", "as -r"),
        flag(b'f', "force", "nothing: nobody is asked"),
        flag(b'v', "verbose", "tell each file"),
    ],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let recursive = given.last_of(b"rRa").is_some();
    let pairs =
        destinations(&given.operands).unwrap_or_else(|wrong| misuse(&SYNTAX, 1, format_args!("{wrong}")));
    let copy = Copy { recursive, verbose: given.has(b'v'), outcome: &outcome };
    for (from, to) in pairs {
        copy.copy(from, &to);
    }
    outcome.status()
}
