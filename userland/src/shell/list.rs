//! Lists of commands: `a && b || c ; d &`.

use super::token::{SyntaxError, Token, Word};
use alloc_crate::vec::Vec;
use core::mem::take;

/// A program or builtin with its arguments; at least one word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command(
    /// The words, before `$` is replaced.
    pub Vec<Word>,
);

/// When a command of a chain runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Always: it is the first.
    First,
    /// If the one before succeeded.
    And,
    /// If the one before failed.
    Or,
}

/// Commands joined by `&&` and `||`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The commands, in order.
    pub commands: Vec<(Link, Command)>,
    /// Whether the shell goes on without waiting.
    pub background: bool,
}

/// Parses what [`super::tokenize`] gave.
///
/// # Errors
/// An operator without a command before or after it.
pub fn parse(tokens: Vec<Token>) -> Result<Vec<Chain>, SyntaxError> {
    let mut chains = Vec::new();
    let mut chain = Chain::default();
    let mut command = Command::default();
    let mut link = Link::First;
    for token in tokens {
        let name = match token {
            Token::Word(word) => {
                command.0.push(word);
                continue;
            }
            // A line may end after `&&`, and an empty line is no mistake.
            Token::Newline if command.0.is_empty() => continue,
            Token::Newline => "newline",
            Token::Semicolon => ";",
            Token::Background => "&",
            Token::And => "&&",
            Token::Or => "||",
        };
        if command.0.is_empty() {
            return Err(SyntaxError::Unexpected(name));
        }
        chain.commands.push((link, take(&mut command)));
        link = match token {
            Token::And => Link::And,
            Token::Or => Link::Or,
            _ => {
                chain.background = token == Token::Background;
                chains.push(take(&mut chain));
                Link::First
            }
        };
    }
    match (command.0.is_empty(), link) {
        (true, Link::First) => return Ok(chains),
        (true, Link::And) => return Err(SyntaxError::Unfinished("&&")),
        (true, Link::Or) => return Err(SyntaxError::Unfinished("||")),
        (false, _) => chain.commands.push((link, command)),
    }
    chains.push(chain);
    Ok(chains)
}

#[cfg(test)]
mod tests {
    use super::{Link, SyntaxError, parse};
    use crate::shell::tokenize;

    /// `a b && c;` as `[a b] &&[c]`, chains separated by `;`, background marked by `&`.
    fn show(line: &str) -> Result<String, SyntaxError> {
        let chains = parse(tokenize(line.as_bytes())?)?;
        let mut text = String::new();
        for chain in chains {
            for (link, command) in chain.commands {
                text += match link {
                    Link::First => "",
                    Link::And => " &&",
                    Link::Or => " ||",
                };
                let words = command.0.iter().map(|word| word.expand(0, |_| None).unwrap());
                let words: Vec<_> = words.map(|word| String::from_utf8(word).unwrap()).collect();
                text += &format!("[{}]", words.join(" "));
            }
            text += if chain.background { "&" } else { ";" };
        }
        Ok(text)
    }

    #[test]
    fn lists_and_chains() {
        assert_eq!(show("a 1 2").unwrap(), "[a 1 2];");
        assert_eq!(show("a;b ; c;").unwrap(), "[a];[b];[c];");
        assert_eq!(show("a && b || c & d").unwrap(), "[a] &&[b] ||[c]&[d];");
        assert_eq!(show("a &&\n\n b\nc\n").unwrap(), "[a] &&[b];[c];");
        assert_eq!(show("").unwrap(), "");
        assert_eq!(show("  # nothing\n\n").unwrap(), "");
    }

    #[test]
    fn operators_without_commands() {
        for (line, operator) in
            [("; a", ";"), ("a ;; b", ";"), ("& a", "&"), ("a & ; b", ";"), ("a && || b", "||")]
        {
            assert_eq!(show(line), Err(SyntaxError::Unexpected(operator)), "{line}");
        }
        assert_eq!(show("a &&"), Err(SyntaxError::Unfinished("&&")));
        assert_eq!(show("a ||\n"), Err(SyntaxError::Unfinished("||")));
    }
}
