//! Patterns (POSIX.1-2017, XCU 2.13): `*`, `?` and `[…]`. A character is a byte, as in the POSIX locale.

use alloc_crate::vec::Vec;

/// A byte of a word, and whether quotes protect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The byte.
    pub byte: u8,
    /// It stands for itself.
    pub quoted: bool,
}

impl Cell {
    const fn is(self, byte: u8) -> bool {
        self.byte == byte && !self.quoted
    }
}

/// The bytes of cells.
#[must_use]
pub fn bytes(cells: &[Cell]) -> Vec<u8> {
    cells.iter().map(|cell| cell.byte).collect()
}

/// Whether anything in the pattern is special.
#[must_use]
pub fn is_pattern(cells: &[Cell]) -> bool {
    cells.iter().any(|cell| !cell.quoted && matches!(cell.byte, b'*' | b'?' | b'['))
}

/// Whether `pattern` matches all of `text`. Takes time in proportion to the product of their lengths at most.
#[must_use]
pub fn matches(pattern: &[Cell], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Behind the last `*`, and how far it reaches so far.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(p) {
            Some(cell) if cell.is(b'*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            None if t == text.len() => return true,
            None => None,
            Some(_) => text.get(t).and_then(|&byte| match_one(&pattern[p..], byte)),
        };
        match (step, star) {
            (Some(length), _) => {
                p += length;
                t += 1;
            }
            (None, Some((after, reach))) if reach < text.len() => {
                star = Some((after, reach + 1));
                (p, t) = (after, reach + 1);
            }
            (None, _) => return false,
        }
    }
}

/// Whether the first element of the pattern matches `byte`; its length if so.
fn match_one(pattern: &[Cell], byte: u8) -> Option<usize> {
    let first = *pattern.first()?;
    if first.is(b'?') {
        return Some(1);
    }
    if first.is(b'[')
        && let Some((length, matched)) = bracket(pattern, byte)
    {
        return matched.then_some(length);
    }
    (first.byte == byte).then_some(1)
}

/// A bracket expression at the start of the pattern: its length, and whether it matches. `None` if it has no end; then
/// the `[` stands for itself.
fn bracket(pattern: &[Cell], byte: u8) -> Option<(usize, bool)> {
    let mut at = 1;
    let negated = pattern.get(at).is_some_and(|cell| cell.is(b'!') || cell.is(b'^'));
    at += usize::from(negated);
    let start = at;
    let mut found = false;
    loop {
        let cell = *pattern.get(at)?;
        if cell.is(b']') && at > start {
            return Some((at + 1, found != negated));
        }
        if cell.is(b'[')
            && let Some((length, matched)) = class(&pattern[at..], byte)
        {
            found |= matched;
            at += length;
            continue;
        }
        let last = match (pattern.get(at + 1), pattern.get(at + 2)) {
            (Some(dash), Some(last)) if dash.is(b'-') && !last.is(b']') => Some(last.byte),
            _ => None,
        };
        found |= (cell.byte..=last.unwrap_or(cell.byte)).contains(&byte);
        at += if last.is_some() { 3 } else { 1 };
    }
}

/// A character class `[:name:]`: its length, and whether it has `byte`.
fn class(pattern: &[Cell], byte: u8) -> Option<(usize, bool)> {
    if !pattern.get(1)?.is(b':') {
        return None;
    }
    let length = pattern.windows(2).skip(2).position(|pair| pair[0].is(b':') && pair[1].is(b']'))?;
    let name = bytes(&pattern[2..2 + length]);
    let has = match name.as_slice() {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    };
    Some((length + 4, has))
}

/// Length of what `pattern` matches at the start of `text`: the shortest or the longest.
#[must_use]
pub fn prefix(pattern: &[Cell], text: &[u8], longest: bool) -> Option<usize> {
    let fits = |&length: &usize| matches(pattern, &text[..length]);
    if longest { (0..=text.len()).rev().find(fits) } else { (0..=text.len()).find(fits) }
}

/// Where what `pattern` matches at the end of `text` begins: the shortest or the longest.
#[must_use]
pub fn suffix(pattern: &[Cell], text: &[u8], longest: bool) -> Option<usize> {
    let fits = |&start: &usize| matches(pattern, &text[start..]);
    if longest { (0..=text.len()).find(fits) } else { (0..=text.len()).rev().find(fits) }
}

#[cfg(test)]
mod tests {
    use super::{Cell, matches, prefix, suffix};
    use proptest::prelude::*;

    /// A pattern in which a backslash quotes.
    fn cells(text: &str) -> Vec<Cell> {
        let mut cells = Vec::new();
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' => cells.push(Cell { byte: bytes.next().unwrap_or(b'\\'), quoted: true }),
                _ => cells.push(Cell { byte, quoted: false }),
            }
        }
        cells
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*.rs", "main.rs", true),
            ("*.rs", "main.rs.bak", false),
            ("a*b*c", "aXbYbZc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]a]", "]", true),
            ("[a-]", "-", true),
            ("[[:digit:]x]", "7", true),
            ("[[:nope:]]", "n]", true),
            ("[a", "[a", true),
            ("\\*", "x", false),
            ("\\*", "*", true),
            ("[\\]a]", "]", true),
            ("[a\\-z]", "b", false),
            ("", "", true),
            ("", "a", false),
            ("**a", "xa", true),
        ] {
            assert_eq!(matches(&cells(pattern), text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn parts_at_either_end() {
        assert_eq!(prefix(&cells("*/"), b"a/b/c", false), Some(2));
        assert_eq!(prefix(&cells("*/"), b"a/b/c", true), Some(4));
        assert_eq!(suffix(&cells(".*"), b"a.b.c", false), Some(3));
        assert_eq!(suffix(&cells(".*"), b"a.b.c", true), Some(1));
        assert_eq!(prefix(&cells("x"), b"a", true), None);
    }

    /// The simplest way to match, by recursion.
    fn slowly(pattern: &[Cell], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((star, rest)) if star.is(b'*') => (0..=text.len()).any(|skip| slowly(rest, &text[skip..])),
            Some(_) => match (text.split_first(), text.first()) {
                (Some((_, after)), Some(&byte)) => {
                    super::match_one(pattern, byte).is_some_and(|length| slowly(&pattern[length..], after))
                }
                _ => false,
            },
        }
    }

    proptest! {
        #[test]
        fn any_pattern_matches_as_by_recursion(pattern in r"[ab*?\[\]!\\-]{0,9}", text in "[ab\\]]{0,8}") {
            let pattern = cells(&pattern);
            prop_assert_eq!(matches(&pattern, text.as_bytes()), slowly(&pattern, text.as_bytes()));
        }

        #[test]
        fn a_quoted_text_matches_itself_only(text: Vec<u8>, other: Vec<u8>) {
            let pattern: Vec<Cell> = text.iter().map(|&byte| Cell { byte, quoted: true }).collect();
            prop_assert!(matches(&pattern, &text));
            prop_assert_eq!(matches(&pattern, &other), text == other);
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = cells(&"*a".repeat(200));
        assert!(!matches(&pattern, &[b'b'; 20_000]));
    }
}
