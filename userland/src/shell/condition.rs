//! The conditions of `test` and `[` (POSIX.1-2017, XCU `test`), with `-a`, `-o`, parentheses, `-nt` and `-ot`.

use alloc_crate::vec::Vec;

/// How deep a condition may be.
const DEPTH_MAX: usize = 64;

/// What a condition asks of the system.
pub trait Files {
    /// Whether the file has the property that this letter stands for, as in `-f`.
    fn has(&self, property: u8, path: &[u8]) -> bool;
    /// Whether the first file was changed later than the second; a missing one is older than any.
    fn is_newer(&self, path: &[u8], other: &[u8]) -> bool;
    /// Whether the descriptor is a terminal.
    fn is_terminal(&self, descriptor: u64) -> bool;
}

/// Whether the condition holds.
///
/// # Errors
/// What is wrong with it.
pub fn holds(words: &[Vec<u8>], files: &impl Files) -> Result<bool, &'static str> {
    let mut condition = Condition { words, files, depth: 0 };
    if words.is_empty() {
        return Ok(false);
    }
    let value = condition.any()?;
    if condition.words.is_empty() { Ok(value) } else { Err("unexpected word") }
}

struct Condition<'a, F> {
    words: &'a [Vec<u8>],
    files: &'a F,
    depth: usize,
}

impl<F: Files> Condition<'_, F> {
    fn take(&mut self, wanted: &[u8]) -> bool {
        let found = self.words.first().is_some_and(|word| word == wanted);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn any(&mut self) -> Result<bool, &'static str> {
        let mut value = self.every()?;
        while self.take(b"-o") {
            value |= self.every()?;
        }
        Ok(value)
    }

    fn every(&mut self) -> Result<bool, &'static str> {
        let mut value = self.one()?;
        while self.take(b"-a") {
            value &= self.one()?;
        }
        Ok(value)
    }

    /// The shortest reading that fits, as POSIX has it by the number of words: a word before a binary operator is
    /// an operand, whatever it looks like.
    fn one(&mut self) -> Result<bool, &'static str> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("too many levels");
        }
        let value = match self.words {
            [] => Err("a condition is missing"),
            [left, operator, right, rest @ ..] if is_binary(operator) => {
                self.words = rest;
                self.binary(left, operator, right)
            }
            [word, _, ..] if word == b"!" => {
                self.take(b"!");
                self.one().map(|value| !value)
            }
            [word, _, ..] if word == b"(" => {
                self.take(b"(");
                let value = self.any()?;
                if self.take(b")") { Ok(value) } else { Err("`(` without `)`") }
            }
            [operator, operand, rest @ ..] if is_unary(operator) => {
                self.words = rest;
                self.unary(operator[1], operand)
            }
            [word, rest @ ..] => {
                self.words = rest;
                Ok(!word.is_empty())
            }
        };
        self.depth -= 1;
        value
    }

    fn unary(&self, operator: u8, operand: &[u8]) -> Result<bool, &'static str> {
        match operator {
            b'n' => Ok(!operand.is_empty()),
            b'z' => Ok(operand.is_empty()),
            b't' => u64::try_from(number(operand)?).map(|fd| self.files.is_terminal(fd)).or(Ok(false)),
            _ => Ok(self.files.has(operator, operand)),
        }
    }

    fn binary(&self, left: &[u8], operator: &[u8], right: &[u8]) -> Result<bool, &'static str> {
        Ok(match operator {
            b"=" | b"==" => left == right,
            b"!=" => left != right,
            b"<" => left < right,
            b">" => left > right,
            b"-nt" => self.files.is_newer(left, right),
            b"-ot" => self.files.is_newer(right, left),
            b"-eq" => number(left)? == number(right)?,
            b"-ne" => number(left)? != number(right)?,
            b"-lt" => number(left)? < number(right)?,
            b"-le" => number(left)? <= number(right)?,
            b"-gt" => number(left)? > number(right)?,
            _ => number(left)? >= number(right)?,
        })
    }
}

fn is_binary(word: &[u8]) -> bool {
    const BINARY: [&[u8]; 13] =
        [b"=", b"==", b"!=", b"<", b">", b"-nt", b"-ot", b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge"];
    BINARY.contains(&word)
}

fn is_unary(word: &[u8]) -> bool {
    matches!(word, [b'-', letter] if b"bcdefghLnprsStuwxz".contains(letter))
}

/// A decimal number with a sign, blanks around it allowed.
fn number(text: &[u8]) -> Result<i64, &'static str> {
    let text = str::from_utf8(text.trim_ascii()).ok();
    text.and_then(|text| text.parse().ok()).ok_or("a number is expected")
}

#[cfg(test)]
mod tests {
    use super::{Files, holds};
    use proptest::prelude::*;

    struct Fake;

    impl Files for Fake {
        fn has(&self, property: u8, path: &[u8]) -> bool {
            matches!((property, path), (b'e' | b'd', b"/dir") | (b'e' | b'f', b"/file"))
        }

        fn is_newer(&self, path: &[u8], other: &[u8]) -> bool {
            path > other
        }

        fn is_terminal(&self, descriptor: u64) -> bool {
            descriptor == 0
        }
    }

    fn test(line: &str) -> Result<bool, &'static str> {
        let words: Vec<_> = line.split(' ').map(|word| word.replace('_', "").into_bytes()).collect();
        holds(if line.is_empty() { &[] } else { &words }, &Fake)
    }

    #[test]
    fn conditions_hold_or_not() {
        for (line, value) in [
            ("", false),
            ("x", true),
            ("_", false),
            ("-n x", true),
            ("-z _", true),
            ("-n", true),
            ("!", true),
            ("! x", false),
            ("! ! x", true),
            ("a = a", true),
            ("a != a", false),
            ("-f = -f", true),
            ("! = !", true),
            ("( = (", true),
            ("( x )", true),
            ("! ( x )", false),
            ("2 -lt 10", true),
            ("-3 -ge 4", false),
            ("-e /file", true),
            ("-d /file", false),
            ("-f /file -a -d /dir", true),
            ("-f /dir -o -d /dir", true),
            ("! -f /dir -a x", true),
            ("x -a _ -o y", true),
            ("b -nt a", true),
            ("b -ot a", false),
            ("-t 0", true),
        ] {
            assert_eq!(test(line), Ok(value), "{line}");
        }
        for line in ["1 -eq x", "x y", "( x", "-q x", "x -a"] {
            assert!(test(line).is_err(), "{line}");
        }
        assert!(test(&format!("{}x", "! ".repeat(100))).is_err());
    }

    proptest! {
        #[test]
        fn any_words_hold_or_not(words in prop::collection::vec("[-!()nzaofx=0-9]{0,3}", 0..12)) {
            let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
            let _ = holds(&words, &Fake);
        }
    }
}
