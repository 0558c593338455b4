//! The grammar of compound commands (POSIX.1-2017, XCU 2.9.4).

use super::lexer::{Parser, Result, Token};
use super::name_length;
use super::tree::{Compound, List};
use alloc_crate::vec;
use alloc_crate::vec::Vec;

impl Parser<'_> {
    /// A compound command, if one begins here.
    pub(super) fn compound(&mut self) -> Result<Option<Compound>> {
        if self.take_operator("(")? {
            let list = self.list("a command")?;
            self.expect_operator(")", "the closing `)`")?;
            return Ok(Some(Compound::Subshell(list)));
        }
        let Token::Word(word) = self.peek()? else { return Ok(None) };
        let parse: fn(&mut Self) -> Result<Compound> = match word.literal() {
            Some(b"{") => Self::group,
            Some(b"if") => Self::if_command,
            Some(b"while") => |parser| parser.loop_command(false),
            Some(b"until") => |parser| parser.loop_command(true),
            Some(b"for") => Self::for_command,
            Some(b"case") => Self::case_command,
            _ => return Ok(None),
        };
        self.next()?;
        parse(self).map(Some)
    }

    /// Whether the next token is this reserved word.
    fn is_reserved(&mut self, wanted: &[u8]) -> Result<bool> {
        Ok(matches!(self.peek()?, Token::Word(word) if word.literal() == Some(wanted)))
    }

    fn take_reserved(&mut self, wanted: &[u8]) -> Result<bool> {
        let found = self.is_reserved(wanted)?;
        if found {
            self.next()?;
        }
        Ok(found)
    }

    fn expect_reserved(&mut self, wanted: &[u8], missing: &'static str) -> Result<()> {
        if self.take_reserved(wanted)? { Ok(()) } else { self.unexpected(missing) }
    }

    fn group(&mut self) -> Result<Compound> {
        let list = self.list("a command")?;
        self.expect_reserved(b"}", "the closing `}`")?;
        Ok(Compound::Group(list))
    }

    fn if_command(&mut self) -> Result<Compound> {
        let mut branches = vec![self.branch()?];
        loop {
            if self.take_reserved(b"elif")? {
                branches.push(self.branch()?);
                continue;
            }
            let otherwise = if self.take_reserved(b"else")? { Some(self.list("a command")?) } else { None };
            self.expect_reserved(b"fi", "`fi`")?;
            return Ok(Compound::If { branches, otherwise });
        }
    }

    fn branch(&mut self) -> Result<(List, List)> {
        let condition = self.list("a command")?;
        self.expect_reserved(b"then", "`then`")?;
        Ok((condition, self.list("a command")?))
    }

    fn loop_command(&mut self, until: bool) -> Result<Compound> {
        let condition = self.list("a command")?;
        Ok(Compound::Loop { until, condition, body: self.round()? })
    }

    /// `do …; done`
    fn round(&mut self) -> Result<List> {
        self.expect_reserved(b"do", "`do`")?;
        let body = self.list("a command")?;
        self.expect_reserved(b"done", "`done`")?;
        Ok(body)
    }

    fn for_command(&mut self) -> Result<Compound> {
        let is_name = |text: &[u8]| !text.is_empty() && name_length(text) == text.len();
        let name = match self.peek()? {
            Token::Word(word) => word.literal().filter(|text| is_name(text)).map(<[u8]>::to_vec),
            _ => None,
        };
        let Some(name) = name else { return self.unexpected("a name") };
        self.next()?;
        self.skip_newlines()?;
        let words = if self.take_reserved(b"in")? {
            let mut words = Vec::new();
            while matches!(self.peek()?, Token::Word(_)) {
                words.push(self.word("a word")?);
            }
            if !self.take_operator(";")? && *self.peek()? != Token::Newline {
                return self.unexpected("`do`");
            }
            Some(words)
        } else {
            self.take_operator(";")?;
            None
        };
        self.skip_newlines()?;
        Ok(Compound::For { name, words, body: self.round()? })
    }

    fn case_command(&mut self) -> Result<Compound> {
        let word = self.word("a word")?;
        self.skip_newlines()?;
        self.expect_reserved(b"in", "`in`")?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.take_reserved(b"esac")? {
                return Ok(Compound::Case { word, arms });
            }
            self.take_operator("(")?;
            let mut patterns = vec![self.word("a pattern")?];
            while self.take_operator("|")? {
                patterns.push(self.word("a pattern")?);
            }
            self.expect_operator(")", "the `)` of a pattern")?;
            arms.push((patterns, self.maybe_list()?));
            if !self.take_operator(";;")? {
                self.expect_reserved(b"esac", "`esac`")?;
                return Ok(Compound::Case { word, arms });
            }
        }
    }
}
