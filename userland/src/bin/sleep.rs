//! `sleep TIME...`: waits for the sum of the times: seconds with a fraction, or with a letter `s`, `m`, `h`, `d`.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::Syntax;
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, clock, sys};
use core::time::Duration;

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "sleep",
    operands: "TIME...",
    about: "Waits for the sum of the times: seconds, such as 0.5, or with a letter s, m, h, d. Or infinity.",
    flags: &[],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    if given.operands.is_empty() {
        misuse(&SYNTAX, 1, format_args!("missing operand"));
    }
    let total = given.operands.iter().fold(Duration::ZERO, |total, text| {
        let time = if *text == b"infinity" { Some(Duration::MAX) } else { clock::parse_duration(text) };
        let wrong = || misuse(&SYNTAX, 1, format_args!("invalid time interval '{}'", Bytes(text)));
        total.saturating_add(time.unwrap_or_else(wrong))
    });
    let outcome = Outcome::new();
    // The kernel counts seconds with a sign.
    if let Err(errno) = sys::nanosleep(total.min(Duration::from_secs(i64::MAX.unsigned_abs()))) {
        outcome.complain(format_args!("{errno}"));
    }
    outcome.status()
}
