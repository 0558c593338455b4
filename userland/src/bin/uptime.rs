//! `uptime`: the time, and how long the machine has been up.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_abi::types::{CLOCK_MONOTONIC, CLOCK_REALTIME};
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::clock::{Date, Uptime};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, println, sys};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "uptime",
    operands: "",
    about: "Prints the time in UTC and how long the machine has been up.",
    flags: &[flag(b's', "since", "only the time at which it was started")],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    if let Some(more) = given.operands.first() {
        misuse(&SYNTAX, 1, format_args!("extra operand '{}'", Bytes(more)));
    }
    let outcome = Outcome::new();
    match (sys::clock_gettime(CLOCK_REALTIME), sys::clock_gettime(CLOCK_MONOTONIC)) {
        (Ok(now), Ok(up)) => {
            let seconds = |time: core::time::Duration| i64::try_from(time.as_secs()).unwrap_or(0);
            let started = Date { seconds: seconds(now.saturating_sub(up)) };
            if given.has(b's') {
                println!("{started}:{:02}", started.parts().second);
            } else {
                let time = Date { seconds: seconds(now) }.parts();
                println!(
                    " {:02}:{:02}:{:02} up {}",
                    time.hour,
                    time.minute,
                    time.second,
                    Uptime(up.as_secs())
                );
            }
        }
        (Err(errno), _) | (_, Err(errno)) => outcome.complain(format_args!("cannot read the clock: {errno}")),
    }
    outcome.status()
}
