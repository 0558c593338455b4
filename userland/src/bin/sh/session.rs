//! Where commands come from: a text, a file, standard input, or a person at a terminal.

use crate::input::{Next, next_line};
use crate::terminal::Terminal;
use crate::{EXIT_INTERRUPTED, EXIT_NOT_FOUND, EXIT_USAGE, Leave, Run, SCRIPT_MAX, Shell, launch};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::process::EXIT_NOT_STARTED;
use askr_userland::shell::{LINE_MAX, Parser, SyntaxError, ai_text};
use askr_userland::{Errno, eprintln, io, println, sys};
use core::ops::ControlFlow::{Break, Continue};

/// After so many ends of input in a row the terminal is taken for gone.
const ENDS_MAX: u32 = 16;
/// What an interactive shell shows when it is ready.
const PROMPT: &str = "askr$ ";
/// What it shows when a command is not finished.
const PROMPT_MORE: &str = "> ";
/// Descriptors from here on are the shell's own.
pub(crate) const OWN_DESCRIPTORS: sys::Fd = 10;

impl Shell {
    /// Variables that every shell has.
    pub(crate) fn prepare(&mut self) {
        let directory = sys::getcwd().unwrap_or_default();
        let parent = format!("{}", sys::getppid()).into_bytes();
        for (name, value) in [(&b"IFS"[..], b" \t\n".to_vec()), (b"PWD", directory), (b"PPID", parent)] {
            // Nothing is read-only yet.
            let _ = self.variables.set(name, value);
        }
        if self.variables.get(b"PATH").is_none() {
            let _ = self.variables.set(b"PATH", launch::DEFAULT_PATH.to_vec());
        }
    }

    /// `sh -c TEXT [NAME ARG…]`
    pub(crate) fn run_argument(&mut self, text: &[u8]) {
        if !self.positional.is_empty() {
            self.name = self.positional.remove(0);
        }
        if let Some(text) = ai_text(text) {
            self.status = self.run_ai(text);
            return;
        }
        let _ = self.run_text(text, "");
    }

    /// `sh FILE [ARG…]`
    pub(crate) fn run_file(&mut self, path: &[u8]) {
        self.name = path.to_vec();
        match io::read_file(path, SCRIPT_MAX) {
            Ok(text) => {
                let _ = self.run_text(&text, &format!("{}: ", Bytes(path)));
            }
            Err(errno) => {
                eprintln!("sh: {}: {errno}", Bytes(path));
                self.status = if errno == Errno::ENOENT { EXIT_NOT_FOUND } else { EXIT_NOT_STARTED };
            }
        }
    }

    /// Runs a whole text, if there is no syntax error anywhere in it. `place` says where it is from, for messages.
    pub(crate) fn run_text(&mut self, text: &[u8], place: &str) -> Run {
        let mut parser = Parser::new(text);
        loop {
            match parser.next_command() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return self.refuse(&error, place),
            }
        }
        let mut parser = Parser::new(text);
        // Without an error, as before.
        while let Ok(Some(list)) = parser.next_command() {
            self.run_list(&list)?;
        }
        Continue(())
    }

    fn refuse(&mut self, error: &SyntaxError, place: &str) -> Run {
        eprintln!("sh: {place}{error}");
        self.status = EXIT_USAGE;
        Break(self.fatal())
    }

    /// How an error is left that ends a script, but not the shell of a person.
    pub(crate) fn fatal(&self) -> Leave {
        if self.control.is_some() { Leave::Abandon } else { Leave::Exit }
    }

    /// `sh` without arguments.
    pub(crate) fn run_input(&mut self) {
        if sys::is_terminal(sys::STDIN) {
            self.take_terminal();
            self.person = Some(Box::new(Terminal::new()));
            self.run_lines(|shell, more| {
                let Some(mut person) = shell.person.take() else { return Next::End };
                let next = person.next(if more { PROMPT_MORE } else { PROMPT }, shell);
                shell.person = Some(person);
                next
            });
            self.hang_up();
        } else {
            self.run_lines(|_, _| next_line());
        }
    }

    /// Runs line after line until the end of the input or `exit`.
    fn run_lines(&mut self, mut read: impl FnMut(&mut Self, bool) -> Next) {
        let mut text = Vec::new();
        let mut ends = 0;
        loop {
            if text.is_empty() && self.control.is_some() {
                self.jobs.report_ended();
            }
            let next = read(self, !text.is_empty());
            ends = if matches!(next, Next::End) { ends + 1 } else { 0 };
            match next {
                Next::End if !text.is_empty() => {
                    if self.run_more(&mut text, true).is_break() {
                        return;
                    }
                }
                Next::End if self.control.is_some() && ends < ENDS_MAX => {
                    println!("\nType `exit` to end this shell, `poweroff` to switch the machine off.");
                }
                Next::Line(line) => {
                    text.extend(line);
                    text.push(b'\n');
                    if self.run_more(&mut text, false).is_break() {
                        return;
                    }
                }
                other => {
                    text.clear();
                    if self.handle(&other).is_break() {
                        return;
                    }
                }
            }
        }
    }

    /// What is no line.
    fn handle(&mut self, next: &Next) -> Run {
        match next {
            Next::TooLong => {
                eprintln!("sh: a line has more than {LINE_MAX} bytes; it was not run");
                self.status = EXIT_USAGE;
            }
            Next::Interrupted => self.status = EXIT_INTERRUPTED,
            Next::Failed(errno) => {
                eprintln!("sh: cannot read commands: {errno}");
                self.status = EXIT_USAGE;
                return Break(Leave::Exit);
            }
            Next::Line(_) | Next::End => return Break(Leave::Exit),
        }
        Continue(())
    }

    /// Runs what was read, if it is complete. At the end of the input, what is not complete is a mistake.
    fn run_more(&mut self, text: &mut Vec<u8>, at_end: bool) -> Run {
        if let Some(words) = ai_text(text) {
            self.watch_for_interrupts();
            self.status = self.run_ai(words);
            text.clear();
            return Continue(());
        }
        let mut parser = Parser::new(text);
        let mut lists = Vec::new();
        let error = loop {
            match parser.next_command() {
                Ok(Some(list)) => lists.push(list),
                Ok(None) => break None,
                Err(error) if error.is_unfinished() && !at_end && text.len() < SCRIPT_MAX => {
                    return Continue(());
                }
                Err(error) => break Some(error),
            }
        };
        let single = text.iter().filter(|&&byte| byte == b'\n').count() <= 1;
        text.clear();
        if let Some(error) = error {
            eprintln!("sh: {}", if single { short(&error) } else { format!("{error}") });
            self.status = EXIT_USAGE;
            return if self.control.is_some() { Continue(()) } else { Break(Leave::Exit) };
        }
        self.watch_for_interrupts();
        let run = lists.iter().try_for_each(|list| self.run_list(list));
        match run {
            Break(Leave::Exit) => run,
            _ => Continue(()),
        }
    }
}

/// A mistake in a single line, without its number.
fn short(error: &SyntaxError) -> String {
    let text = format!("{error}");
    text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.into())
}
