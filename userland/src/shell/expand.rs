//! What words become (POSIX.1-2017, XCU 2.6): tilde, parameters, substitutions, arithmetic, then splitting into fields,
//! names for patterns, and the removal of quotes.

use super::pattern::{Cell, bytes};
use super::tree::{List, Part, Word};
use super::{arithmetic, glob};
use crate::bytes::Bytes;
use alloc_crate::string::String;
use alloc_crate::vec::Vec;
use core::fmt;

/// Most bytes that one command's words may become.
pub const EXPANSION_MAX: usize = 1024 * 1024;

/// What an expansion asks of the shell around it.
pub trait Host {
    /// The value of a parameter that is neither `@` nor `*`; `None` if it has none.
    fn parameter(&self, name: &[u8]) -> Option<Vec<u8>>;
    /// The positional parameters.
    fn positional(&self) -> &[Vec<u8>];
    /// Gives a variable a value.
    ///
    /// # Errors
    /// It is read-only.
    fn assign(&mut self, name: &[u8], value: Vec<u8>) -> Result<(), Failure>;
    /// Runs commands and returns what they print.
    ///
    /// # Errors
    /// They could not be run, or printed more than [`EXPANSION_MAX`] bytes.
    fn substitute(&mut self, list: &List) -> Result<Vec<u8>, Failure>;
    /// The names in a directory; none if it cannot be read.
    fn names(&mut self, directory: &[u8]) -> Vec<Vec<u8>>;
    /// Whether a path leads to something.
    fn exists(&mut self, path: &[u8]) -> bool;
    /// `set -u`: a parameter without a value is an error.
    fn requires_values(&self) -> bool;
    /// `set -f`: patterns stand for themselves.
    fn ignores_patterns(&self) -> bool;
}

