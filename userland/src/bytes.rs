//! Bytes from outside (names, answers) shown to people.

use askr_abi::is_hidden;
use core::fmt::{self, Write};

/// Shows bytes as text. What is not UTF-8 appears as `\xNN`; control characters and those that reorder or hide
/// text appear as escapes, so that no name or answer can drive the terminal or pass for something else.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(
    /// The bytes.
    pub &'a [u8],
);

impl fmt::Display for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_visible(f, self.0, |_| false)
    }
}

/// Like [`Bytes`], but line ends and tabs stay. Every line but the first is indented by two spaces, so that what
/// is shown cannot imitate a prompt or a message of ours at the start of a line.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a>(
    /// The bytes.
    pub &'a [u8],
);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, line) in self.0.split(|&byte| byte == b'\n').enumerate() {
            if i > 0 {
                f.write_str("\n  ")?;
            }
            write_visible(f, line, |character| character == '\t')?;
        }
        Ok(())
    }
}

fn write_visible(f: &mut fmt::Formatter<'_>, bytes: &[u8], keep: impl Fn(char) -> bool) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_hidden(character) && !keep(character) {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02x}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Lines};
    use proptest::prelude::*;

    #[test]
    fn text_stays_and_control_is_escaped() {
        assert_eq!(Bytes("grüße 日本".as_bytes()).to_string(), "grüße 日本");
        assert_eq!(Bytes(b"a\x1b[2Jb\r\n\t").to_string(), "a\\u{1b}[2Jb\\r\\n\\t");
        assert_eq!(Bytes("\u{9b}31m\u{202e}x".as_bytes()).to_string(), "\\u{9b}31m\\u{202e}x");
        for hidden in
            "\u{61c}\u{200b}\u{200f}\u{2028}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}".chars()
        {
            assert_eq!(Bytes(hidden.to_string().as_bytes()).to_string(), hidden.escape_default().to_string());
        }
        assert_eq!(Bytes(b"a\xffb\xc3").to_string(), "a\\xffb\\xc3");
    }

    #[test]
    fn later_lines_are_indented() {
        assert_eq!(
            Lines(b"one\ttab\n(decided by: human)\nend").to_string(),
            "one\ttab\n  (decided by: human)\n  end"
        );
        assert_eq!(Lines(b"a\rb").to_string(), "a\\rb");
    }

    proptest! {
        #[test]
        fn nothing_reaches_the_terminal_as_control(bytes: Vec<u8>) {
            prop_assert!(!Bytes(&bytes).to_string().chars().any(char::is_control));
            let lines = Lines(&bytes).to_string();
            prop_assert!(lines.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            prop_assert!(lines.split('\n').skip(1).all(|line| line.starts_with("  ")));
        }
    }
}
