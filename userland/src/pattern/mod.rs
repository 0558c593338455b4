//! Patterns of `grep`: plain text, and POSIX regular expressions (XBD chapter 9) without back-references. They are
//! translated to the syntax of the crate `regex-automata` and run by its PikeVM, whose time grows with pattern times
//! line and never faster.

mod translate;

use alloc_crate::boxed::Box;
use alloc_crate::format;
use alloc_crate::string::{String, ToString};
use alloc_crate::vec::Vec;
use core::fmt;
use core::ops::Range;
use regex_automata::Input;
use regex_automata::nfa::thompson::NFA;
use regex_automata::nfa::thompson::pikevm::{Cache, PikeVM};
use regex_automata::util::syntax;

/// Most memory of a compiled pattern, in bytes.
const PROGRAM_MAX: usize = 2 << 20;

/// How a pattern is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `\(`, `\{`, `\|` have a meaning, `(`, `{`, `|` stand for themselves.
    Basic,
    /// The other way round.
    Extended,
    /// Everything stands for itself.
    Fixed,
}

/// What counts as a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Large and small letters of ASCII are the same.
    pub ignore_case: bool,
    /// No letter, digit or underscore stands next to the match.
    pub words: bool,
    /// The match is the whole line.
    pub lines: bool,
}

/// Looks for a match of any of several patterns.
#[derive(Debug)]
pub struct Matcher(Engine);

#[derive(Debug)]
enum Engine {
    Plain(Vec<Vec<u8>>),
    Regex(Box<(PikeVM, Cache)>),
}

impl Matcher {
    /// A matcher for the lines of all `patterns`.
    ///
    /// # Errors
    /// What is wrong with a pattern, for people.
    pub fn new(patterns: &[&[u8]], kind: Kind, rules: Rules) -> Result<Self, String> {
        let all: Vec<&[u8]> =
            patterns.iter().flat_map(|pattern| pattern.split(|&byte| byte == b'\n')).collect();
        let is_plain = |pattern: &&[u8]| {
            kind == Kind::Fixed || !pattern.iter().any(|byte| translate::SPECIAL.contains(byte))
        };
        if rules == Rules::default() && all.iter().all(is_plain) {
            return Ok(Self(Engine::Plain(all.iter().map(|pattern| pattern.to_vec()).collect())));
        }
        // Without tables of letters there is no "same letter" beyond ASCII.
        let unicode = !rules.ignore_case && all.iter().all(|pattern| core::str::from_utf8(pattern).is_ok());
        let mut whole = String::new();
        for pattern in all {
            let bar = if whole.is_empty() { "" } else { "|" };
            whole += &format!("{bar}(?:{})", translate::translate(pattern, kind, unicode)?);
        }
        if rules.words {
            whole = format!(r"(?-u:\b{{start-half}})(?:{whole})(?-u:\b{{end-half}})");
        }
        if rules.lines {
            whole = format!("^(?:{whole})$");
        }
        let syntax = syntax::Config::new().unicode(unicode).utf8(false).case_insensitive(rules.ignore_case);
        let program = NFA::config().utf8(false).nfa_size_limit(Some(PROGRAM_MAX));
        let parsed = syntax::parse_with(&whole, &syntax).map_err(|error| reason(&error))?;
        let program = NFA::compiler().configure(program).build_from_hir(&parsed);
        let program = program.map_err(|error| reason(&error))?;
        let engine = PikeVM::new_from_nfa(program).map_err(|error| reason(&error))?;
        let cache = engine.create_cache();
        Ok(Self(Engine::Regex(Box::new((engine, cache)))))
    }

    /// The first match in `line`, which has no newline.
    pub fn find(&mut self, line: &[u8]) -> Option<Range<usize>> {
        self.find_from(line, 0)
    }

    /// The first match in `line` that begins at `from` or after.
    pub fn find_from(&mut self, line: &[u8], from: usize) -> Option<Range<usize>> {
        let rest = line.get(from..)?;
        match &mut self.0 {
            Engine::Plain(patterns) => {
                let found = patterns.iter().filter_map(|pattern| {
                    find_plain(rest, pattern).map(|at| from + at..from + at + pattern.len())
                });
                found.min_by_key(|range| range.start)
            }
            Engine::Regex(regex) => {
                let (engine, cache) = &mut **regex;
                engine.find(cache, Input::new(line).range(from..)).map(|found| found.range())
            }
        }
    }
}

/// The reason at the end of an error's text. Before it the pattern is drawn, which is not the one that was given.
fn reason(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string()
}

fn find_plain(line: &[u8], pattern: &[u8]) -> Option<usize> {
    let Some(&first) = pattern.first() else { return Some(0) };
    let last = line.len().checked_sub(pattern.len())?;
    line[..=last]
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == first)
        .map(|(at, _)| at)
        .find(|&at| line[at..].starts_with(pattern))
}

#[cfg(test)]
mod tests;
