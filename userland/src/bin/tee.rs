//! `tee [-a] [FILE...]`: copies standard input to standard output and to files.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use askr_abi::types::{O_APPEND, O_CREAT, O_TRUNC, O_WRONLY};
use askr_userland::cli::{Syntax, flag};
use askr_userland::io::File;
use askr_userland::tool::{self, Outcome};
use askr_userland::{Args, io, sys};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "tee",
    operands: "[FILE]...",
    about: "Copies standard input to standard output and to files.",
    flags: &[flag(b'a', "append", "add to the files")],
};

/// Bytes copied at a time.
const PIECE: usize = 16 * 1024;
/// Permissions of a new file, less the umask.
const MODE: u32 = 0o666;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let flags = O_WRONLY | O_CREAT | if given.has(b'a') { O_APPEND } else { O_TRUNC };
    let mut files = Vec::new();
    for name in &given.operands {
        match File::open_with(name, flags, MODE) {
            Ok(file) => files.push((*name, file)),
            Err(errno) => outcome.complain_of(name, errno),
        }
    }
    let mut piece = [0; PIECE];
    loop {
        let count = match io::read(sys::STDIN, &mut piece) {
            Ok(0) => return outcome.status(),
            Ok(count) => count,
            Err(errno) => {
                outcome.complain_of(b"standard input", errno);
                return outcome.status();
            }
        };
        if let Err(errno) = io::write_all(sys::STDOUT, &piece[..count]) {
            outcome.complain_of(b"standard output", errno);
            return outcome.status();
        }
        // A file that takes no more is told once, and the others go on.
        files.retain(|(name, file)| match io::write_all(file.fd(), &piece[..count]) {
            Ok(()) => true,
            Err(errno) => {
                outcome.complain_of(name, errno);
                false
            }
        });
    }
}
