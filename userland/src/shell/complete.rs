//! What Tab completes: which word is meant, and what to add to it. Pure; the shell looks for names.

use super::is_blank;
use crate::bytes::Bytes;
use alloc_crate::format;
use alloc_crate::string::String;
use alloc_crate::vec::Vec;
use core::iter::repeat_n;
use unicode_width::UnicodeWidthStr;

/// Most names that are listed.
pub const LISTED_MAX: usize = 200;
/// Columns of a screen of unknown size.
const COLUMNS: usize = 80;
/// Blanks between names.
const GAP: usize = 2;

/// How the end of the line is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// The word at the end of a line, as far as it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// It is the name of a command.
    pub command: bool,
    /// Its path up to the last slash, that included, without quotes; a tilde is left as it is.
    pub folder: Vec<u8>,
    /// What is behind that.
    pub start: Vec<u8>,
    quote: Quote,
}

/// A name that fits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The name, without its folder.
    pub name: Vec<u8>,
    /// It is a folder.
    pub folder: bool,
}

/// What came of a Tab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// To be inserted at the cursor.
    pub insert: Vec<u8>,
    /// The names that fit, if there are several and nothing can be inserted; at most [`LISTED_MAX`].
    pub list: Vec<Candidate>,
    /// How many more there are.
    pub more: usize,
}

/// Finds the word that ends where the line ends. `None` where there is nothing to complete: in a comment, or behind
/// an expansion whose value is not known.
#[must_use]
pub fn target(line: &[u8]) -> Option<Target> {
    let mut scan = Scan::default();
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        rest = scan.take(byte, rest)?;
    }
    let text = scan.word;
    let slash = text.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    let command = scan.command && slash == 0;
    Some(Target { command, folder: text[..slash].to_vec(), start: text[slash..].to_vec(), quote: scan.quote })
}

/// Where a line is, word by word.
struct Scan {
    /// The word so far, without quotes.
    word: Vec<u8>,
    /// A word has begun, though it may be empty.
    begun: bool,
    quote: Quote,
    /// The word is a command's name.
    command: bool,
    /// Behind a redirection: the next word is a file's name, and the one after it what it was to be.
    redirect: Option<bool>,
}

impl Default for Scan {
    fn default() -> Self {
        Self { word: Vec::new(), begun: false, quote: Quote::None, command: true, redirect: None }
    }
}

impl Scan {
    /// Takes a byte, and as many of those behind it as belong to it; what is left. `None` if there is nothing to
    /// complete.
    fn take<'l>(&mut self, byte: u8, rest: &'l [u8]) -> Option<&'l [u8]> {
        match (self.quote, byte) {
            (Quote::Single, b'\'') | (Quote::Double, b'"') => self.quote = Quote::None,
            (Quote::None, b'\'') => self.begin(Quote::Single),
            (Quote::None, b'"') => self.begin(Quote::Double),
            (Quote::None | Quote::Double, b'\\') => return self.escaped(rest),
            (Quote::None | Quote::Double, b'$' | b'`') => return self.expansion(byte, rest),
            (Quote::None, b'#') if !self.begun => return rest.contains(&b'\n').then_some(rest),
            (Quote::None, b'<' | b'>') => {
                // A number before it belongs to it.
                let was_command = self.redirect.take().unwrap_or(self.command);
                self.end_word();
                self.command = false;
                self.redirect = Some(was_command);
            }
            (Quote::None, byte) if is_blank(byte) => {
                if self.begun {
                    self.word_ended();
                }
            }
            (Quote::None, byte) if is_word_break(byte) => {
                self.end_word();
                self.redirect = None;
                self.command = byte != b')';
            }
            _ => {
                self.begun = true;
                self.word.push(byte);
            }
        }
        Some(rest)
    }

    fn begin(&mut self, quote: Quote) {
        self.begun = true;
        self.quote = quote;
    }

    fn escaped<'l>(&mut self, rest: &'l [u8]) -> Option<&'l [u8]> {
        self.begun = true;
        let Some((&next, after)) = rest.split_first() else {
            // The next key would be protected.
            return None;
        };
        if self.quote == Quote::Double && !matches!(next, b'$' | b'`' | b'"' | b'\\' | b'\n') {
            self.word.push(b'\\');
            return Some(rest);
        }
        if next != b'\n' {
            self.word.push(next);
        }
        Some(after)
    }

    /// A command substitution begins commands; the value of anything else is not known, and what follows in the word
    /// cannot be completed.
    fn expansion<'l>(&mut self, byte: u8, rest: &'l [u8]) -> Option<&'l [u8]> {
        if byte == b'`' || (rest.starts_with(b"(") && !rest.starts_with(b"((")) {
            *self = Self::default();
            return Some(if byte == b'`' { rest } else { &rest[1..] });
        }
        let ends = |&byte: &u8| is_blank(byte) || is_word_break(byte) || matches!(byte, b'<' | b'>');
        let end = rest.iter().position(ends)?;
        self.begun = true;
        Some(&rest[end..])
    }

    /// A blank behind a word.
    fn word_ended(&mut self) {
        let is_assignment = super::name_length(&self.word) > 0
            && self.word.get(super::name_length(&self.word)) == Some(&b'=');
        let goes_on = matches!(
            self.word.as_slice(),
            b"if"
                | b"then"
                | b"else"
                | b"elif"
                | b"while"
                | b"until"
                | b"do"
                | b"!"
                | b"{"
                | b"exec"
                | b"command"
        );
        let command = match self.redirect.take() {
            Some(before) => before,
            None => self.command && (is_assignment || goes_on),
        };
        self.end_word();
        self.command = command;
    }

    fn end_word(&mut self) {
        self.word.clear();
        self.begun = false;
    }
}

