//! The language of `sh`: from text to a tree of commands, and what words become. Pure; the program carries out what
//! comes out. The language is the shell command language of POSIX.1-2017 (XCU 2); docs/shell.md says what is missing.

#![forbid(unsafe_code)]

mod arithmetic;
pub mod complete;
mod compound;
pub mod condition;
mod error;
pub mod expand;
pub mod format;
mod glob;
mod lexer;
mod parameter;
mod parse;
pub mod pattern;
pub mod print;
pub mod read;
pub mod tree;
pub mod variables;
mod word;

pub use error::{ErrorKind, SyntaxError};
pub use lexer::Parser;

/// Longest line of a person, in bytes.
pub const LINE_MAX: usize = 16 * 1024;
/// How deep commands, quotes and expansions may be in one another.
pub const NESTING_MAX: usize = 100;

/// Whether the byte separates words.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Length of the name (XBD 3.235) at the start of `text`.
#[must_use]
pub fn name_length(text: &[u8]) -> usize {
    match text.first() {
        Some(byte) if !byte.is_ascii_digit() => text.iter().take_while(|&&byte| is_name_byte(byte)).count(),
        _ => 0,
    }
}

/// The text after `ai` if that is the line's first word. It is for the agent as it stands: an apostrophe in it is
/// no quote and `;` no separator. Several lines at once are not taken that way, since only the first would be its.
#[must_use]
pub fn ai_text(line: &[u8]) -> Option<&[u8]> {
    let rest = line.trim_ascii().strip_prefix(b"ai").filter(|rest| !rest.contains(&b'\n'))?;
    match rest.first() {
        None => Some(rest),
        Some(blank) if blank.is_ascii_whitespace() => Some(rest.trim_ascii()),
        Some(_) => None,
    }
}

#[cfg(test)]
mod expand_tests;
#[cfg(test)]
mod parse_tests;

#[cfg(test)]
mod tests {
    use super::ai_text;

    #[test]
    fn ai_takes_the_line_as_it_stands() {
        assert_eq!(ai_text(b"  ai what's up; tell me \n"), Some(&b"what's up; tell me"[..]));
        assert_eq!(ai_text(b"ai\ttext"), Some(&b"text"[..]));
        assert_eq!(ai_text(b"ai"), Some(&b""[..]));
        assert_eq!(ai_text(b"aim x"), None);
        assert_eq!(ai_text(b"echo ai x"), None);
        assert_eq!(ai_text(b"ai x\necho y"), None);
    }
}
