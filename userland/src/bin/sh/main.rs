//! `sh`: reads lines and runs them. `sh` alone reads standard input, `sh -c LINE` runs a line, `sh FILE` a file.
//!
//! Exit status: that of the last command; 2 for a syntax error, 126 and 127 for a program that cannot be started
//! or found, 128 + n for one ended by signal n.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

mod ai;
mod builtin;
mod input;
mod job;
mod run;
mod terminal;

use askr_abi::types::SIGINT;
use askr_userland::bytes::Bytes;
use askr_userland::shell::{LINE_MAX, ai_text, parse, tokenize};
use askr_userland::sys::{self, Disposition};
use askr_userland::{Args, eprintln, io, println, signal};
use input::{Lines, Next};
use job::Jobs;
use terminal::Terminal;

askr_userland::main!(main);

/// Status after wrong use or a syntax error.
const EXIT_USAGE: i32 = 2;
/// Status when a file of commands cannot be read.
const EXIT_NOT_FOUND: i32 = 127;
/// Status after Ctrl-C at the prompt.
const EXIT_INTERRUPTED: i32 = 130;
/// After so many ends of input in a row the terminal is taken for gone.
const ENDS_MAX: u32 = 16;
/// What an interactive shell shows when it is ready.
const PROMPT: &str = "askr$ ";

/// The shell's state.
pub(crate) struct Shell {
    /// `$?`: exit status of the last command.
    pub(crate) status: i32,
    /// A person types the commands: there is a prompt, and each job has the terminal to itself.
    pub(crate) interactive: bool,
    /// Set by `exit`.
    pub(crate) leaving: bool,
    /// What runs in the background.
    pub(crate) jobs: Jobs,
}

fn main(args: Args) -> i32 {
    let mut shell = Shell { status: 0, interactive: false, leaving: false, jobs: Jobs::default() };
    match args.rest() {
        [] => {
            shell.interactive = sys::is_terminal(sys::STDIN);
            if shell.interactive {
                shell.run_terminal();
            } else {
                shell.run_input(&mut Lines::of_stdin());
            }
        }
        [b"-c", line] => shell.run_line(line),
        [b"-c", ..] | [_, _, ..] => {
            eprintln!("usage: sh [-c LINE | FILE]");
            return EXIT_USAGE;
        }
        [path] => match io::File::open(path) {
            Ok(file) => shell.run_input(&mut Lines::of_file(file)),
            Err(errno) => {
                eprintln!("sh: {}: {errno}", Bytes(path));
                return EXIT_NOT_FOUND;
            }
        },
    }
    shell.status
}

impl Shell {
    /// Runs what a person types until `exit`.
    fn run_terminal(&mut self) {
        self.take_terminal();
        let mut terminal = Terminal::new();
        let mut ends = 0;
        while !self.leaving {
            self.jobs.report_ended();
            let next = terminal.next(PROMPT);
            ends = if matches!(next, Next::End) { ends + 1 } else { 0 };
            match next {
                Next::End if ends < ENDS_MAX => {
                    println!("\nType `exit` to end this shell, `poweroff` to switch the machine off.");
                }
                next => self.run_next(next),
            }
        }
    }

    /// Runs line after line until the end of the input or `exit`.
    fn run_input(&mut self, lines: &mut Lines) {
        while !self.leaving {
            self.run_next(lines.next());
        }
    }

    fn run_next(&mut self, next: Next) {
        match next {
            Next::Line(line) => self.run_line(&line),
            Next::TooLong => {
                eprintln!("sh: a line has more than {LINE_MAX} bytes; it was not run");
                self.status = EXIT_USAGE;
            }
            Next::Interrupted => self.status = EXIT_INTERRUPTED,
            Next::End => self.leaving = true,
            Next::Failed(errno) => {
                eprintln!("sh: cannot read commands: {errno}");
                self.status = EXIT_USAGE;
                self.leaving = true;
            }
        }
    }

    /// Leads a process group that has the terminal, and lets Ctrl-C end the job in front of it but not itself.
    fn take_terminal(&self) {
        for number in [SIGINT, signal::SIGTTOU] {
            if let Err(errno) = sys::set_signal(number, Disposition::Ignore) {
                eprintln!("sh: cannot ignore signal {number}: {errno}");
            }
        }
        // Fails if we lead it already.
        let _ = sys::setpgid(0, 0);
        job::take_back_terminal();
    }

    /// Runs one line, or several joined by line ends.
    fn run_line(&mut self, line: &[u8]) {
        if let Some(text) = ai_text(line) {
            self.status = self.run_ai(text);
            return;
        }
        match tokenize(line).and_then(parse) {
            Ok(chains) => self.run_chains(&chains),
            Err(error) => {
                eprintln!("sh: {error}");
                self.status = EXIT_USAGE;
            }
        }
    }
}
