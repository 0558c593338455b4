//! A plan, step by step: shown, agreed to, carried out.

use crate::confirm::{Consent, consent};
use crate::run::{self, Ran};
use crate::settings::{self, Confirm, Settings};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use askr_abi::plan::Step;
use askr_userland::assist::allow::only_looks;
use askr_userland::assist::context::StepResult;
use askr_userland::assist::tail::Tail;
use askr_userland::assist::words::Words;
use askr_userland::bytes::{Bytes, Lines};
use askr_userland::{eprintln, println, sys};

/// A step, with its arguments one by one.
pub(crate) enum Item<'a> {
    Say(&'a str),
    Run(Vec<&'a str>),
    Set(&'a str, &'a str),
    Get(&'a str),
}

impl<'a> From<Step<'a>> for Item<'a> {
    fn from(step: Step<'a>) -> Self {
        match step {
            Step::Say(text) => Self::Say(text),
            Step::Run(arguments) => Self::Run(arguments.iter().collect()),
            Step::Set { key, value } => Self::Set(key, value),
            Step::Get { key } => Self::Get(key),
        }
    }
}

/// How a plan ended.
pub(crate) enum Done {
    /// All steps were carried out; the exit code of the last program.
    All(i32),
    /// A step failed, and those after it were left out.
    Failed(i32),
    /// Nothing that needed a yes was carried out.
    Refused(i32),
    /// Ctrl-C.
    Interrupted,
}

/// Asks for consent if a step may change something, then carries out one step after the other until one fails.
pub(crate) fn carry_out(items: &[Item<'_>], settings: &Settings, results: &mut Vec<StepResult>) -> Done {
    // What is only said first may help to decide.
    let said = items.iter().take_while(|item| matches!(item, Item::Say(_))).count();
    for item in &items[..said] {
        carry_out_one(item, results);
    }
    let items = &items[said..];
    let directory = sys::getcwd().unwrap_or_default();
    if items.iter().any(|item| needs_consent(item, settings, &directory)) {
        show(items);
        match consent() {
            Consent::Yes => {}
            Consent::No => {
                eprintln!("ai: nothing was done");
                return Done::Refused(1);
            }
            Consent::Impossible => {
                eprintln!("ai: this needs a yes from the person at the terminal; nothing was done");
                return Done::Refused(1);
            }
            Consent::Interrupted => return Done::Interrupted,
        }
    }
    let mut status = 0;
    for item in items {
        match carry_out_one(item, results) {
            Some(Done::All(code)) => status = code,
            Some(other) => return other,
            None => {}
        }
    }
    Done::All(status)
}

/// Whether a person has to agree. Settings always need it: they decide about all consent after them.
fn needs_consent(item: &Item<'_>, settings: &Settings, directory: &[u8]) -> bool {
    match item {
        Item::Say(_) | Item::Get(_) => false,
        Item::Set(..) => true,
        Item::Run(arguments) => match settings.confirm {
            Confirm::Never => false,
            Confirm::Always => true,
            Confirm::Changes => !only_looks(arguments, directory),
        },
    }
}

fn show(items: &[Item<'_>]) {
    eprintln!("the agent's plan:");
    for (number, item) in (1..).zip(items) {
        match item {
            Item::Say(text) => eprintln!("  {number}. say: {}", Lines(text.as_bytes())),
            Item::Run(arguments) => eprintln!("  {number}. run: {}", Words(arguments)),
            Item::Set(key, value) => eprintln!("  {number}. set in the agent's configuration: {key}={value}"),
            Item::Get(key) => eprintln!("  {number}. show of the agent's configuration: {key}"),
        }
    }
}

/// `None` if it was nothing that can fail.
fn carry_out_one(item: &Item<'_>, results: &mut Vec<StepResult>) -> Option<Done> {
    match item {
        Item::Say(text) => {
            println!("{}", Lines(text.as_bytes()));
            None
        }
        Item::Get(key) => Some(from_code(settings::show(key))),
        Item::Set(key, value) => Some(from_code(settings::set(key, value))),
        Item::Run(arguments) => Some(run_one(arguments, results)),
    }
}

const fn from_code(code: i32) -> Done {
    if code == 0 { Done::All(0) } else { Done::Failed(code) }
}

fn run_one(arguments: &[&str], results: &mut Vec<StepResult>) -> Done {
    eprintln!("+ {}", Words(arguments));
    let arguments_owned: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    let mut keep =
        |code, output| results.push(StepResult { arguments: arguments_owned.clone(), code, output });
    match run::run(arguments) {
        Ran::Ended { code, cause, output } => {
            if let Some(cause) = cause {
                eprintln!("ai: {}: {cause}", Bytes(arguments[0].as_bytes()));
            }
            keep(Some(code), output);
            from_code(code)
        }
        Ran::NotStarted(errno) => {
            eprintln!("ai: {}: {errno}", Bytes(arguments[0].as_bytes()));
            keep(None, Tail::default());
            Done::Failed(1)
        }
        Ran::Interrupted => Done::Interrupted,
    }
}
