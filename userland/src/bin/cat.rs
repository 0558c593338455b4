//! `cat [-n] [FILE...]`: prints files, or standard input without a name or for `-`.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::cli::{Syntax, flag};
use askr_userland::input::{self, Input};
use askr_userland::tool::{self, Outcome};
use askr_userland::{Args, Errno, eprintln, io, print, process, sys};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "cat",
    operands: "[FILE]...",
    about: "Prints files one after the other; - is standard input.",
    flags: &[flag(b'n', "number", "number the lines"), flag(b'u', "", "nothing: output never waits")],
};

/// Bytes moved at a time.
const PIECE: usize = 16 * 1024;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let mut number = 0;
    for name in input::names(&given.operands) {
        let copied = Input::open(name).and_then(|input| {
            if given.has(b'n') { copy_numbered(&input, &mut number) } else { copy(&input) }
        });
        if let Err(errno) = copied {
            outcome.complain_of(name, errno);
        }
    }
    outcome.status()
}

fn copy(input: &Input) -> Result<(), Errno> {
    let mut piece = [0; PIECE];
    loop {
        let count = input.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        if let Err(errno) = io::write_all(sys::STDOUT, &piece[..count]) {
            eprintln!("cat: write error: {errno}");
            process::exit(1);
        }
    }
}

/// Numbers go on from one file to the next, and a line may too.
fn copy_numbered(input: &Input, number: &mut u64) -> Result<(), Errno> {
    let mut lines = input.lines();
    while let Some(line) = lines.next_line()? {
        *number += 1;
        print!("{number:>6}\t");
        io::print_bytes(line);
    }
    Ok(())
}
