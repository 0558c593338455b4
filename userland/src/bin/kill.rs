//! `kill [-SIGNAL | -s SIGNAL] PID...`: sends a signal (TERM if none is named) to processes, or with a negative
//! number after `--` to a process group; `kill -l` lists the signals.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_abi::types::SIGTERM;
use askr_userland::bytes::Bytes;
use askr_userland::sys::{self, Pid};
use askr_userland::{Args, clock, eprintln, println, signal};

askr_userland::main!(main);

fn main(args: Args) -> i32 {
    let (name, targets): (&[u8], &[&[u8]]) = match args.rest() {
        [b"-l"] => {
            for (number, name) in signal::all() {
                println!("{number:>2} {name}");
            }
            return 0;
        }
        [b"--", targets @ ..] => (b"TERM", targets),
        [b"-s", name, b"--", targets @ ..] | [b"-s", name, targets @ ..] => (name, targets),
        [option, b"--", targets @ ..] | [option, targets @ ..] if option.starts_with(b"-") => {
            (&option[1..], targets)
        }
        targets => (b"TERM", targets),
    };
    if targets.is_empty() {
        eprintln!("usage: kill [-SIGNAL | -s SIGNAL] PID...\n       kill -l");
        return 2;
    }
    let number = if name == b"TERM" { Some(SIGTERM) } else { signal::parse(name) };
    let Some(number) = number else {
        eprintln!("kill: {}: invalid signal; `kill -l` lists them", Bytes(name));
        return 1;
    };
    // Not short-circuiting: one bad target does not spare the others.
    targets.iter().fold(0, |status, target| if send(target, number) { status } else { 1 })
}

fn send(target: &[u8], number: u32) -> bool {
    let Some(pid) = parse_pid(target) else {
        eprintln!("kill: {}: not a process number", Bytes(target));
        return false;
    };
    match sys::kill(pid, number) {
        Ok(()) => true,
        Err(errno) => {
            eprintln!("kill: ({pid}): {errno}");
            false
        }
    }
}

fn parse_pid(text: &[u8]) -> Option<Pid> {
    let (sign, digits) = text.strip_prefix(b"-").map_or((1, text), |digits| (-1, digits));
    Some(sign * Pid::try_from(clock::parse_u64(digits)?).ok()?)
}
