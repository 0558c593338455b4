//! Rounds of asking and doing.

use crate::plan::{self, Done, Item};
use crate::settings::Settings;
use crate::{EXIT_TIMED_OUT, end_interrupted};
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::plan::Ending;
use askr_userland::agent::{self, Answer, INTENT_NATURAL_LANGUAGE, Question};
use askr_userland::answer::Action;
use askr_userland::assist::context::{Pair, StepResult, context};
use askr_userland::bytes::Lines;
use askr_userland::fs::{self, FileType};
use askr_userland::{Errno, eprintln, io, println, sys};
use core::time::Duration;

/// Most rounds of one request: the agent gets the results of all but the last.
const ROUNDS_MAX: usize = 4;
/// How much longer than the agent's own time an answer is waited for, so that the agent can still say what went wrong.
const MARGIN: Duration = Duration::from_secs(10);
/// Where programs are.
const PROGRAMS: &[u8] = b"/bin";
/// Most names of a listing; of more, the rest is not counted either.
const NAMES_MAX: usize = 256;

/// Asks, and does what the answers say; the exit code.
pub(crate) fn converse(text: &[u8]) -> i32 {
    let mut results = Vec::new();
    let mut status = 0;
    for round in 1..=ROUNDS_MAX {
        let settings = Settings::load();
        let answer = match ask(text, &settings, round, &results) {
            Ok(answer) => answer,
            Err(errno) => return refuse(errno, &settings),
        };
        let is_cut = answer.total > answer.text.len() as u64;
        let (items, ending) = match Action::parse(&answer.text) {
            Action::Say(text) => {
                say(text, &answer, is_cut);
                return status;
            }
            _ if is_cut => {
                eprintln!(
                    "ai: the agent's answer has {} bytes, which is too long; nothing was done",
                    answer.total
                );
                return 1;
            }
            Action::Set { key, value } => (vec![Item::Set(key, value)], Ending::Done),
            Action::Get { key } => (vec![Item::Get(key)], Ending::Done),
            Action::Plan(plan) => (plan.steps().map(Item::from).collect(), plan.ending()),
            Action::Broken(error) => {
                eprintln!("ai: the agent's plan cannot be used: {error}; nothing was done");
                return 1;
            }
            Action::Other(line) => {
                println!("the agent proposes: {} (nothing was done)", Lines(line));
                println!("(decided by: {})", answer.decider.name());
                return 1;
            }
        };
        match plan::carry_out(&items, &settings, &mut results) {
            Done::All(code) => status = code,
            // What failed goes back if the agent wants to know.
            Done::Failed(code) if ending == Ending::More => status = code,
            Done::Failed(code) | Done::Refused(code) => return code,
            Done::Interrupted => return end_interrupted(),
        }
        if ending != Ending::More {
            println!("(decided by: {})", answer.decider.name());
            return if ending == Ending::Failed { 1 } else { status };
        }
    }
    eprintln!("ai: the agent wants to go on after {ROUNDS_MAX} rounds; that is the most");
    1
}

fn ask(text: &[u8], settings: &Settings, round: usize, results: &[StepResult]) -> Result<Answer, Errno> {
    let directory = sys::getcwd().unwrap_or_default();
    let programs = io::list_directory(PROGRAMS).unwrap_or_default();
    let pairs = context(round, ROUNDS_MAX, &directory, &listing(), &programs, results);
    let pairs: Vec<(&[u8], &[u8])> = pairs.iter().map(|(key, value): &Pair| (&key[..], &value[..])).collect();
    let timeout = Duration::from_millis(settings.timeout_ms.into()) + MARGIN;
    let question =
        Question { intent: INTENT_NATURAL_LANGUAGE, context: &pairs, ..Question::new(text, timeout) };
    io::flush_best_effort();
    // Ctrl-C may have come before there was anything to interrupt.
    if sys::take_interrupt() {
        return Err(Errno::EINTR);
    }
    agent::ask(&question)
}

/// What is in the working directory, directories with a slash.
fn listing() -> Vec<Vec<u8>> {
    let entries = fs::read_dir(b".").into_iter().flatten().filter_map(Result::ok).take(NAMES_MAX);
    let mut names: Vec<Vec<u8>> = entries
        .map(|entry| {
            let slash: &[u8] = if entry.file_type == FileType::Directory { b"/" } else { b"" };
            [&entry.name, slash].concat()
        })
        .collect();
    names.sort_unstable();
    names
}

fn say(text: &[u8], answer: &Answer, is_cut: bool) {
    println!("{}", Lines(text));
    if is_cut {
        println!("(cut: {} of {} bytes)", answer.text.len(), answer.total);
    }
    println!("(decided by: {})", answer.decider.name());
}

fn refuse(errno: Errno, settings: &Settings) -> i32 {
    match errno {
        Errno::EINTR => return end_interrupted(),
        Errno::EAGAIN => eprintln!(
            "ai: no agent is attached to this machine, or too many questions wait; attach one from the host, for \
             example with `cargo run -p host-bridge -- call asks.wait`, and try again"
        ),
        Errno::ETIMEDOUT => {
            let seconds = u64::from(settings.timeout_ms) / 1000 + MARGIN.as_secs();
            eprintln!("ai: nobody answered within {seconds} seconds");
        }
        other => eprintln!("ai: {} ({})", agent::explain(other), other.name()),
    }
    if errno == Errno::ETIMEDOUT { EXIT_TIMED_OUT } else { 1 }
}
