//! What the tools in `src/bin` have in common: reading the command line, naming what went wrong, and remembering it
//! for the exit status.

use crate::bytes::Bytes;
use crate::cli::{Given, Problem, Syntax};
use crate::{Args, env, eprint, eprintln, print, process};
use core::cell::Cell;
use core::fmt;

/// Reads the command line. For `--help` it explains the tool and ends; what it does not take is told, and the tool ends
/// with `trouble`, its exit status for wrong use.
#[must_use]
pub fn read(syntax: &Syntax, args: Args, trouble: i32) -> Given<'static> {
    read_arguments(syntax, args.rest(), trouble)
}

/// As [`read`], of arguments that were changed before.
#[must_use]
pub fn read_arguments(syntax: &Syntax, arguments: &[&'static [u8]], trouble: i32) -> Given<'static> {
    match syntax.read(arguments) {
        Ok(given) => given,
        Err(Problem::Help) => {
            print!("{syntax}");
            process::exit(0)
        }
        Err(problem) => misuse(syntax, trouble, format_args!("{problem}")),
    }
}

/// Says what is wrong with the command line and ends with `trouble`.
pub fn misuse(syntax: &Syntax, trouble: i32, what: fmt::Arguments<'_>) -> ! {
    let name = syntax.name;
    eprintln!("{name}: {what}\nTry '{name} --help' for more information.");
    process::exit(trouble)
}

/// The exit status of a tool that goes on after something went wrong.
#[derive(Debug, Default)]
pub struct Outcome(Cell<i32>);

impl Outcome {
    /// Nothing went wrong yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Cell::new(0))
    }

    /// The exit status.
    #[must_use]
    pub fn status(&self) -> i32 {
        self.0.get()
    }

    /// Notes an exit status; the highest one counts.
    pub fn note(&self, status: i32) {
        self.0.set(self.0.get().max(status));
    }

    /// Says on standard error, after the program's name, what went wrong. The exit status will be 1.
    pub fn complain(&self, what: fmt::Arguments<'_>) {
        eprint!("{}: {what}\n", env::program());
        self.note(1);
    }

    /// As [`Outcome::complain`], for a file: `NAME: FILE: REASON`.
    pub fn complain_of(&self, file: &[u8], reason: impl fmt::Display) {
        self.complain(format_args!("{}: {reason}", Bytes(file)));
    }
}
