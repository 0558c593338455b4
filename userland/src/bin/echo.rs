//! `echo [-neE] [TEXT...]`: prints its arguments with blanks between them; `-n` leaves out the end of line, `-e` obeys
//! backslash escapes. As in shells, anything else is text.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::escape::unescape;
use askr_userland::{Args, io};

askr_userland::main!(main);

fn main(args: Args) -> i32 {
    let (mut newline, mut escapes, mut words) = (true, false, args.rest());
    while let [first, rest @ ..] = words
        && let [b'-', letters @ ..] = first
        && !letters.is_empty()
        && letters.iter().all(|letter| b"neE".contains(letter))
    {
        words = rest;
        newline &= !letters.contains(&b'n');
        for letter in letters.iter().filter(|letter| **letter != b'n') {
            escapes = *letter == b'e';
        }
    }
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            io::print_bytes(b" ");
        }
        if escapes {
            let (text, ended) = unescape(word, true);
            io::print_bytes(&text);
            if ended {
                return 0;
            }
        } else {
            io::print_bytes(word);
        }
    }
    if newline {
        io::print_bytes(b"\n");
    }
    0
}
