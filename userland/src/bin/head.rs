//! `head [-n LINES | -c BYTES] [FILE...]`: prints the beginning of files.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag, option};
use askr_userland::input::{self, Input};
use askr_userland::number::parse_size;
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io, println};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "head",
    operands: "[FILE]...",
    about: "Prints the first 10 lines of files, or of standard input. -5 is -n 5.",
    flags: &[
        option(b'n', "lines", "N", "so many lines"),
        option(b'c', "bytes", "N", "so many bytes"),
        flag(b'q', "quiet", "no names of files"),
        flag(b'v', "verbose", "names of files even if there is one"),
    ],
};

/// Lines if nothing is said.
const LINES: u64 = 10;
/// Bytes read at a time.
const PIECE: usize = 4096;

fn main(args: Args) -> i32 {
    let arguments = input::with_old_count(args.rest());
    let given = tool::read_arguments(&SYNTAX, &arguments, 1);
    let outcome = Outcome::new();
    let (unit, count) = match given.last_of(b"nc") {
        None => (b'n', LINES),
        Some((unit, text)) => match parse_size(text) {
            Some(count) => (unit, count),
            None => {
                let what = if unit == b'n' { "lines" } else { "bytes" };
                misuse(&SYNTAX, 1, format_args!("invalid number of {what}: '{}'", Bytes(text)))
            }
        },
    };
    let names = input::names(&given.operands);
    let titles = given.has(b'v') || names.len() > 1 && !given.has(b'q');
    let mut gap = "";
    for name in names {
        let printed = Input::open(name).and_then(|input| {
            if titles {
                println!("{gap}==> {} <==", Bytes(input::title(name)));
                gap = "\n";
            }
            if unit == b'n' { print_lines(&input, count) } else { print_bytes(&input, count) }
        });
        if let Err(errno) = printed {
            outcome.complain_of(name, errno);
        }
    }
    outcome.status()
}

fn print_lines(input: &Input, count: u64) -> Result<(), Errno> {
    let mut lines = input.lines();
    for _ in 0..count {
        match lines.next_line()? {
            Some(line) => io::print_bytes(line),
            None => break,
        }
    }
    Ok(())
}

fn print_bytes(input: &Input, mut left: u64) -> Result<(), Errno> {
    let mut piece = [0; PIECE];
    while left > 0 {
        let room = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let length = input.read(&mut piece[..room])?;
        if length == 0 {
            break;
        }
        io::print_bytes(&piece[..length]);
        left -= length as u64;
    }
    Ok(())
}
