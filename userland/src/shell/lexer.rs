//! From bytes to tokens (POSIX.1-2017, XCU 2.3). Words come with what is in them, so what is between `$(` and `)` is
//! parsed on the way.

use super::error::{ErrorKind, SyntaxError};
use super::tree::{Here, HereText, Word};
use super::word::Context;
use super::{NESTING_MAX, is_blank};
use alloc_crate::vec::Vec;
use core::mem::take;

pub(super) type Result<T> = core::result::Result<T, SyntaxError>;

/// Operators; of two that fit, the longer stands before the shorter.
const OPERATORS: [&str; 19] = [
    "&>>", "<<-", "&&", "||", ";;", "<<", ">>", "<&", ">&", "<>", ">|", "&>", "&", ";", "|", "(", ")", "<",
    ">",
];
/// Most digits of a descriptor before a redirection.
const DESCRIPTOR_DIGITS_MAX: usize = 3;

/// A piece of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    /// The number before a redirection.
    Descriptor(u32),
    Operator(&'static str),
    Newline,
    End,
}

/// A here-document whose text has not come yet.
struct Pending {
    text: Here,
    delimiter: Vec<u8>,
    /// The delimiter was quoted.
    plain: bool,
    /// `<<-`: tabs at the start of a line do not count.
    strip: bool,
}

/// Reads a script command by command.
pub struct Parser<'a> {
    input: &'a [u8],
    at: usize,
    first_line: usize,
    depth: usize,
    peeked: Option<Token>,
    /// Where the last token began.
    start: usize,
    pending: Vec<Pending>,
}

impl<'a> Parser<'a> {
    /// A parser at the start of `input`.
    #[must_use]
    pub fn new(input: &'a [u8]) -> Self {
        Self::inside(input, 1, 0)
    }

    fn inside(input: &'a [u8], first_line: usize, depth: usize) -> Self {
        Self { input, at: 0, first_line, depth, peeked: None, start: 0, pending: Vec::new() }
    }

    /// Parses `text`, which is a part of this script, with `body`. What is missing in it cannot follow any more.
    pub(super) fn within<T>(
        &self,
        text: &[u8],
        body: impl FnOnce(&mut Parser<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut parser = Parser::inside(text, self.line(), self.depth + 1);
        body(&mut parser).map_err(|error| match error.kind {
            ErrorKind::Unfinished(_) => {
                SyntaxError { kind: ErrorKind::Unexpected(b"end of the quoted text".to_vec()), ..error }
            }
            _ => error,
        })
    }

    /// Number of the line up to which the script was read.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line_of(self.at)
    }

    fn line_of(&self, at: usize) -> usize {
        self.first_line + self.input[..at].iter().filter(|&&byte| byte == b'\n').count()
    }

    pub(super) fn fail<T>(&self, kind: ErrorKind) -> Result<T> {
        Err(SyntaxError { line: self.line(), kind })
    }

    /// One level deeper, for as long as `body` runs.
    pub(super) fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= NESTING_MAX {
            return self.fail(ErrorKind::TooDeep);
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }

    pub(super) fn peek_byte(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.input[self.at..]
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.at = (self.at + count).min(self.input.len());
    }

