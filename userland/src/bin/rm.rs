//! `rm [-dfrv] FILE...`: removes files and, with `-r`, directories with everything in them.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::{Given, Syntax, flag};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, names, println, tree};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "rm",
    operands: "FILE...",
    about: "Removes files.",
    flags: &[
        flag(b'r', "recursive", "directories and everything in them"),
        flag(b'R', "", "as -r"),
        flag(b'd', "dir", "empty directories"),
        flag(b'f', "force", "say nothing of what is not there"),
        flag(b'v', "verbose", "tell each file"),
    ],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    if given.operands.is_empty() && !given.has(b'f') {
        misuse(&SYNTAX, 1, format_args!("missing operand"));
    }
    for path in &given.operands {
        remove(path, &given, &outcome);
    }
    outcome.status()
}

fn remove(path: &[u8], given: &Given<'_>, outcome: &Outcome) {
    let shown = Bytes(path);
    let recursive = given.last_of(b"rR").is_some();
    let found = match tree::stat(path, false) {
        Ok(found) => found,
        Err(Errno::ENOENT | Errno::ENOTDIR) if given.has(b'f') => return,
        Err(errno) => return outcome.complain(format_args!("cannot remove '{shown}': {errno}")),
    };
    let directory = tree::is_directory(&found);
    if directory && recursive {
        if matches!(names::base(path), b"." | b"..") {
            return outcome
                .complain(format_args!("refusing to remove '.' or '..' directory: skipping '{shown}'"));
        }
        // Also when it is written in another way, such as /bin/..
        if tree::stat(b"/", true).is_ok_and(|root| (root.dev, root.ino) == (found.dev, found.ino)) {
            return outcome.complain(format_args!("it is dangerous to operate recursively on '{shown}'"));
        }
        return tree::remove(path, outcome, given.has(b'v'));
    }
    let removed =
        if directory && !given.has(b'd') { Err(Errno::EISDIR) } else { tree::remove_one(path, directory) };
    match removed {
        Ok(()) if given.has(b'v') => println!("removed '{shown}'"),
        Ok(()) => {}
        Err(errno) => outcome.complain(format_args!("cannot remove '{shown}': {errno}")),
    }
}
