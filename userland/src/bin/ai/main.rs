//! `ai TEXT`: a request to the agent in the person's own words. What the agent plans is shown before anything that may
//! change state runs, and steps run as ordinary programs. `ai config` shows and edits how the agent is reached.
//!
//! Exit codes: that of the last step that ran, 0 if none did; 1 nothing was done; 2 wrong use; 124 nobody answered in time;
//! 130 interrupted.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

mod confirm;
mod converse;
mod plan;
mod run;
mod settings;

use alloc::vec::Vec;
use askr_userland::agent::QUESTION_MAX;
use askr_userland::signal::describe;
use askr_userland::{Args, eprintln, io, println, process, sys};

askr_userland::main!(main);

/// Exit code after wrong use.
const EXIT_USAGE: i32 = 2;
/// Exit code when nobody answered in time, as `timeout` of the GNU coreutils has it.
const EXIT_TIMED_OUT: i32 = 124;
/// Exit code after Ctrl-C.
const EXIT_INTERRUPTED: i32 = 130;

const USAGE: &str = "usage: ai TEXT                for example: ai what is using memory?
       ai config              shows how the agent is reached
       ai config KEY VALUE    changes it
       ai config unset KEY    takes it out, so that it is as usual
       ai --help              this text";

fn main(args: Args) -> i32 {
    let text = args.rest().join(&b' ');
    let words: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    match words[..] {
        [] => {
            eprintln!("{USAGE}");
            EXIT_USAGE
        }
        [b"--help"] => {
            println!("{USAGE}");
            0
        }
        [b"config", ref rest @ ..] => settings::command(rest),
        _ if text.len() > QUESTION_MAX => {
            eprintln!("ai: the text has {} bytes; at most {QUESTION_MAX} are possible", text.len());
            EXIT_USAGE
        }
        _ => {
            if let Err(errno) = sys::catch_ends() {
                eprintln!("ai: cannot catch Ctrl-C: {errno}");
                return 1;
            }
            converse::converse(&text)
        }
    }
}

/// Ends as Ctrl-C ends a program, so that the shell leaves the rest of its line too.
fn end_interrupted() -> i32 {
    io::flush_best_effort();
    let interrupt = askr_abi::signal::SIGINT;
    if sys::set_signal(interrupt, sys::Disposition::Default).is_ok() {
        let _ = sys::kill(sys::getpid(), interrupt);
    }
    process::exit(EXIT_INTERRUPTED)
}

/// How a program ended, where that is no exit code.
fn ended(status: process::Status) -> (i32, Option<&'static str>) {
    match status {
        process::Status::Exited(code) => (code.into(), None),
        process::Status::Signaled(signal) | process::Status::Stopped(signal) => {
            (i32::try_from(128 + signal).unwrap_or(1), Some(describe(signal)))
        }
    }
}
