//! `touch [-c] FILE...`: sets the time of files to now; makes those that are not there.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_abi::types::{O_CREAT, O_WRONLY};
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::io::File;
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, fs};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "touch",
    operands: "FILE...",
    about: "Sets the time of the last change to now, and makes files that are not there.",
    flags: &[flag(b'c', "no-create", "make no files")],
};

/// Permissions of a new file, less the umask.
const MODE: u32 = 0o666;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    if given.operands.is_empty() {
        misuse(&SYNTAX, 1, format_args!("missing file operand"));
    }
    for path in &given.operands {
        let touched = match fs::set_modified(path, None) {
            Err(Errno::ENOENT) if given.has(b'c') => Ok(()),
            Err(Errno::ENOENT) => File::open_with(path, O_WRONLY | O_CREAT, MODE).map(drop),
            other => other,
        };
        if let Err(errno) = touched {
            outcome.complain(format_args!("cannot touch '{}': {errno}", Bytes(path)));
        }
    }
    outcome.status()
}
