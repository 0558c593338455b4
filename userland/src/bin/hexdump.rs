//! `hexdump [-Cv] [-n LENGTH] [-s OFFSET] [FILE...]`: shows bytes in hexadecimal.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::string::String;
use askr_abi::types::SEEK_SET;
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag, option};
use askr_userland::hexdump::{Dump, Style};
use askr_userland::input::{self, Input};
use askr_userland::number::{parse_radix, parse_size};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io, sys};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "hexdump",
    operands: "[FILE]...",
    about: "Shows bytes in hexadecimal, words of two bytes or, with -C, single bytes and their characters.",
    flags: &[
        flag(b'C', "canonical", "single bytes and their characters"),
        option(b'n', "length", "N", "only so many bytes"),
        option(b's', "skip", "N", "begin after so many bytes"),
        flag(b'v', "no-squeezing", "lines that repeat too"),
    ],
};

/// Bytes read at a time.
const PIECE: usize = 4096;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let size = |letter| {
        given.value(letter).map(|text| {
            let number =
                text.strip_prefix(b"0x").map_or_else(|| parse_size(text), |digits| parse_radix(digits, 16));
            number.unwrap_or_else(|| misuse(&SYNTAX, 1, format_args!("invalid number '{}'", Bytes(text))))
        })
    };
    let mut skip = size(b's').unwrap_or(0);
    let mut left = size(b'n').unwrap_or(u64::MAX);
    let style = if given.has(b'C') { Style::Canonical } else { Style::Words };
    let mut dump = Dump::new(style, given.has(b'v'), skip);
    for name in input::names(&given.operands) {
        let shown = Input::open(name).and_then(|input| show(&input, &mut skip, &mut left, &mut dump));
        if let Err(errno) = shown {
            outcome.complain_of(name, errno);
        }
    }
    let mut text = String::new();
    // A String takes everything.
    let _ = dump.finish(&mut text);
    io::print_bytes(text.as_bytes());
    outcome.status()
}

/// Shows a file, less what is to be skipped, as far as there is to be shown more.
fn show(input: &Input, skip: &mut u64, left: &mut u64, dump: &mut Dump) -> Result<(), Errno> {
    let mut piece = [0; PIECE];
    // Where it can be gone to, that is faster than reading. A place after the end is found by reading: 0 bytes.
    if *skip > 0 && sys::fstat(input.fd())?.size > i64::try_from(*skip).map_err(|_| Errno::EINVAL)? {
        sys::lseek(input.fd(), i64::try_from(*skip).map_err(|_| Errno::EINVAL)?, SEEK_SET)?;
        *skip = 0;
    }
    while *left > 0 {
        let count = input.read(&mut piece)?;
        if count == 0 {
            break;
        }
        let from = usize::try_from(*skip).unwrap_or(count).min(count);
        *skip -= from as u64;
        let wanted = usize::try_from(*left).unwrap_or(PIECE).min(count - from);
        *left -= wanted as u64;
        let mut text = String::new();
        let _ = dump.push(&piece[from..from + wanted], &mut text);
        io::print_bytes(text.as_bytes());
    }
    Ok(())
}
