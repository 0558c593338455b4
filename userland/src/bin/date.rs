//! `date [-uIR] [-d @SECONDS] [+FORMAT]`: the time, always in UTC.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::string::String;
use askr_abi::types::CLOCK_REALTIME;
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag, option};
use askr_userland::number::parse_u64;
use askr_userland::tool::{self, misuse};
use askr_userland::{Args, date, eprintln, println, sys};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "date",
    operands: "[+FORMAT]",
    about: "Prints the time in UTC. FORMAT is as for strftime: +%Y-%m-%d, +%H:%M:%S, +%s, ...",
    flags: &[
        flag(b'u', "utc", "nothing: it is always UTC"),
        option(b'd', "date", "@SECONDS", "that time after 1970-01-01 instead of now"),
        flag(b'I', "iso-8601", "the day as YYYY-MM-DD"),
        flag(b'R', "rfc-email", "as in mail"),
    ],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let (seconds, nanoseconds) = match given.value(b'd') {
        Some(text) => {
            match text.strip_prefix(b"@").and_then(parse_u64).and_then(|number| i64::try_from(number).ok()) {
                // The calendar's arithmetic is exact up to here and far beyond.
                Some(seconds) if seconds < 1 << 50 => (seconds, 0),
                _ => {
                    misuse(&SYNTAX, 1, format_args!("invalid date '{}': only @SECONDS is known", Bytes(text)))
                }
            }
        }
        None => match sys::clock_gettime(CLOCK_REALTIME) {
            Ok(now) => (i64::try_from(now.as_secs()).unwrap_or(0), now.subsec_nanos()),
            Err(errno) => {
                eprintln!("date: cannot read the clock: {errno}");
                return 1;
            }
        },
    };
    let format: &[u8] = match given.operands[..] {
        [] if given.has(b'I') => b"%Y-%m-%d",
        [] if given.has(b'R') => b"%a, %d %b %Y %H:%M:%S %z",
        [] => date::DEFAULT,
        [[b'+', format @ ..]] => format,
        [other] => {
            misuse(&SYNTAX, 1, format_args!("invalid date '{}'; a format begins with +", Bytes(other)))
        }
        [_, more, ..] => misuse(&SYNTAX, 1, format_args!("extra operand '{}'", Bytes(more))),
    };
    let Ok(format) = core::str::from_utf8(format) else {
        misuse(&SYNTAX, 1, format_args!("the format is not UTF-8"))
    };
    let mut text = String::new();
    // A String takes everything.
    let _ = date::write(&mut text, format, seconds, nanoseconds);
    println!("{text}");
    0
}