/// Why a word could not be expanded. The command it is in is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// `${NAME?…}` or `set -u`: the parameter and what is said about it.
    Parameter(Vec<u8>, Vec<u8>),
    /// `${NAME=…}` with something that is no variable.
    NotAssignable(Vec<u8>),
    /// The variable is read-only.
    ReadOnly(Vec<u8>),
    /// `$((…))`
    Arithmetic(&'static str),
    /// Too many bytes or names.
    TooMuch(&'static str),
    /// The commands of a substitution could not be run.
    Commands(String),
    /// Ctrl-C came.
    Interrupted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(name, message) => write!(f, "{}: {}", Bytes(name), Bytes(message)),
            Self::NotAssignable(name) => write!(f, "{}: cannot assign this way", Bytes(name)),
            Self::ReadOnly(name) => write!(f, "{}: is read only", Bytes(name)),
            Self::Arithmetic(what) => write!(f, "arithmetic: {what}"),
            Self::TooMuch(what) => write!(f, "too much: {what}"),
            Self::Commands(what) => f.write_str(what),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// The fields that words become: split, patterns replaced by names, quotes removed.
///
/// # Errors
/// A [`Failure`] of any word.
pub fn fields(words: &[Word], host: &mut impl Host) -> Result<Vec<Vec<u8>>, Failure> {
    let mut all = Vec::new();
    for word in words {
        let mut expander = Expander::new(host, true);
        expander.word(word, false)?;
        for field in expander.finish() {
            let names = if host.ignores_patterns() { Vec::new() } else { glob::paths(&field, host)? };
            if names.is_empty() {
                all.push(bytes(&field));
            } else {
                all.extend(names);
            }
        }
        if all.iter().map(Vec::len).sum::<usize>() > EXPANSION_MAX {
            return Err(Failure::TooMuch("text of a command"));
        }
    }
    Ok(all)
}

/// What one word becomes where it is neither split nor a pattern: a target, a value.
///
/// # Errors
/// A [`Failure`] of the word.
pub fn text(word: &Word, host: &mut impl Host) -> Result<Vec<u8>, Failure> {
    pattern(word, host).map(|cells| bytes(&cells))
}

/// The value of an assignment: like [`text`], but a tilde also counts behind a `:`.
///
/// # Errors
/// A [`Failure`] of the word.
pub fn value(word: &Word, host: &mut impl Host) -> Result<Vec<u8>, Failure> {
    let mut expander = Expander::new(host, false);
    expander.word(word, true)?;
    Ok(bytes(&expander.finish().concat()))
}

/// What one word becomes as a pattern.
///
/// # Errors
/// A [`Failure`] of the word.
pub fn pattern(word: &Word, host: &mut impl Host) -> Result<Vec<Cell>, Failure> {
    let mut expander = Expander::new(host, false);
    expander.word(word, false)?;
    Ok(expander.finish().concat())
}

/// What parts become between double quotes, as in a here-document.
///
/// # Errors
/// A [`Failure`] of a part.
pub fn quoted(parts: &[Part], host: &mut impl Host) -> Result<Vec<u8>, Failure> {
    let mut expander = Expander::new(host, false);
    expander.parts(parts, true)?;
    Ok(bytes(&expander.finish().concat()))
}

/// Fields while they grow.
pub(super) struct Expander<'h, H> {
    pub(super) host: &'h mut H,
    /// Whether values are split.
    pub(super) splits: bool,
    fields: Vec<Vec<Cell>>,
    /// The field that is going on.
    current: Option<Vec<Cell>>,
    /// The last that was seen is a blank of IFS that ended a field: a separator behind it is part of the same.
    after_blank: bool,
    size: usize,
    separators: Vec<u8>,
}

impl<'h, H: Host> Expander<'h, H> {
    fn new(host: &'h mut H, splits: bool) -> Self {
        let separators = host.parameter(b"IFS").unwrap_or_else(|| b" \t\n".to_vec());
        Self { host, splits, fields: Vec::new(), current: None, after_blank: false, size: 0, separators }
    }

    fn finish(mut self) -> Vec<Vec<Cell>> {
        self.fields.extend(self.current);
        self.fields
    }

    /// A word; in an assignment a tilde counts behind `:` too.
    fn word(&mut self, word: &Word, assignment: bool) -> Result<(), Failure> {
        for (index, part) in word.0.iter().enumerate() {
            match part {
                Part::Literal(text) => self.literal(text, index == 0, assignment)?,
                other => self.part(other, false)?,
            }
        }
        Ok(())
    }

    pub(super) fn parts(&mut self, parts: &[Part], quoted: bool) -> Result<(), Failure> {
        parts.iter().try_for_each(|part| self.part(part, quoted))
    }

    pub(super) fn part(&mut self, part: &Part, quoted: bool) -> Result<(), Failure> {
        match part {
            Part::Literal(text) => self.push(text, quoted),
            Part::Quoted(text) => {
                self.begin();
                self.push(text, true)
            }
            Part::Double(parts) => {
                if !self.is_no_field(parts) {
                    self.begin();
                }
                self.parts(parts, true)
            }
            Part::Parameter(parameter) => self.parameter(parameter, quoted),
            Part::Command(list) => {
                let output = self.host.substitute(list)?;
                let end = output.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
                self.put(&output[..end], quoted)
            }
            Part::Arithmetic(parts) => {
                let text = self::quoted(parts, self.host)?;
                let number = arithmetic::evaluate(&text, self.host)?;
                self.put(alloc_crate::format!("{number}").as_bytes(), quoted)
            }
        }
    }

    /// `"$@"` without positional parameters is no field at all.
    fn is_no_field(&self, parts: &[Part]) -> bool {
        let is_all = |part: &Part| matches!(part, Part::Parameter(parameter) if parameter.name == b"@");
        self.host.positional().is_empty() && !parts.is_empty() && parts.iter().all(is_all)
    }

    /// Text of the script, whose tildes are replaced.
    fn literal(&mut self, text: &[u8], first: bool, assignment: bool) -> Result<(), Failure> {
        let mut rest = text;
        let mut may_be_home = first;
        while !rest.is_empty() {
            if may_be_home {
                rest = self.home(rest, assignment)?;
            }
            let length = match rest.iter().position(|&byte| byte == b':') {
                Some(colon) if assignment => colon + 1,
                _ => rest.len(),
            };
            self.push(&rest[..length], false)?;
            rest = &rest[length..];
            may_be_home = true;
        }
        Ok(())
    }

    /// Replaces a `~` at the start of `text` that stands alone or before a slash; returns the rest. With `/` as the home,
    /// `~/x` is `/x` (POSIX.1-2024, XCU 2.6.1).
    pub(super) fn home<'t>(&mut self, text: &'t [u8], assignment: bool) -> Result<&'t [u8], Failure> {
        let Some(rest) = text.strip_prefix(b"~") else { return Ok(text) };
        let ends = rest.first().is_none_or(|&byte| byte == b'/' || (assignment && byte == b':'));
        match self.host.parameter(b"HOME") {
            Some(home) if ends => {
                let before_slash = home.strip_suffix(b"/").filter(|_| rest.first() == Some(&b'/'));
                self.push(before_slash.unwrap_or(&home), true).map(|()| rest)
            }
            _ => Ok(text),
        }
    }

    /// Begins a field, so that it counts even if it is empty.
    fn begin(&mut self) {
        self.after_blank = false;
        self.current.get_or_insert_default();
    }

    pub(super) fn end_field(&mut self) {
        self.fields.extend(self.current.take());
    }

    /// Adds text to the field that is going on.
    pub(super) fn push(&mut self, text: &[u8], quoted: bool) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.size += text.len();
        if self.size > EXPANSION_MAX {
            return Err(Failure::TooMuch("text of a word"));
        }
        self.begin();
        self.current.get_or_insert_default().extend(text.iter().map(|&byte| Cell { byte, quoted }));
        Ok(())
    }

    /// Adds a value, which is split unless it is quoted (XCU 2.6.5).
    pub(super) fn put(&mut self, value: &[u8], quoted: bool) -> Result<(), Failure> {
        if quoted || !self.splits {
            return self.push(value, quoted);
        }
        let mut rest = value;
        loop {
            let length = rest.iter().position(|byte| self.separators.contains(byte)).unwrap_or(rest.len());
            self.push(&rest[..length], false)?;
            let Some(&separator) = rest.get(length) else { return Ok(()) };
            rest = &rest[length + 1..];
            let blank = matches!(separator, b' ' | b'\t' | b'\n');
            match (self.current.is_some(), blank) {
                (true, _) => {
                    self.end_field();
                    self.after_blank = blank;
                }
                (false, true) => {}
                (false, false) if self.after_blank => self.after_blank = false,
                (false, false) => self.fields.push(Vec::new()),
            }
        }
    }

    /// The positional parameters: `$@` and `$*`.
    pub(super) fn all_positional(&mut self, at: bool, quoted: bool) -> Result<(), Failure> {
        let separator = self.separators.first().copied();
        let joined = match (self.splits, quoted, at) {
            (true, true, true) | (true, false, _) => None,
            (false, _, true) => Some(Some(b' ')),
            (_, _, false) => Some(separator),
        };
        for index in 0..self.host.positional().len() {
            let parameter = self.host.positional()[index].clone();
            if index > 0 {
                match joined {
                    Some(separator) => self.push(separator.as_slice(), true)?,
                    None => self.end_field(),
                }
            }
            if quoted {
                self.begin();
            }
            self.put(&parameter, quoted)?;
        }
        Ok(())
    }
}
