//! `events [-fx] [-n N]`: what happened, from `/proc/events`: starts, ends and faults of processes, memory used up, full file
//! systems, the loss of the agent. The agent gets the same.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag, option};
use askr_userland::number::parse_u64;
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io, sys};
use core::time::Duration;

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "events",
    operands: "",
    about: "Prints the latest events: number, seconds since boot, what happened.",
    flags: &[
        flag(b'f', "follow", "then those to come, until Ctrl-C"),
        option(b'n', "lines", "N", "only the last so many"),
        flag(b'x', "failures", "only what went wrong"),
    ],
};

/// Where the kernel shows them.
const EVENTS: &[u8] = b"/proc/events";
/// Most of that file that is read, in bytes.
const FILE_MAX: usize = 1 << 20;
/// Pause between two looks at it.
const PAUSE: Duration = Duration::from_millis(200);

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let most = given.value(b'n').map(|text| {
        let number = parse_u64(text).and_then(|number| usize::try_from(number).ok());
        number
            .unwrap_or_else(|| misuse(&SYNTAX, 1, format_args!("invalid number of lines: '{}'", Bytes(text))))
    });
    if let Some(more) = given.operands.first() {
        misuse(&SYNTAX, 1, format_args!("extra operand '{}'", Bytes(more)));
    }
    let outcome = Outcome::new();
    if let Err(errno) = print(most, given.has(b'f'), given.has(b'x')) {
        outcome.complain_of(EVENTS, errno);
    }
    outcome.status()
}

fn print(most: Option<usize>, follow: bool, failures: bool) -> Result<(), Errno> {
    // The number that the next event has.
    let mut next = None;
    loop {
        let text = io::read_file(EVENTS, FILE_MAX)?;
        let mut lines: Vec<&[u8]> =
            text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        if let Some(next) = next {
            // Those that went before they were seen are told by the first number.
            if let Some(first) = lines.iter().find_map(|line| number_of(line)).filter(|&first| first > next) {
                askr_userland::println!("lost {}", first - next);
            }
            lines.retain(|line| number_of(line).is_some_and(|number| number >= next));
        }
        next = lines.iter().rev().find_map(|line| number_of(line)).map(|last| last + 1).or(next);
        if failures {
            lines.retain(|line| is_failure(line));
        }
        for line in &lines[lines.len().saturating_sub(most.filter(|_| !follow).unwrap_or(usize::MAX))..] {
            io::print_name(line);
            io::print_bytes(b"\n");
        }
        if !follow {
            return Ok(());
        }
        io::flush()?;
        sys::nanosleep(PAUSE)?;
    }
}

/// Whether a line tells that something went wrong: a fault, an end with another code than 0, no more memory or room, a panic.
fn is_failure(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).skip(2);
    match words.next().unwrap_or_default() {
        // After the process stands its status.
        b"exit" => words.nth(1) != Some(b"status=0"),
        kind => [&b"fault"[..], b"oom", b"disk_full", b"panic"].contains(&kind),
    }
}

/// The number at the front of a line about an event.
fn number_of(line: &[u8]) -> Option<u64> {
    parse_u64(line.split(|byte| *byte == b' ').next()?)
}
