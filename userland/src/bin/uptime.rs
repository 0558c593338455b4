//! `uptime`: how long the machine has been up.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_abi::types::CLOCK_MONOTONIC;
use askr_userland::clock::Uptime;
use askr_userland::{Args, eprintln, println, sys};

askr_userland::main!(main);

fn main(_: Args) -> i32 {
    match sys::clock_gettime(CLOCK_MONOTONIC) {
        Ok(time) => {
            println!("up {}", Uptime(time.as_secs()));
            0
        }
        Err(errno) => {
            eprintln!("uptime: cannot read the clock: {errno}");
            1
        }
    }
}
