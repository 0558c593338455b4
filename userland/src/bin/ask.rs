//! `ask [-t SECONDS] [-d DEFAULT] [-c CHOICE]... [-k KEY=VALUE]... QUESTION...`: puts a question to the agent and prints the
//! answer and who decided.
//!
//! Exit codes: 0 answered (also by the default), 1 no answer, 2 wrong use, 124 nobody answered in time.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use alloc::vec::Vec;
use askr_userland::agent::{self, Answer, QUESTION_MAX, Question};
use askr_userland::bytes::{Bytes, Lines};
use askr_userland::{Args, Errno, clock, eprintln, println};
use core::time::Duration;
use getargs::{Opt, Options};

askr_userland::main!(main);

/// How long to wait if `-t` does not say.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Exit code when nobody answered in time, as `timeout` of the GNU coreutils has it.
const EXIT_TIMED_OUT: i32 = 124;

fn main(args: Args) -> i32 {
    let mut timeout = TIMEOUT;
    let mut default = None;
    let (mut choices, mut context) = (Vec::new(), Vec::new());
    let mut options = Options::new(args.rest().iter().copied());
    loop {
        match options.next_opt() {
            Ok(None) => break,
            Ok(Some(Opt::Short(b't'))) => match options.value() {
                Ok(text) => match clock::parse_duration(text).filter(|time| time.as_millis() > 0) {
                    Some(time) => timeout = time,
                    None => {
                        eprintln!("ask: invalid time '{}': at least 0.001 seconds", Bytes(text));
                        return 2;
                    }
                },
                Err(_) => return usage(),
            },
            Ok(Some(Opt::Short(b'd'))) => match options.value() {
                Ok(text) => default = Some(text),
                Err(_) => return usage(),
            },
            Ok(Some(Opt::Short(b'c'))) => match options.value() {
                Ok(choice) => choices.push(choice),
                Err(_) => return usage(),
            },
            Ok(Some(Opt::Short(b'k'))) => match options.value().ok().and_then(pair) {
                Some(pair) => context.push(pair),
                None => return usage(),
            },
            _ => return usage(),
        }
    }
    let words: Vec<&[u8]> = options.positionals().collect();
    let text = words.join(&b' ');
    if text.is_empty() {
        return usage();
    }
    if text.len() > QUESTION_MAX {
        eprintln!("ask: the question has {} bytes; at most {QUESTION_MAX} are possible (E2BIG)", text.len());
        return 2;
    }
    let question =
        Question { default, choices: &choices, context: &context, ..Question::new(&text, timeout) };
    match agent::ask(&question) {
        Ok(answer) => {
            print_answer(&answer);
            0
        }
        Err(errno) => report(errno),
    }
}

/// KEY=VALUE.
fn pair(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&byte| byte == b'=')?;
    Some((&text[..at], &text[at + 1..]))
}

fn print_answer(answer: &Answer) {
    println!("answer: {}", Lines(&answer.text));
    if answer.total > answer.text.len() as u64 {
        println!("(cut: {} of {} bytes)", answer.text.len(), answer.total);
    }
    match answer.reason {
        Some(errno) => println!("decided by: {} ({})", answer.decider.name(), agent::explain(errno)),
        None => println!("decided by: {}", answer.decider.name()),
    }
}

fn report(errno: Errno) -> i32 {
    eprintln!("ask: {} ({})", agent::explain(errno), errno.name());
    if errno == Errno::ETIMEDOUT { EXIT_TIMED_OUT } else { 1 }
}

fn usage() -> i32 {
    eprintln!(
        "usage: ask [-t SECONDS] [-d DEFAULT] [-c CHOICE]... [-k KEY=VALUE]... QUESTION...\n\
         Waits 60 seconds for an answer unless -t says otherwise. With -c only one of the choices is an answer; -k tells the\n\
         agent what helps to answer."
    );
    2
}

extern crate alloc;
