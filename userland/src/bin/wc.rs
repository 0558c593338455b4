//! `wc [-clw] [FILE...]`: counts lines, words and bytes.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::cli::{Syntax, flag};
use askr_userland::input::{self, Input};
use askr_userland::tool::{self, Outcome};
use askr_userland::{Args, Errno, io, print};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "wc",
    operands: "[FILE]...",
    about: "Counts the lines, words and bytes of files, or of standard input.",
    flags: &[
        flag(b'l', "lines", "lines only"),
        flag(b'w', "words", "words only"),
        flag(b'c', "bytes", "bytes only"),
    ],
};

/// Bytes read at a time.
const PIECE: usize = 16 * 1024;
/// Width of a number beside others.
const WIDTH: usize = 7;

/// Lines, words and bytes.
#[derive(Clone, Copy, Default)]
struct Counts([u64; 3]);

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let mut wanted = [given.has(b'l'), given.has(b'w'), given.has(b'c')];
    if wanted == [false; 3] {
        wanted = [true; 3];
    }
    let names = input::names(&given.operands);
    let alone = names.len() == 1 && wanted.iter().filter(|&&wanted| wanted).count() == 1;
    let width = if alone { 0 } else { WIDTH };
    let mut total = Counts::default();
    for name in &names {
        match Input::open(name).and_then(|input| count(&input)) {
            Ok(counts) => {
                total.0.iter_mut().zip(counts.0).for_each(|(sum, count)| *sum += count);
                show(counts, wanted, width, if given.operands.is_empty() { b"" } else { name });
            }
            Err(errno) => outcome.complain_of(name, errno),
        }
    }
    if names.len() > 1 {
        show(total, wanted, width, b"total");
    }
    outcome.status()
}

fn count(input: &Input) -> Result<Counts, Errno> {
    let (mut lines, mut words, mut bytes) = (0, 0, 0);
    let mut piece = [0; PIECE];
    let mut in_word = false;
    loop {
        let length = input.read(&mut piece)?;
        if length == 0 {
            return Ok(Counts([lines, words, bytes]));
        }
        bytes += length as u64;
        for &byte in &piece[..length] {
            lines += u64::from(byte == b'\n');
            // The white space of the C locale: `is_ascii_whitespace` lacks the vertical tab.
            let blank = byte.is_ascii_whitespace() || byte == 0x0B;
            words += u64::from(!blank && !in_word);
            in_word = !blank;
        }
    }
}

fn show(counts: Counts, wanted: [bool; 3], width: usize, name: &[u8]) {
    let numbers = counts.0.into_iter().zip(wanted).filter(|(_, wanted)| *wanted);
    for (i, (number, _)) in numbers.enumerate() {
        print!("{}{number:>width$}", if i > 0 { " " } else { "" });
    }
    if !name.is_empty() {
        print!(" ");
        io::print_name(name);
    }
    print!("\n");
}