    /// Takes `text` if it is what follows.
    pub(super) fn take_text(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.skip(text.len());
        }
        found
    }

    /// The next token, which stays.
    pub(super) fn peek(&mut self) -> Result<&Token> {
        let token = match self.peeked.take() {
            Some(token) => token,
            None => self.lex()?,
        };
        Ok(self.peeked.insert(token))
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token> {
        self.peek()?;
        Ok(self.peeked.take().unwrap_or(Token::End))
    }

    /// Whether the next token is this operator.
    pub(super) fn is_operator(&mut self, wanted: &str) -> Result<bool> {
        Ok(matches!(self.peek()?, Token::Operator(operator) if *operator == wanted))
    }

    /// Takes the next token if it is this operator.
    pub(super) fn take_operator(&mut self, wanted: &str) -> Result<bool> {
        let found = self.is_operator(wanted)?;
        if found {
            self.peeked = None;
        }
        Ok(found)
    }

    /// The next token cannot stand where it stands: an error, at its line. At the end of the script `missing` is what
    /// should follow.
    pub(super) fn unexpected<T>(&mut self, missing: &'static str) -> Result<T> {
        let line = self.line_of(self.start);
        let text = match self.next()? {
            Token::End => return self.fail(ErrorKind::Unfinished(missing)),
            Token::Newline => b"newline".to_vec(),
            Token::Operator(operator) => operator.as_bytes().to_vec(),
            Token::Descriptor(_) | Token::Word(_) => self.input[self.start..self.at].to_vec(),
        };
        Err(SyntaxError { line, kind: ErrorKind::Unexpected(text) })
    }

    fn lex(&mut self) -> Result<Token> {
        self.skip_blanks();
        self.start = self.at;
        let Some(byte) = self.peek_byte() else {
            return match self.pending.is_empty() {
                true => Ok(Token::End),
                false => self.fail(ErrorKind::Unfinished("the end of a here-document")),
            };
        };
        if byte == b'\n' {
            self.skip(1);
            self.read_here_documents()?;
            return Ok(Token::Newline);
        }
        let rest = self.rest();
        if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(operator.as_bytes())) {
            self.skip(operator.len());
            return Ok(Token::Operator(operator));
        }
        match self.descriptor()? {
            Some(number) => Ok(Token::Descriptor(number)),
            None => Ok(Token::Word(Word(self.parts(Context::Word)?))),
        }
    }

    /// Blanks, joined line ends, and a comment up to its line's end.
    fn skip_blanks(&mut self) {
        loop {
            match self.rest() {
                [byte, ..] if is_blank(*byte) => self.skip(1),
                [b'\\', b'\n', ..] => self.skip(2),
                rest @ [b'#', ..] => {
                    let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                    self.skip(length);
                }
                _ => return,
            }
        }
    }

    /// Digits before `<` or `>`.
    fn descriptor(&mut self) -> Result<Option<u32>> {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 || !matches!(rest.get(length), Some(b'<' | b'>')) {
            return Ok(None);
        }
        if length > DESCRIPTOR_DIGITS_MAX {
            return self.fail(ErrorKind::BadDescriptor);
        }
        self.skip(length);
        Ok(Some(rest[..length].iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))))
    }

    /// Notes a here-document with this delimiter; its text begins at the next line.
    pub(super) fn expect_here(&mut self, delimiter: Vec<u8>, plain: bool, strip: bool) -> Here {
        let text = Here::default();
        self.pending.push(Pending { text: text.clone(), delimiter, plain, strip });
        text
    }

    /// Runs `body` with no here-documents pending. Those that it leaves come after those from before.
    pub(super) fn with_own_here<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = take(&mut self.pending);
        let result = body(self);
        let left = core::mem::replace(&mut self.pending, before);
        self.pending.extend(left);
        result
    }

    fn read_here_documents(&mut self) -> Result<()> {
        for pending in take(&mut self.pending) {
            let body = self.here_lines(&pending)?;
            let text = match pending.plain {
                true => HereText::Plain(body),
                false => HereText::Parts(self.within(&body, |inner| inner.parts(Context::Here))?),
            };
            // It is set once only: each is pending once.
            let _ = pending.text.0.set(text);
        }
        Ok(())
    }

    /// The lines up to the delimiter's. Where something is expanded a backslash joins the next line to its own, which ends
    /// nothing then (XCU 2.7.4).
    fn here_lines(&mut self, pending: &Pending) -> Result<Vec<u8>> {
        let (mut body, mut goes_on) = (Vec::new(), false);
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return self.fail(ErrorKind::Unfinished("the end of a here-document"));
            }
            let end = rest.iter().position(|&byte| byte == b'\n');
            self.skip(end.map_or(rest.len(), |end| end + 1));
            let mut line = &rest[..end.unwrap_or(rest.len())];
            if pending.strip && !goes_on {
                let tabs = line.iter().take_while(|&&byte| byte == b'\t').count();
                line = &line[tabs..];
            }
            if line == pending.delimiter && !goes_on {
                return Ok(body);
            }
            let backslashes = line.iter().rev().take_while(|&&byte| byte == b'\\').count();
            goes_on = !pending.plain && backslashes % 2 == 1;
            body.extend_from_slice(line);
            body.push(b'\n');
        }
    }
}
