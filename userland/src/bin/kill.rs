//! `kill [-SIGNAL | -s SIGNAL] PID...`: sends a signal (TERM if none is named) to processes, or with a negative number
//! to process groups; `kill -l` lists the signals.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_abi::types::SIGTERM;
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag, option};
use askr_userland::number::parse_u64;
use askr_userland::sys::{self, Pid};
use askr_userland::tool::{Outcome, misuse};
use askr_userland::{Args, print, println, signal};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "kill",
    operands: "PID...",
    about: "Sends a signal, TERM if none is named, to processes; -PID after the signal is a process group.",
    flags: &[
        option(b's', "signal", "SIGNAL", "this signal; -9 and -KILL work too"),
        flag(b'l', "list", "list the signals, or name the one of a number or status"),
    ],
};

fn main(args: Args) -> i32 {
    // Numbers with a dash are signals at the front and groups behind it, so this is not read like other command lines.
    let (name, targets): (&[u8], &[&[u8]]) = match args.rest() {
        [b"--help", ..] => {
            print!("{SYNTAX}");
            return 0;
        }
        [b"-l" | b"--list", asked @ ..] => return list(asked),
        [b"-s" | b"--signal", name, targets @ ..] => (name, targets),
        [option, targets @ ..] if option.len() > 1 && option.starts_with(b"-") && *option != b"--" => {
            (&option[1..], targets)
        }
        targets => (b"TERM", targets),
    };
    let targets = targets.strip_prefix(&[&b"--"[..]]).unwrap_or(targets);
    let number = if name == b"TERM" { Some(SIGTERM) } else { signal::parse(name) };
    let Some(number) = number else {
        misuse(&SYNTAX, 1, format_args!("{}: invalid signal; `kill -l` lists them", Bytes(name)))
    };
    if targets.is_empty() {
        misuse(&SYNTAX, 1, format_args!("a process number is missing"));
    }
    let outcome = Outcome::new();
    for target in targets {
        send(target, number, &outcome);
    }
    outcome.status()
}

/// All signals, or the names of those asked for by a number, or by the exit status that they cause.
fn list(asked: &[&[u8]]) -> i32 {
    if asked.is_empty() {
        signal::all().for_each(|(number, name)| println!("{number:>2} {name}"));
    }
    let outcome = Outcome::new();
    for text in asked {
        match signal::find(text) {
            Some((number, name)) if parse_u64(text).is_none() => println!("{number} {name}"),
            Some((_, name)) => println!("{name}"),
            None => outcome.complain(format_args!("{}: invalid signal", Bytes(text))),
        }
    }
    outcome.status()
}

fn send(target: &[u8], number: u32, outcome: &Outcome) {
    let Some(pid) = parse_pid(target) else {
        return outcome.complain(format_args!("{}: not a process number", Bytes(target)));
    };
    if let Err(errno) = sys::kill(pid, number) {
        outcome.complain(format_args!("({pid}): {errno}"));
    }
}

fn parse_pid(text: &[u8]) -> Option<Pid> {
    let (sign, digits) = text.strip_prefix(b"-").map_or((1, text), |digits| (-1, digits));
    Some(sign * Pid::try_from(parse_u64(digits)?).ok()?)
}
