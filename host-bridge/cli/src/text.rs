//! Text from the guest, made safe to show: nothing in it that a terminal obeys or that hides from a reader.
//!
//! Bytes that hold such a thing come in the *escaped* form, which stands for the same bytes and can be sent back:
//! a backslash is `\\`, and what is escaped is `\n`, `\r`, `\t`, `\xNN` for a byte or `\u{…}` for a character.

#![cfg_attr(not(feature = "mcp"), allow(dead_code, reason = "only MCP clients send escaped forms back"))]

use std::fmt::Write as _;

/// How text may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A name or message: one line.
    Line,
    /// A file or question: line feeds and tabs are as they are, and so is the carriage return of a CR LF.
    Lines,
}

/// Whether this stands for itself.
pub(super) fn is_plain(text: &str, shape: Shape) -> bool {
    let mut symbols = text.chars().peekable();
    while let Some(symbol) = symbols.next() {
        if needs_escape(symbol, symbols.peek().copied(), shape) {
            return false;
        }
    }
    true
}

/// Controls (C0, DEL, C1; ECMA-48), what reorders text (Unicode UAX #9), what breaks lines without being a line
/// feed, and tag characters, which no reader sees (Unicode block E0000).
fn needs_escape(symbol: char, next: Option<char>, shape: Shape) -> bool {
    match symbol {
        '\n' | '\t' => shape == Shape::Line,
        '\r' => shape == Shape::Line || next != Some('\n'),
        '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// Text for a reader: as it is where that is safe, else escaped; and which of the two.
pub(super) fn show(bytes: &[u8], shape: Shape) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_plain(text, shape) => (text.to_owned(), false),
        _ => (escape(bytes, shape), true),
    }
}

/// The escaped form of these bytes.
pub(super) fn escape(bytes: &[u8], shape: Shape) -> String {
    let mut escaped = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        let mut symbols = chunk.valid().chars().peekable();
        while let Some(symbol) = symbols.next() {
            push(&mut escaped, symbol, symbols.peek().copied(), shape);
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\x{byte:02x}");
        }
    }
    escaped
}

fn push(escaped: &mut String, symbol: char, next: Option<char>, shape: Shape) {
    // Writing to a string cannot fail.
    let _ = match symbol {
        '\\' => escaped.write_str("\\\\"),
        symbol if !needs_escape(symbol, next, shape) => escaped.write_char(symbol),
        '\n' => escaped.write_str("\\n"),
        '\r' => escaped.write_str("\\r"),
        '\t' => escaped.write_str("\\t"),
        symbol if symbol.is_ascii() => write!(escaped, "\\x{:02x}", u32::from(symbol)),
        symbol => write!(escaped, "\\u{{{:x}}}", u32::from(symbol)),
    };
}

/// The bytes that an escaped form stands for; `None` if it is none.
pub(super) fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let mut symbols = rest[at + 1..].chars();
        match symbols.next()? {
            '\\' => bytes.push(b'\\'),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'x' => {
                let digits = symbols.as_str().get(..2)?;
                bytes.push(u8::try_from(hex(digits)?).ok()?);
                symbols = symbols.as_str()[2..].chars();
            }
            'u' => {
                let (digits, after) = symbols.as_str().strip_prefix('{')?.split_once('}')?;
                let symbol = char::from_u32(hex(digits)?)?;
                bytes.extend_from_slice(symbol.encode_utf8(&mut [0; 4]).as_bytes());
                symbols = after.chars();
            }
            _ => return None,
        }
        rest = symbols.as_str();
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

/// One to six hexadecimal digits and nothing else.
fn hex(digits: &str) -> Option<u32> {
    let are_digits = (1..=6).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are_digits.then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a terminal obeys or a reader does not see.
    fn is_hidden(symbol: char) -> bool {
        (symbol.is_control() && !"\n\t\r".contains(symbol))
            || "\u{202e}\u{2066}\u{e0041}\u{feff}".contains(symbol)
    }

    #[test]
    fn what_is_safe_stands_for_itself() {
        assert_eq!(show("a b é €\\".as_bytes(), Shape::Line), ("a b é €\\".into(), false));
        assert_eq!(show(b"a\r\n\tb\n", Shape::Lines), ("a\r\n\tb\n".into(), false));
    }

    #[test]
    fn what_is_not_is_escaped() {
        for (bytes, line, lines) in [
            (&b"a\n\\b"[..], "a\\n\\\\b", "a\n\\b"),
            (b"\x1b[2J", "\\x1b[2J", "\\x1b[2J"),
            (b"over\rwritten", "over\\rwritten", "over\\rwritten"),
            (b"\xff\0", "\\xff\\x00", "\\xff\\x00"),
            ("a\u{202e}b\u{9b}".as_bytes(), "a\\u{202e}b\\u{9b}", "a\\u{202e}b\\u{9b}"),
            ("\u{e0041}".as_bytes(), "\\u{e0041}", "\\u{e0041}"),
        ] {
            assert_eq!(show(bytes, Shape::Line).0, line);
            assert_eq!(show(bytes, Shape::Lines).0, lines);
        }
    }

    #[test]
    fn what_is_no_escaped_form_is_refused() {
        for text in
            ["\\", "\\q", "\\x", "\\x1", "\\xg0", "\\x+1", "\\u1", "\\u{", "\\u{}", "\\u{d800}", "\\xé"]
        {
            assert_eq!(unescape(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_round_trip_and_hide_nothing(bytes: Vec<u8>, one_line: bool) {
            let shape = if one_line { Shape::Line } else { Shape::Lines };
            let escaped = escape(&bytes, shape);
            prop_assert!(!escaped.chars().any(is_hidden), "{escaped:?}");
            prop_assert!(!one_line || !escaped.contains(['\n', '\r', '\t']));
            prop_assert_eq!(unescape(&escaped).unwrap(), &bytes[..]);
            let (shown, is_escaped) = show(&bytes, shape);
            prop_assert!(!shown.chars().any(is_hidden), "{shown:?}");
            prop_assert_eq!(if is_escaped { unescape(&shown).unwrap() } else { shown.into_bytes() }, bytes);
        }

        #[test]
        fn any_text_is_taken_apart_without_a_panic(text: String, escapes in "(\\\\[nrtxu{}0-9a-f\\\\]{0,8}|é){0,6}") {
            let _ = (unescape(&text), unescape(&escapes));
        }
    }
}
