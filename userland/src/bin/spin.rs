//! `spin [TIME]`: keeps the processor busy for the time, or until it is killed.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_abi::types::CLOCK_MONOTONIC;
use askr_userland::bytes::Bytes;
use askr_userland::{Args, Errno, clock, eprintln, sys};
use core::time::Duration;

askr_userland::main!(main);

/// Rounds between two looks at the clock, so that most of the time is spent outside the kernel.
const ROUNDS: u32 = 10_000;

fn main(args: Args) -> i32 {
    let limit = match args.rest() {
        [] => None,
        [text] => match clock::parse_duration(text) {
            Some(time) => Some(time),
            None => {
                eprintln!("spin: invalid time interval '{}'", Bytes(text));
                return 2;
            }
        },
        _ => {
            eprintln!("usage: spin [TIME]");
            return 2;
        }
    };
    match spin(limit) {
        Ok(()) => 0,
        Err(errno) => {
            eprintln!("spin: cannot read the clock: {errno}");
            1
        }
    }
}

fn spin(limit: Option<Duration>) -> Result<(), Errno> {
    let start = sys::clock_gettime(CLOCK_MONOTONIC)?;
    loop {
        for _ in 0..ROUNDS {
            core::hint::spin_loop();
        }
        if let Some(limit) = limit
            && sys::clock_gettime(CLOCK_MONOTONIC)?.saturating_sub(start) >= limit
        {
            return Ok(());
        }
    }
}
