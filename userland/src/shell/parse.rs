//! The grammar (POSIX.1-2017, XCU 2.10): lists, pipelines, simple commands and redirections.

use super::error::ErrorKind;
use super::lexer::{Parser, Result, Token};
use super::name_length;
use super::tree::{Access, Chain, Command, Item, Link, List, Part, Pipeline, Redirect, Simple, Target, Word};
use super::word::assignment;
use alloc_crate::rc::Rc;
use alloc_crate::vec;
use alloc_crate::vec::Vec;

/// What can follow a list inside of a compound command.
const LIST_ENDS: [&[u8]; 8] = [b"then", b"elif", b"else", b"fi", b"do", b"done", b"esac", b"}"];

impl Parser<'_> {
    /// The next line of commands, with the further lines that belong to them; `None` at the end.
    ///
    /// # Errors
    /// A mistake. The parser then is somewhere behind it.
    pub fn next_command(&mut self) -> Result<Option<List>> {
        while *self.peek()? == Token::Newline {
            self.next()?;
        }
        if *self.peek()? == Token::End {
            return Ok(None);
        }
        let mut items = Vec::new();
        loop {
            let chain = self.chain()?;
            let background = self.take_operator("&")?;
            let separated = background || self.take_operator(";")?;
            items.push(Item { chain, background });
            match self.peek()? {
                Token::Newline => {
                    self.next()?;
                    break;
                }
                Token::End => break,
                _ if separated => {}
                _ => return self.unexpected("a command"),
            }
        }
        Ok(Some(List(items)))
    }

    /// All commands up to the end.
    pub(super) fn whole(&mut self) -> Result<List> {
        let list = self.maybe_list()?;
        match self.peek()? {
            Token::End => Ok(list),
            _ => self.unexpected("a command"),
        }
    }

    /// What stands between `$(` and `)`.
    pub(super) fn substitution(&mut self) -> Result<List> {
        self.nested(|parser| {
            parser.with_own_here(|parser| {
                let list = parser.maybe_list()?;
                parser.expect_operator(")", "the closing `)`")?;
                Ok(list)
            })
        })
    }

    pub(super) fn expect_operator(&mut self, wanted: &str, missing: &'static str) -> Result<()> {
        if self.take_operator(wanted)? { Ok(()) } else { self.unexpected(missing) }
    }

    /// A list in a compound command: at least one command.
    pub(super) fn list(&mut self, missing: &'static str) -> Result<List> {
        let list = self.maybe_list()?;
        if list.0.is_empty() { self.unexpected(missing) } else { Ok(list) }
    }

    /// A list up to a word or operator that ends one.
    pub(super) fn maybe_list(&mut self) -> Result<List> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            let ends = match self.peek()? {
                Token::End => true,
                Token::Operator(operator) => matches!(*operator, ")" | ";;"),
                Token::Word(word) => word.literal().is_some_and(|text| LIST_ENDS.contains(&text)),
                _ => false,
            };
            if ends {
                return Ok(List(items));
            }
            let chain = self.chain()?;
            let background = self.take_operator("&")?;
            let separated = background || self.take_operator(";")? || *self.peek()? == Token::Newline;
            items.push(Item { chain, background });
            if !separated {
                return Ok(List(items));
            }
        }
    }

    pub(super) fn skip_newlines(&mut self) -> Result<()> {
        while *self.peek()? == Token::Newline {
            self.next()?;
        }
        Ok(())
    }

    fn chain(&mut self) -> Result<Chain> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            let link = if self.take_operator("&&")? {
                Link::And
            } else if self.take_operator("||")? {
                Link::Or
            } else {
                return Ok(Chain { first, rest });
            };
            self.skip_newlines()?;
            rest.push((link, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline> {
        let negated = matches!(self.peek()?, Token::Word(word) if word.literal() == Some(b"!"));
        if negated {
            self.next()?;
        }
        let mut commands = vec![self.command()?];
        while self.take_operator("|")? {
            self.skip_newlines()?;
            commands.push(self.command()?);
        }
        Ok(Pipeline { negated, commands })
    }

    fn command(&mut self) -> Result<Command> {
        self.nested(|parser| {
            if let Some(compound) = parser.compound()? {
                return Ok(Command::Compound(compound, parser.redirects()?));
            }
            parser.simple()
        })
    }

    /// Redirections after a compound command.
    fn redirects(&mut self) -> Result<Vec<Redirect>> {
        let mut redirects = Vec::new();
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
        }
        Ok(redirects)
    }

    fn simple(&mut self) -> Result<Command> {
        let mut simple = Simple::default();
        loop {
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            let Token::Word(word) = self.peek()? else { break };
            if simple == Simple::default() && word.literal().is_some_and(is_closing_word) {
                return self.unexpected("a command");
            }
            let word = self.word("a word")?;
            if !simple.words.is_empty() {
                simple.words.push(word);
                continue;
            }
            match assignment(word) {
                Ok(assignment) => simple.assignments.push(assignment),
                Err(word) => simple.words.push(word),
            }
            if self.is_operator("(")? {
                return self.function(&simple);
            }
        }
        if simple == Simple::default() {
            return self.unexpected("a command");
        }
        Ok(Command::Simple(simple))
    }

    /// `NAME` was read, `() BODY` follows.
    fn function(&mut self, head: &Simple) -> Result<Command> {
        let Simple { assignments, words, redirects } = head;
        let name = match words.as_slice() {
            [word] if assignments.is_empty() && redirects.is_empty() => word.literal(),
            _ => None,
        };
        let Some(name) = name.filter(|name| !name.is_empty() && name_length(name) == name.len()) else {
            return self.unexpected("a command");
        };
        self.next()?;
        self.expect_operator(")", "the `)` of a function")?;
        self.skip_newlines()?;
        match self.compound()? {
            Some(body) => {
                let redirects = self.redirects()?;
                Ok(Command::Function(name.to_vec(), Rc::new(Command::Compound(body, redirects))))
            }
            None => self.unexpected("the body of a function"),
        }
    }

    /// The next token, which has to be a word.
    pub(super) fn word(&mut self, missing: &'static str) -> Result<Word> {
        if !matches!(self.peek()?, Token::Word(_)) {
            return self.unexpected(missing);
        }
        match self.next()? {
            Token::Word(word) => Ok(word),
            _ => self.fail(ErrorKind::Unfinished(missing)),
        }
    }

    fn redirect(&mut self) -> Result<Option<Redirect>> {
        let descriptor = match *self.peek()? {
            Token::Descriptor(number) => {
                self.next()?;
                Some(number)
            }
            _ => None,
        };
        let Token::Operator(operator) = *self.peek()? else { return Ok(None) };
        let access = match operator {
            "<" => Some(Access::Read),
            ">" => Some(Access::Write),
            ">|" => Some(Access::Clobber),
            ">>" => Some(Access::Append),
            "<>" => Some(Access::ReadWrite),
            "&>" => Some(Access::WriteBoth),
            "&>>" => Some(Access::AppendBoth),
            "<&" | ">&" | "<<" | "<<-" => None,
            _ => return Ok(None),
        };
        self.next()?;
        let word = self.word("where the redirection leads")?;
        let target = match (access, operator) {
            (Some(access), _) => Target::File(access, word),
            (None, "<&" | ">&") => Target::Duplicate(operator == ">&", word),
            _ => {
                let (delimiter, plain) = delimiter(&word);
                Target::Here(self.expect_here(delimiter, plain, operator == "<<-"))
            }
        };
        Ok(Some(Redirect { descriptor, target }))
    }
}

/// Words that are reserved and begin no command.
fn is_closing_word(text: &[u8]) -> bool {
    LIST_ENDS.contains(&text) || matches!(text, b"in" | b"!")
}

/// Words that mean something special where a command begins (XCU 2.4).
pub(super) fn is_reserved(text: &[u8]) -> bool {
    is_closing_word(text) || matches!(text, b"if" | b"while" | b"until" | b"for" | b"case" | b"{")
}

/// The line that ends a here-document: the word without its quotes, nothing expanded. Also whether any of it was
/// quoted.
fn delimiter(word: &Word) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    let mut plain = false;
    for part in &word.0 {
        match part {
            Part::Literal(bytes) => text.extend_from_slice(bytes),
            Part::Quoted(bytes) => {
                plain = true;
                text.extend_from_slice(bytes);
            }
            Part::Double(parts) => {
                plain = true;
                text.extend(super::print::parts_text(parts));
            }
            other => text.extend(super::print::parts_text(core::slice::from_ref(other))),
        }
    }
    (text, plain)
}
