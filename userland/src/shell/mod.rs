//! The language of `sh`: from a line to a list of commands. Pure; the program runs what comes out.
//!
//! Words with quotes, `$?` and `$NAME`, comments, `;` `&&` `||` `&`. What other shells do beyond that (pipes,
//! redirection, substitution, subshells) is refused, never taken for an ordinary character.

mod list;
mod token;

pub use list::{Chain, Command, Link, parse};
pub use token::{Part, SyntaxError, Token, Word, tokenize};

/// Longest line, in bytes.
pub const LINE_MAX: usize = 16 * 1024;

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
