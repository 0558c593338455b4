//! `sort [-nru] [FILE...]`: prints the lines of files in order.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use askr_userland::cli::{Syntax, flag};
use askr_userland::input::{self, Input};
use askr_userland::tool::{self, Outcome};
use askr_userland::{Args, Errno, io, order};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "sort",
    operands: "[FILE]...",
    about: "Prints the lines of all files, or of standard input, in the order of their bytes.",
    flags: &[
        flag(b'n', "numeric-sort", "by the number at the front"),
        flag(b'r', "reverse", "the other way round"),
        flag(b'u', "unique", "of equal lines only one"),
    ],
};

/// Most bytes of lines that are sorted.
const TEXT_MAX: usize = 64 << 20;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 2);
    let outcome = Outcome::new();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut room = TEXT_MAX;
    for name in input::names(&given.operands) {
        if let Err(errno) = Input::open(name).and_then(|input| read(&input, &mut lines, &mut room)) {
            outcome.complain_of(name, errno);
            outcome.note(2);
        }
    }
    let compare = |a: &Vec<u8>, b: &Vec<u8>| order::compare(a, b, given.has(b'n'));
    // Of equal numbers the bytes decide, unless only one is wanted.
    lines.sort_by(|a, b| if given.has(b'u') { compare(a, b) } else { compare(a, b).then_with(|| a.cmp(b)) });
    if given.has(b'u') {
        lines.dedup_by(|a, b| compare(a, b).is_eq());
    }
    if given.has(b'r') {
        lines.reverse();
    }
    for line in &lines {
        io::print_bytes(line);
        io::print_bytes(b"\n");
    }
    outcome.status()
}

fn read(input: &Input, lines: &mut Vec<Vec<u8>>, room: &mut usize) -> Result<(), Errno> {
    let mut reader = input.lines();
    while let Some(line) = reader.next_line()? {
        *room = room.checked_sub(line.len()).ok_or(Errno::EFBIG)?;
        lines.push(line.strip_suffix(b"\n").unwrap_or(line).to_vec());
    }
    Ok(())
}
