//! `mv [-nv] FILE... TARGET`: gives files another path; between file systems they are copied and removed.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::tree::{self, Copy, destinations};
use askr_userland::{Args, Errno, io, println, sys};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "mv",
    operands: "FILE... TARGET",
    about: "Moves files. A TARGET that is a directory gets them under their names.",
    flags: &[
        flag(b'f', "force", "nothing: nobody is asked"),
        flag(b'n', "no-clobber", "replace no file"),
        flag(b'v', "verbose", "tell each file"),
    ],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let pairs =
        destinations(&given.operands).unwrap_or_else(|wrong| misuse(&SYNTAX, 1, format_args!("{wrong}")));
    for (from, to) in pairs {
        if given.has(b'n') && tree::stat(&to, false).is_ok() {
            continue;
        }
        move_one(from, &to, &outcome);
        if given.has(b'v') && outcome.status() == 0 {
            println!("renamed '{}' -> '{}'", Bytes(from), Bytes(&to));
        }
    }
    outcome.status()
}

fn move_one(from: &[u8], to: &[u8], outcome: &Outcome) {
    let source = match tree::stat(from, false) {
        Ok(source) => source,
        Err(errno) => return outcome.complain(format_args!("cannot stat '{}': {errno}", Bytes(from))),
    };
    if tree::stat(to, false).is_ok_and(|there| (there.dev, there.ino) == (source.dev, source.ino)) {
        return outcome.complain(format_args!("'{}' and '{}' are the same file", Bytes(from), Bytes(to)));
    }
    match io::c_path(from).and_then(|from| sys::rename(&from, &io::c_path(to)?)) {
        Ok(()) => {}
        Err(Errno::EXDEV) => copy_and_remove(from, to, outcome),
        Err(Errno::EINVAL) => outcome.complain(format_args!(
            "cannot move '{}' to a subdirectory of itself, '{}'",
            Bytes(from),
            Bytes(to)
        )),
        Err(errno) => {
            outcome.complain(format_args!("cannot move '{}' to '{}': {errno}", Bytes(from), Bytes(to)));
        }
    }
}

/// The source stays if anything of it was not copied.
fn copy_and_remove(from: &[u8], to: &[u8], outcome: &Outcome) {
    let copied = Outcome::new();
    Copy { recursive: true, verbose: false, outcome: &copied }.copy(from, to);
    outcome.note(copied.status());
    if copied.status() == 0 {
        tree::remove(from, outcome, false);
    }
}
