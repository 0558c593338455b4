//! A command as a person would type it.

use core::fmt::{self, Write};

/// Shows arguments with blanks between them, and quotes around those that a shell would not take as they stand.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(
    /// The arguments.
    pub &'a [&'a str],
);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_char(' ')?;
            }
            let is_bare = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_./:=+,@%".contains(c);
            if !word.is_empty() && word.chars().all(|c| is_bare(c) && !c.is_whitespace()) {
                f.write_str(word)?;
            } else {
                write!(f, "'{}'", word.replace('\'', r"'\''"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use proptest::prelude::*;

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        assert_eq!(
            Words(&["rm", "a b", "", "*", "it's", "日本"]).to_string(),
            r"rm 'a b' '' '*' 'it'\''s' 日本"
        );
    }

    proptest! {
        #[test]
        fn a_shell_reads_the_same_arguments(words in prop::collection::vec("[ -~é]{0,8}", 1..6)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            prop_assert_eq!(shlex::split(&Words(&words).to_string()).unwrap(), words);
        }
    }
}
