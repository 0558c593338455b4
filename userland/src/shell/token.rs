//! Words and operators.

use alloc_crate::vec::Vec;
use core::fmt;
use core::iter::Peekable;
use core::slice::Iter;

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Stands for itself.
    Literal(Vec<u8>),
    /// `$?`: the exit status of the last command.
    Status,
    /// `$NAME`: an environment variable.
    Variable(Vec<u8>),
}

/// A word before `$` is replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its pieces, in order.
    pub parts: Vec<Part>,
    /// Whether any of it was quoted: an empty word counts only then.
    pub quoted: bool,
}

impl Word {
    fn push(&mut self, byte: u8) {
        if let Some(Part::Literal(text)) = self.parts.last_mut() {
            text.push(byte);
        } else {
            self.parts.push(Part::Literal([byte].to_vec()));
        }
    }

    /// The word as it was written, but for quotes: to show, not to run.
    #[must_use]
    pub fn source(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(bytes) => text.extend_from_slice(bytes),
                Part::Status => text.extend_from_slice(b"$?"),
                Part::Variable(name) => text.extend([b"$", name.as_slice()].concat()),
            }
        }
        text
    }

    /// The word with `$?` and variables replaced (an unknown one by nothing); the result is not split again.
    /// `None` if nothing is left and nothing was quoted.
    #[must_use]
    pub fn expand<'v>(&self, status: i32, lookup: impl Fn(&[u8]) -> Option<&'v [u8]>) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for part in &self.parts {
            match part {
                Part::Literal(bytes) => text.extend_from_slice(bytes),
                Part::Status => text.extend_from_slice(alloc_crate::format!("{status}").as_bytes()),
                Part::Variable(name) => text.extend_from_slice(lookup(name).unwrap_or_default()),
            }
        }
        (self.quoted || !text.is_empty()).then_some(text)
    }
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A word.
    Word(Word),
    /// `;`
    Semicolon,
    /// An end of line.
    Newline,
    /// `&`
    Background,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Why a line is no list of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxError {
    /// A quote of this kind is not closed.
    Unterminated(char),
    /// An operator stands where a command should.
    Unexpected(&'static str),
    /// The line ends where a command should follow.
    Unfinished(&'static str),
    /// This shell does not have what the text means in others.
    Unsupported(&'static str),
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unterminated(quote) => write!(f, "syntax error: a {quote} is not closed"),
            Self::Unexpected(operator) => write!(f, "syntax error: unexpected `{operator}`"),
            Self::Unfinished(operator) => write!(f, "syntax error: nothing follows `{operator}`"),
            Self::Unsupported(what) => {
                write!(f, "syntax error: this shell has no {what}; quote it to mean the character")
            }
        }
    }
}

type Input<'a> = Peekable<Iter<'a, u8>>;

/// Cuts `line` into tokens.
///
/// # Errors
/// An open quote, or something this shell does not have.
pub fn tokenize(line: &[u8]) -> Result<Vec<Token>, SyntaxError> {
    let mut input = line.iter().peekable();
    let mut tokens = Vec::new();
    while let Some(&&byte) = input.peek() {
        let operator = match byte {
            b' ' | b'\t' | b'\r' => None,
            b'#' => {
                while input.next_if(|&&byte| byte != b'\n').is_some() {}
                continue;
            }
            b'\n' => Some(Token::Newline),
            b';' => Some(Token::Semicolon),
            b'&' | b'|' => Some(double(&mut input, byte)?),
            b'<' | b'>' => return Err(SyntaxError::Unsupported("redirection (`<`, `>`)")),
            b'(' | b')' => return Err(SyntaxError::Unsupported("subshells (`(`, `)`)")),
            _ => {
                tokens.extend(word(&mut input)?.map(Token::Word));
                continue;
            }
        };
        input.next();
        tokens.extend(operator);
    }
    Ok(tokens)
}

/// `&&`, `||` or `&`; leaves the operator's last byte to be taken.
fn double(input: &mut Input<'_>, first: u8) -> Result<Token, SyntaxError> {
    let mut ahead = input.clone();
    ahead.next();
    let twice = ahead.peek() == Some(&&first);
    if twice {
        input.next();
    }
    match (first, twice) {
        (b'&', true) => Ok(Token::And),
        (b'&', false) => Ok(Token::Background),
        (_, true) => Ok(Token::Or),
        (_, false) => Err(SyntaxError::Unsupported("pipes (`|`)")),
    }
}

/// Reads one word; `None` if there was only a joined line end.
fn word(input: &mut Input<'_>) -> Result<Option<Word>, SyntaxError> {
    let mut word = Word::default();
    while let Some(&&byte) = input.peek() {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
            _ => _ = input.next(),
        }
        match byte {
            b'\'' => single_quoted(input, &mut word)?,
            b'"' => double_quoted(input, &mut word)?,
            b'\\' => match input.next() {
                None => return Err(SyntaxError::Unfinished("\\")),
                Some(b'\n') => {}
                Some(&escaped) => {
                    word.quoted = true;
                    word.push(escaped);
                }
            },
            b'$' => dollar(input, &mut word)?,
            b'`' => return Err(SyntaxError::Unsupported("command substitution")),
            _ => word.push(byte),
        }
    }
    Ok((word.quoted || !word.parts.is_empty()).then_some(word))
}

fn single_quoted(input: &mut Input<'_>, word: &mut Word) -> Result<(), SyntaxError> {
    word.quoted = true;
    for &byte in input {
        match byte {
            b'\'' => return Ok(()),
            _ => word.push(byte),
        }
    }
    Err(SyntaxError::Unterminated('\''))
}

fn double_quoted(input: &mut Input<'_>, word: &mut Word) -> Result<(), SyntaxError> {
    word.quoted = true;
    while let Some(&byte) = input.next() {
        match byte {
            b'"' => return Ok(()),
            b'$' => dollar(input, word)?,
            b'`' => return Err(SyntaxError::Unsupported("command substitution")),
            // Between double quotes a backslash quotes only these; before a line end both vanish.
            b'\\' => match input.next_if(|&&next| matches!(next, b'$' | b'`' | b'"' | b'\\' | b'\n')) {
                Some(b'\n') => {}
                Some(&escaped) => word.push(escaped),
                None => word.push(b'\\'),
            },
            _ => word.push(byte),
        }
    }
    Err(SyntaxError::Unterminated('"'))
}

/// What follows a `$`; without a name the `$` stands for itself.
fn dollar(input: &mut Input<'_>, word: &mut Word) -> Result<(), SyntaxError> {
    match input.peek() {
        Some(b'?') => {
            input.next();
            word.parts.push(Part::Status);
        }
        Some(b'(') => return Err(SyntaxError::Unsupported("command substitution")),
        Some(b'{') => return Err(SyntaxError::Unsupported("parameter expansion (`${`)")),
        Some(byte) if byte.is_ascii_alphabetic() || **byte == b'_' => {
            let mut name = Vec::new();
            while let Some(&byte) = input.next_if(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                name.push(byte);
            }
            word.parts.push(Part::Variable(name));
        }
        _ => word.push(b'$'),
    }
    Ok(())
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
