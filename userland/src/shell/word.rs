//! Quoting and expansions within words (POSIX.1-2017, XCU 2.2 and 2.6).

use super::error::ErrorKind;
use super::lexer::{Parser, Result};
use super::tree::{List, Operation, Parameter, Part, Word};
use super::{is_blank, is_name_byte, name_length};
use alloc_crate::boxed::Box;
use alloc_crate::vec::Vec;

/// Where text stands, which decides what is special in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// A word: ends at a blank or an operator.
    Word,
    /// Between double quotes.
    Double,
    /// The word in `${…}`; the flag is set between double quotes.
    Brace(bool),
    /// A here-document: ends with the text.
    Here,
    /// Between `$((` and `))`.
    Arithmetic,
}

impl Context {
    /// Whether the rules of double quotes hold.
    pub(super) const fn is_double(self) -> bool {
        !matches!(self, Self::Word | Self::Brace(false))
    }

    /// What a backslash protects here. Elsewhere it protects everything.
    pub(super) const fn escapes(self) -> &'static [u8] {
        match self {
            Self::Word | Self::Brace(false) => b"",
            Self::Double => b"$`\\\"",
            Self::Brace(true) => b"$`\\\"}",
            Self::Here | Self::Arithmetic => b"$`\\",
        }
    }

    const fn missing(self) -> &'static str {
        match self {
            Self::Word | Self::Here => "the end of a word",
            Self::Double => "the closing `\"`",
            Self::Brace(_) => "the closing `}`",
            Self::Arithmetic => "the closing `))`",
        }
    }
}

/// Parts of a word while it is read; joins neighbours of a kind.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn literal(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            Some(Part::Literal(text)) => text.extend_from_slice(bytes),
            _ => self.0.push(Part::Literal(bytes.to_vec())),
        }
    }

    fn quoted(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            Some(Part::Quoted(text)) => text.extend_from_slice(bytes),
            _ => self.0.push(Part::Quoted(bytes.to_vec())),
        }
    }

    /// Text that a backslash protects, or a `$` that begins nothing.
    fn plain(&mut self, context: Context, bytes: &[u8]) {
        if context.is_double() { self.literal(bytes) } else { self.quoted(bytes) }
    }
}