/// What to insert or list for the names that begin with what is there. They may come in any order, twice too.
#[must_use]
pub fn complete(target: &Target, candidates: Vec<Candidate>) -> Completion {
    let mut fitting: Vec<Candidate> =
        candidates.into_iter().filter(|candidate| candidate.name.starts_with(&target.start)).collect();
    fitting.sort_unstable();
    fitting.dedup_by(|next, first| next.name == first.name);
    let (Some(first), Some(last)) = (fitting.first(), fitting.last()) else { return Completion::default() };
    // They are in order, so what first and last have in common, all have.
    let common = first.name.iter().zip(&last.name).take_while(|(first, last)| first == last).count();
    let common = if fitting.len() == 1 { common } else { whole_characters(&first.name, common) };
    let mut insert = protected(&first.name[target.start.len()..common.max(target.start.len())], target);
    if fitting.len() == 1 {
        insert.extend_from_slice(match (first.folder, target.quote) {
            (true, _) => b"/",
            (false, Quote::None) => b" ",
            (false, Quote::Single) => b"' ",
            (false, Quote::Double) => b"\" ",
        });
    }
    if !insert.is_empty() {
        return Completion { insert, ..Completion::default() };
    }
    let more = fitting.len().saturating_sub(LISTED_MAX);
    fitting.truncate(LISTED_MAX);
    Completion { insert, list: fitting, more }
}

/// The names as lines of a screen with so many columns (0 if that is not known), and how many are not shown.
#[must_use]
pub fn listing(completion: &Completion, columns: usize) -> String {
    let columns = if columns == 0 { COLUMNS } else { columns };
    let text = |candidate: &Candidate| {
        format!("{}{}", Bytes(&candidate.name), if candidate.folder { "/" } else { "" })
    };
    let names: Vec<String> = completion.list.iter().map(text).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0) + GAP;
    let per_row = (columns / width).max(1);
    let mut lines = String::new();
    for row in names.chunks(per_row) {
        for (index, name) in row.iter().enumerate() {
            lines.push_str(name);
            if index + 1 < row.len() {
                lines.extend(repeat_n(' ', width - name.width()));
            }
        }
        lines.push('\n');
    }
    if completion.more > 0 {
        lines.push_str(&format!("({} more)\n", completion.more));
    }
    lines
}

/// The longest length up to `length` that cuts no character.
fn whole_characters(name: &[u8], length: usize) -> usize {
    let mut end = 0;
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            if end + character.len_utf8() > length {
                return end;
            }
            end += character.len_utf8();
        }
        for _ in chunk.invalid() {
            if end + 1 > length {
                return end;
            }
            end += 1;
        }
    }
    end
}

/// A part of a name so that it means itself where the line ends.
fn protected(part: &[u8], target: &Target) -> Vec<u8> {
    let mut text = Vec::new();
    let mut first = target.folder.is_empty() && target.start.is_empty();
    for &byte in part {
        match target.quote {
            // A backslash before a line end would join the lines.
            Quote::None if byte == b'\n' => text.extend_from_slice(b"'\n'"),
            Quote::None if is_special(byte) || (first && matches!(byte, b'~' | b'#')) => {
                text.extend([b'\\', byte]);
            }
            Quote::Single if byte == b'\'' => text.extend_from_slice(b"'\\''"),
            Quote::Double if matches!(byte, b'$' | b'`' | b'"' | b'\\') => text.extend([b'\\', byte]),
            _ => text.push(byte),
        }
        first = false;
    }
    text
}

/// Whether the byte is an operator between commands, or begins one.
const fn is_word_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b';' | b'&' | b'|' | b'(' | b')')
}

const fn is_special(byte: u8) -> bool {
    is_blank(byte)
        || is_word_break(byte)
        || matches!(
            byte,
            b'<' | b'>' | b'\'' | b'"' | b'\\' | b'$' | b'`' | b'*' | b'?' | b'[' | b']' | b'{' | b'}' | b'!'
        )
}

#[cfg(test)]
#[path = "complete_tests.rs"]
mod tests;
