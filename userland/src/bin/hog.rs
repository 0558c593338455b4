//! `hog [SIZE]`: takes memory and uses every page of it, up to the size or until the kernel gives no more; then it waits
//! for Ctrl-C. To see what a limit does.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::number::{Human, parse_size};
use askr_userland::tool::{self, misuse};
use askr_userland::{Args, io, println, sys};
use core::time::Duration;

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "hog",
    operands: "[SIZE]",
    about: "Takes memory, such as 64M, and uses it; without a size until there is no more. Then waits for Ctrl-C.",
    flags: &[flag(b'x', "exit", "end instead of waiting")],
};

/// Bytes taken at a time.
const PIECE: usize = 1 << 20;
/// Bytes of a page.
const PAGE: usize = 4096;
/// Between two lines about it, in bytes.
const STEP: u64 = 16 << 20;
/// The longest single sleep; there is one after the other.
const SLEEP: Duration = Duration::from_secs(3600);

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 2);
    let wanted = match given.operands[..] {
        [] => u64::MAX,
        [text] => parse_size(text)
            .unwrap_or_else(|| misuse(&SYNTAX, 2, format_args!("invalid size '{}'", Bytes(text)))),
        [_, more, ..] => misuse(&SYNTAX, 2, format_args!("extra operand '{}'", Bytes(more))),
    };
    let mut taken = 0;
    let mut refused = None;
    while taken < wanted && refused.is_none() {
        let length = usize::try_from(wanted - taken).unwrap_or(PIECE).min(PIECE);
        match sys::map_anonymous(length) {
            Ok(memory) => {
                memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
                taken += length as u64;
                if taken % STEP == 0 {
                    println!("hog: {} taken", Human(taken));
                }
            }
            Err(errno) => refused = Some(errno),
        }
    }
    match refused {
        Some(errno) => println!("hog: {} taken, and no more: {errno}", Human(taken)),
        None => println!("hog: {} taken, as wanted", Human(taken)),
    }
    if given.has(b'x') {
        return i32::from(refused.is_some());
    }
    // Seen before the wait; an error is told at the end.
    let _ = io::flush();
    while sys::nanosleep(SLEEP).is_ok() {}
    1
}
