//! `sh`: the shell (POSIX.1-2017, XCU 2). `sh` alone reads commands from standard input, `sh -c TEXT [NAME ARG…]` runs
//! a text, `sh FILE [ARG…]` a file. docs/shell.md says what is different.
//!
//! Exit status: that of the last command; 2 for a syntax error, 126 and 127 for a program that cannot be started
//! or found, 128 + n for one ended by signal n.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

mod ai;
mod builtin;
mod exec;
mod host;
mod input;
mod job;
mod launch;
mod names;
mod options;
mod redirect;
mod session;
mod simple;
mod terminal;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;
use askr_userland::shell::tree::Command;
use askr_userland::shell::variables::Variables;
use askr_userland::sys::{self, Fd, Pid};
use askr_userland::{Args, env, eprintln};
use core::ops::ControlFlow;
use job::Jobs;
use options::{Options, Source};
use terminal::Terminal;

askr_userland::main!(main);

/// Status after wrong use, a syntax error, or a word that cannot be expanded.
const EXIT_USAGE: i32 = 2;
/// Status when a file of commands cannot be read.
const EXIT_NOT_FOUND: i32 = 127;
/// Status after Ctrl-C.
const EXIT_INTERRUPTED: i32 = 130;
/// Longest file of commands, and longest command of several lines, in bytes.
const SCRIPT_MAX: usize = 1024 * 1024;
/// How deep commands may run in one another, calls of functions included. The stack has room for more.
const LEVELS_MAX: usize = 1_000;

/// Why commands are left before their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// `break`: so many loops.
    Break(usize),
    /// `continue`: the next round of the loop so far out.
    Continue(usize),
    /// `return`
    Return,
    /// `exit`, or an error that ends the shell.
    Exit,
    /// Ctrl-C, or an error that ends what a person typed.
    Abandon,
}

/// Whether the next command runs.
pub(crate) type Run = ControlFlow<Leave>;

/// The shell's state.
pub(crate) struct Shell {
    /// `$?`: exit status of the last command.
    pub(crate) status: i32,
    pub(crate) variables: Variables,
    pub(crate) functions: BTreeMap<Vec<u8>, Rc<Command>>,
    /// `$1` and so on.
    pub(crate) positional: Vec<Vec<u8>>,
    /// `$0`
    pub(crate) name: Vec<u8>,
    /// `$$`
    pub(crate) pid: Pid,
    /// `$!`
    pub(crate) last_background: Option<Pid>,
    pub(crate) options: Options,
    /// A person types the commands: the terminal. Each job has it to itself.
    pub(crate) control: Option<Fd>,
    /// Reads what the person types, and keeps the history.
    pub(crate) person: Option<Box<Terminal>>,
    pub(crate) jobs: Jobs,
    /// Greater than 0 where a failure is tested, so that `set -e` does not end the shell.
    pub(crate) tested: usize,
    /// Loops that go on in this function.
    pub(crate) loops: usize,
    /// Functions and files of `.` that go on.
    pub(crate) calls: usize,
    /// Commands that go on.
    pub(crate) levels: usize,
    /// Exit status of the last command substitution of this command.
    pub(crate) substituted: Option<i32>,
    /// The job in the foreground was ended by Ctrl-C.
    pub(crate) interrupted: bool,
}

fn main(args: Args) -> i32 {
    let (options, source, rest) = match options::parse(args.rest()) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("sh: {message}");
            eprintln!("usage: sh [-efux] [-C] [-c TEXT [NAME [ARG...]] | -s [ARG...] | FILE [ARG...]]");
            return EXIT_USAGE;
        }
    };
    let mut shell = Shell {
        status: 0,
        variables: Variables::from_environment(&env::variables()),
        functions: BTreeMap::new(),
        positional: rest.iter().map(|argument| argument.to_vec()).collect(),
        name: args.all().first().map_or(&b"sh"[..], |name| name).to_vec(),
        pid: sys::getpid(),
        last_background: None,
        options,
        control: None,
        person: None,
        jobs: Jobs::default(),
        tested: 0,
        loops: 0,
        calls: 0,
        levels: 0,
        substituted: None,
        interrupted: false,
    };
    shell.prepare();
    match source {
        Source::Text(text) => shell.run_argument(text),
        Source::File(path) => shell.run_file(path),
        Source::Input => shell.run_input(),
    }
    shell.status
}
