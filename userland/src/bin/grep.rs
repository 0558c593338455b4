//! `grep [-EFHcehilnoqrsvwx] PATTERN [FILE...]`: prints the lines that match.
//!
//! Exit codes: 0 a line matched, 1 none did, 2 something went wrong.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use askr_userland::cli::{Given, Syntax, flag, option};
use askr_userland::input::Input;
use askr_userland::names::join;
use askr_userland::pattern::{Kind, Matcher, Rules};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io, print, process, tree};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "grep",
    operands: "PATTERN [FILE]...",
    about: "Prints the lines of files, or of standard input, that match a pattern.",
    flags: &[
        flag(b'i', "ignore-case", "large and small letters are the same"),
        flag(b'v', "invert-match", "the lines that do not match"),
        flag(b'n', "line-number", "with their numbers"),
        flag(b'c', "count", "only how many"),
        flag(b'l', "files-with-matches", "only names of files"),
        flag(b'q', "quiet", "nothing: the exit status tells"),
        flag(b'r', "recursive", "all files in directories"),
        flag(b'R', "", "as -r"),
        flag(b'H', "with-filename", "with the name of the file"),
        flag(b'h', "no-filename", "without it"),
        flag(b'o', "only-matching", "only what matches"),
        flag(b'w', "word-regexp", "whole words"),
        flag(b'x', "line-regexp", "whole lines"),
        flag(b's', "no-messages", "say nothing of files that cannot be read"),
        flag(b'E', "extended-regexp", "( | + ? { have a meaning"),
        flag(b'F', "fixed-strings", "nothing has a meaning"),
        flag(b'G', "basic-regexp", r"\( \| \+ \? \{ have a meaning: the default"),
        option(b'e', "regexp", "PATTERN", "one of several patterns"),
    ],
};

/// A search through files.
struct Search<'a> {
    given: &'a Given<'static>,
    matcher: Matcher,
    /// Whether a line is told with its file.
    named: bool,
    found: bool,
    outcome: Outcome,
}

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 2);
    let mut patterns: Vec<&[u8]> = given.values(b'e').collect();
    let mut files = &given.operands[..];
    if patterns.is_empty() {
        let Some((first, rest)) = files.split_first() else {
            misuse(&SYNTAX, 2, format_args!("a pattern is missing"))
        };
        (patterns, files) = ([*first].into(), rest);
    }
    let kind = match given.last_of(b"EFG") {
        Some((b'E', _)) => Kind::Extended,
        Some((b'F', _)) => Kind::Fixed,
        _ => Kind::Basic,
    };
    let rules = Rules { ignore_case: given.has(b'i'), words: given.has(b'w'), lines: given.has(b'x') };
    let matcher = Matcher::new(&patterns, kind, rules)
        .unwrap_or_else(|wrong| misuse(&SYNTAX, 2, format_args!("{wrong}")));
    let recursive = given.last_of(b"rR").is_some();
    let named = match given.last_of(b"Hh") {
        Some((letter, _)) => letter == b'H',
        None => files.len() > 1 || recursive,
    };
    let mut search = Search { given: &given, matcher, named, found: false, outcome: Outcome::new() };
    let default: &[&[u8]] = if recursive { &[b"."] } else { &[b"-"] };
    for name in if files.is_empty() { default } else { files } {
        if recursive { search.tree(name, true) } else { search.file(name) }
    }
    match (search.outcome.status(), search.found) {
        (0, found) => i32::from(!found),
        _ => 2,
    }
}

impl Search<'_> {
    /// All files in a directory. Directories are as deep as a path is long. Links inside of it are not followed.
    fn tree(&mut self, path: &[u8], follow: bool) {
        match tree::stat(path, follow) {
            Ok(found) if tree::is_directory(&found) => match io::list_directory(path) {
                Ok(mut names) => {
                    names.sort_unstable();
                    for name in names.iter().filter(|name| !matches!(&name[..], b"." | b"..")) {
                        // Without a directory given, paths are shown without one.
                        let inside = if path == b"." && self.given.operands.len() < 2 {
                            name.clone()
                        } else {
                            join(path, name)
                        };
                        self.tree(&inside, false);
                    }
                }
                Err(errno) => self.complain(path, errno),
            },
            // Devices and pipes are not read through.
            Ok(found) if follow || found.mode & askr_abi::types::S_IFMT == askr_abi::types::S_IFREG => {
                self.file(path);
            }
            Ok(_) => {}
            Err(errno) => self.complain(path, errno),
        }
    }

    fn complain(&self, name: &[u8], errno: Errno) {
        if self.given.has(b's') {
            self.outcome.note(1);
        } else {
            self.outcome.complain_of(name, errno);
        }
    }

    fn file(&mut self, name: &[u8]) {
        let shown = if name == b"-" { b"(standard input)" } else { name };
        match Input::open(name).and_then(|input| self.lines(&input, shown)) {
            Ok(count) => {
                if self.given.has(b'c') && !self.given.has(b'q') {
                    self.print_head(shown, None);
                    print!("{count}\n");
                }
            }
            Err(errno) => self.complain(name, errno),
        }
    }

    /// The number of lines that were found in one file.
    fn lines(&mut self, input: &Input, name: &[u8]) -> Result<u64, Errno> {
        let silent = self.given.last_of(b"cql").is_some();
        let (mut number, mut count) = (0_u64, 0);
        let mut lines = input.lines();
        while let Some(whole) = lines.next_line()? {
            number += 1;
            let line = whole.strip_suffix(b"\n").unwrap_or(whole);
            if self.matcher.find(line).is_some() == self.given.has(b'v') {
                continue;
            }
            count += 1;
            self.found = true;
            if self.given.has(b'q') {
                process::exit(0);
            }
            if self.given.has(b'l') {
                io::print_name(name);
                io::print_bytes(b"\n");
                break;
            }
            match self.given.has(b'o') {
                _ if silent => {}
                true if self.given.has(b'v') => {}
                true => self.print_matches(name, number, line),
                false => {
                    self.print_head(name, Some(number));
                    io::print_bytes(line);
                    io::print_bytes(b"\n");
                }
            }
        }
        Ok(count)
    }

    /// Every match in a line, each on a line of its own.
    fn print_matches(&mut self, name: &[u8], number: u64, line: &[u8]) {
        let mut from = 0;
        // Each round goes on along the line.
        while let Some(found) = self.matcher.find_from(line, from) {
            from = found.end.max(found.start + 1);
            if !found.is_empty() {
                self.print_head(name, Some(number));
                io::print_bytes(&line[found]);
                io::print_bytes(b"\n");
            }
        }
    }

    fn print_head(&self, name: &[u8], number: Option<u64>) {
        if self.named {
            io::print_name(name);
            io::print_bytes(b":");
        }
        if let Some(number) = number.filter(|_| self.given.has(b'n')) {
            print!("{number}:");
        }
    }
}
