//! `rmdir [-pv] DIRECTORY...`: removes empty directories.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, names, println, tree};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "rmdir",
    operands: "DIRECTORY...",
    about: "Removes empty directories.",
    flags: &[
        flag(b'p', "parents", "then those above it, as far as the path says"),
        flag(b'v', "verbose", "tell each directory"),
    ],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    if given.operands.is_empty() {
        misuse(&SYNTAX, 1, format_args!("missing operand"));
    }
    for path in &given.operands {
        let mut path = *path;
        // Each round takes at least one byte off the path.
        loop {
            if let Err(errno) = tree::remove_one(path, true) {
                outcome.complain(format_args!("failed to remove '{}': {errno}", Bytes(path)));
                break;
            }
            if given.has(b'v') {
                println!("rmdir: removing directory, '{}'", Bytes(path));
            }
            let above = names::parent(path);
            if !given.has(b'p') || matches!(above, b"." | b"/") {
                break;
            }
            path = above;
        }
    }
    outcome.status()
}
