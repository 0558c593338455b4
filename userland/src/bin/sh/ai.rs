//! `ai TEXT`: a request to the agent in the person's own words.

use crate::{EXIT_USAGE, Shell};
use askr_userland::agent::{self, Answer, INTENT_NATURAL_LANGUAGE, QUESTION_MAX, Question};
use askr_userland::answer::Action;
use askr_userland::bytes::Lines;
use askr_userland::sys::Fork;
use askr_userland::{Errno, eprintln, println, process};
use core::time::Duration;

/// How long to wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Status when nobody answered in time, as `timeout` of the GNU coreutils has it.
const EXIT_TIMED_OUT: i32 = 124;

impl Shell {
    /// Asks the agent; the exit status. A shell with a terminal lives on after Ctrl-C, so it leaves the waiting to a
    /// copy of itself, which Ctrl-C ends.
    pub(crate) fn run_ai(&mut self, text: &[u8]) -> i32 {
        if self.control.is_none() {
            return run(text);
        }
        match self.fork_foreground() {
            Ok(Fork::Child) => process::exit(run(text)),
            Ok(Fork::Parent(pid)) => self.finish(pid, b"ai"),
            Err(errno) => {
                self.cannot_fork(errno);
                self.status
            }
        }
    }
}

/// Asks and prints the answer; the exit status. Nothing that the agent proposes is carried out.
fn run(text: &[u8]) -> i32 {
    if text.is_empty() {
        eprintln!("usage: ai TEXT, for example: ai what is running here?");
        return EXIT_USAGE;
    }
    if text.len() > QUESTION_MAX {
        eprintln!("ai: the text has {} bytes; at most {QUESTION_MAX} are possible", text.len());
        return EXIT_USAGE;
    }
    let question = Question { intent: INTENT_NATURAL_LANGUAGE, ..Question::new(text, TIMEOUT) };
    match agent::ask(&question) {
        Ok(answer) => {
            show(&answer);
            0
        }
        Err(errno) => refuse(errno),
    }
}

fn show(answer: &Answer) {
    match Action::parse(&answer.text) {
        Action::Say(text) => println!("{}", Lines(text)),
        Action::Propose(line) => println!("the agent proposes: {} (nothing was done)", Lines(line)),
    }
    if answer.total > answer.text.len() as u64 {
        println!("(cut: {} of {} bytes)", answer.text.len(), answer.total);
    }
    println!("(decided by: {})", answer.decider.name());
}

fn refuse(errno: Errno) -> i32 {
    match errno {
        Errno::EAGAIN => eprintln!(
            "ai: no agent is attached to this machine; attach one from the host, for example with \
             `cargo run -p host-bridge -- call asks.wait`, and try again"
        ),
        Errno::ETIMEDOUT => eprintln!("ai: nobody answered within {} seconds", TIMEOUT.as_secs()),
        other => eprintln!("ai: {} ({})", agent::explain(other), other.name()),
    }
    if errno == Errno::ETIMEDOUT { EXIT_TIMED_OUT } else { 1 }
}