impl Parser<'_> {
    /// Reads up to the end that the context has, and takes it unless it is a word's.
    pub(super) fn parts(&mut self, context: Context) -> Result<Vec<Part>> {
        self.nested(|parser| parser.parts_here(context))
    }

    fn parts_here(&mut self, context: Context) -> Result<Vec<Part>> {
        let mut parts = Parts::default();
        // Open parentheses in an arithmetic expansion.
        let mut open = 0_usize;
        loop {
            let Some(byte) = self.peek_byte() else {
                return match context {
                    Context::Word | Context::Here => Ok(parts.0),
                    _ => self.fail(ErrorKind::Unfinished(context.missing())),
                };
            };
            let ends = match context {
                Context::Word if is_word_end(byte) => return Ok(parts.0),
                Context::Double => self.take_text(b"\""),
                Context::Brace(_) => self.take_text(b"}"),
                Context::Arithmetic if open == 0 && byte == b')' => {
                    if !self.take_text(b"))") {
                        return self.fail(ErrorKind::Unexpected(b")".to_vec()));
                    }
                    true
                }
                _ => false,
            };
            if ends {
                return Ok(parts.0);
            }
            self.skip(1);
            match byte {
                b'\\' => self.backslash(context, &mut parts)?,
                b'$' => self.dollar(context, &mut parts)?,
                b'`' => parts.0.push(Part::Command(self.backquotes(context)?)),
                b'\'' if !context.is_double() => self.single_quotes(&mut parts)?,
                b'"' if matches!(context, Context::Word | Context::Brace(_)) => {
                    parts.0.push(Part::Double(self.parts(Context::Double)?));
                }
                _ => {
                    open = match byte {
                        b'(' => open + 1,
                        b')' => open.saturating_sub(1),
                        _ => open,
                    };
                    parts.literal(&[byte]);
                }
            }
        }
    }

    /// What follows a backslash.
    fn backslash(&mut self, context: Context, parts: &mut Parts) -> Result<()> {
        let Some(byte) = self.peek_byte() else {
            if context == Context::Here {
                parts.literal(b"\\");
                return Ok(());
            }
            return self.fail(ErrorKind::Unfinished("what `\\` stands before"));
        };
        if byte == b'\n' {
            self.skip(1);
        } else if !context.is_double() || context.escapes().contains(&byte) {
            self.skip(1);
            parts.plain(context, &[byte]);
        } else {
            parts.literal(b"\\");
        }
        Ok(())
    }

    fn single_quotes(&mut self, parts: &mut Parts) -> Result<()> {
        let rest = self.rest();
        let Some(length) = rest.iter().position(|&byte| byte == b'\'') else {
            self.skip(rest.len());
            return self.fail(ErrorKind::Unfinished("the closing `'`"));
        };
        self.skip(length + 1);
        parts.quoted(&rest[..length]);
        Ok(())
    }

    /// The commands between backquotes. A backslash there protects only some characters, and is gone before the
    /// commands are parsed.
    fn backquotes(&mut self, context: Context) -> Result<List> {
        let mut text = Vec::new();
        loop {
            let Some(byte) = self.peek_byte() else {
                return self.fail(ErrorKind::Unfinished("the closing `` ` ``"));
            };
            self.skip(1);
            let protects = |next: u8| {
                matches!(next, b'$' | b'`' | b'\\') || (next == b'"' && context == Context::Double)
            };
            match (byte, self.peek_byte()) {
                (b'`', _) => break,
                (b'\\', Some(next)) if protects(next) => {
                    self.skip(1);
                    text.push(next);
                }
                _ => text.push(byte),
            }
        }
        self.nested(|parser| parser.within(&text, |inner| inner.whole()))
    }

    /// What follows a `$`. Where that is nothing, the `$` stands for itself.
    fn dollar(&mut self, context: Context, parts: &mut Parts) -> Result<()> {
        if self.take_text(b"((") {
            parts.0.push(Part::Arithmetic(self.parts(Context::Arithmetic)?));
        } else if self.take_text(b"(") {
            parts.0.push(Part::Command(self.substitution()?));
        } else if self.take_text(b"{") {
            parts.0.push(Part::Parameter(Box::new(self.braces(context.is_double())?)));
        } else {
            let rest = self.rest();
            let length = match rest.first() {
                Some(byte) if byte.is_ascii_digit() || is_special(*byte) => 1,
                _ => name_length(rest),
            };
            if length == 0 {
                parts.plain(context, b"$");
                return Ok(());
            }
            let name = rest[..length].to_vec();
            parts.0.push(Part::Parameter(Box::new(Parameter { name, operation: Operation::Value })));
            self.skip(length);
        }
        Ok(())
    }

    /// What stands between `${` and `}`.
    fn braces(&mut self, double: bool) -> Result<Parameter> {
        let rest = self.rest();
        if rest.first() == Some(&b'#') {
            let length = parameter_length(&rest[1..]);
            if length > 0 && rest.get(1 + length) == Some(&b'}') {
                self.skip(length + 2);
                return Ok(Parameter { name: rest[1..=length].to_vec(), operation: Operation::Length });
            }
        }
        let length = parameter_length(rest);
        if length == 0 {
            return match rest.is_empty() {
                true => self.fail(ErrorKind::Unfinished("the closing `}`")),
                false => self.fail(ErrorKind::BadSubstitution),
            };
        }
        self.skip(length);
        let operation = self.operation(double)?;
        Ok(Parameter { name: rest[..length].to_vec(), operation })
    }

    fn operation(&mut self, double: bool) -> Result<Operation> {
        let colon = self.take_text(b":");
        let Some(sign) = self.peek_byte() else {
            return self.fail(ErrorKind::Unfinished("the closing `}`"));
        };
        self.skip(1);
        let longest = !colon && matches!(sign, b'#' | b'%') && self.take_text(&[sign]);
        let make: fn(bool, Word) -> Operation = match (sign, colon) {
            (b'}', false) => return Ok(Operation::Value),
            (b'-', _) => Operation::Default,
            (b'=', _) => Operation::Assign,
            (b'?', _) => Operation::Require,
            (b'+', _) => Operation::Alternative,
            (b'#', false) => Operation::TrimStart,
            (b'%', false) => Operation::TrimEnd,
            _ => return self.fail(ErrorKind::BadSubstitution),
        };
        // The quotes around the expansion do not quote a pattern in it.
        let context = Context::Brace(double && !matches!(sign, b'#' | b'%'));
        Ok(make(colon || longest, Word(self.parts(context)?)))
    }
}

/// Length of the parameter's name at the start of `text`.
fn parameter_length(text: &[u8]) -> usize {
    match text.first() {
        Some(byte) if byte.is_ascii_digit() => text.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        Some(byte) if is_special(*byte) => 1,
        _ => name_length(text),
    }
}

/// Whether `$` with this byte is a special parameter (XCU 2.5.2).
const fn is_special(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

/// Whether an unquoted word ends before this byte.
pub(super) const fn is_word_end(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// The name and the value of `NAME=VALUE`, if the word is that.
pub(super) fn assignment(mut word: Word) -> core::result::Result<(Vec<u8>, Word), Word> {
    let Some(Part::Literal(text)) = word.0.first_mut() else { return Err(word) };
    let length = name_length(text);
    if length == 0 || text.get(length) != Some(&b'=') {
        return Err(word);
    }
    let name = text[..length].to_vec();
    text.drain(..=length);
    if text.is_empty() {
        word.0.remove(0);
    }
    debug_assert!(name.iter().all(|&byte| is_name_byte(byte)));
    Ok((name, word))
}
