//! `echo [-n] [TEXT...]`: prints its arguments with blanks between them; `-n` leaves out the end of line.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::{Args, io};

askr_userland::main!(main);

fn main(args: Args) -> i32 {
    let (words, end) = match args.rest() {
        [b"-n", words @ ..] => (words, &b""[..]),
        words => (words, &b"\n"[..]),
    };
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            io::print_bytes(b" ");
        }
        io::print_bytes(word);
    }
    io::print_bytes(end);
    0
}
