//! `sleep TIME...`: waits for the sum of the times: seconds with a fraction, or with a letter `s`, `m`, `h`, `d`.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::{Args, clock, eprintln, sys};
use core::time::Duration;

askr_userland::main!(main);

fn main(args: Args) -> i32 {
    if args.rest().is_empty() {
        eprintln!("sleep: missing operand\nusage: sleep TIME...");
        return 1;
    }
    let mut total = Duration::ZERO;
    for text in args.rest() {
        let Some(time) = clock::parse_duration(text) else {
            eprintln!("sleep: invalid time interval '{}'", Bytes(text));
            return 1;
        };
        total = total.saturating_add(time);
    }
    match sys::nanosleep(total) {
        Ok(()) => 0,
        Err(errno) => {
            eprintln!("sleep: {errno}");
            1
        }
    }
}
