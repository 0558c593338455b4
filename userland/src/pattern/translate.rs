//! POSIX regular expressions in the syntax of the crate `regex-syntax`.

use super::Kind;
use alloc_crate::format;
use alloc_crate::string::{String, ToString};

/// Bytes that may have a meaning in some kind of pattern.
pub(super) const SPECIAL: &[u8] = br"\.[*^$+?(){}|";

/// The names of character classes (POSIX, XBD 9.3.5).
const CLASSES: [&str; 12] = [
    "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
    "xdigit",
];

/// What is left of the pattern, and what is written of the translation.
struct Translation<'a> {
    rest: &'a [u8],
    out: String,
    kind: Kind,
    unicode: bool,
    /// Groups that are open.
    depth: u32,
    /// Whether an expression begins here, so that `*` repeats nothing and `^` is an anchor.
    at_start: bool,
}

/// Translates one pattern. With `unicode` it has to be UTF-8, and `.` is a character; else `.` is a byte.
///
/// # Errors
/// What is wrong with it.
pub(super) fn translate(pattern: &[u8], kind: Kind, unicode: bool) -> Result<String, String> {
    let mut state =
        Translation { rest: pattern, out: String::new(), kind, unicode, depth: 0, at_start: true };
    while let Some((&byte, rest)) = state.rest.split_first() {
        state.rest = rest;
        state.step(byte)?;
    }
    if state.depth > 0 { Err(r"unmatched ( or \(".to_string()) } else { Ok(state.out) }
}

impl Translation<'_> {
    fn step(&mut self, byte: u8) -> Result<(), String> {
        if self.kind == Kind::Fixed {
            self.literal(byte);
            return Ok(());
        }
        let extended = self.kind == Kind::Extended;
        let (byte, escaped) = match byte {
            b'\\' => {
                let (&next, rest) = self.rest.split_first().ok_or("trailing backslash")?;
                self.rest = rest;
                (next, true)
            }
            byte => (byte, false),
        };
        match byte {
            // In one kind of pattern these have their meaning bare, in the other with a backslash.
            b'(' | b')' | b'{' | b'}' | b'|' | b'+' | b'?' if escaped != extended => self.operator(byte)?,
            _ if escaped => self.escaped(byte)?,
            b'*' => self.operator(byte)?,
            b'.' => self.push("."),
            b'[' => self.bracket()?,
            b'^' if extended || self.at_start => self.out.push('^'),
            b'$' if extended || self.ends_expression() => self.push("$"),
            _ => self.literal(byte),
        }
        Ok(())
    }

    fn push(&mut self, text: &str) {
        self.out += text;
        self.at_start = false;
    }

    /// A byte that stands for itself. With `unicode`, parts of a character come one after the other.
    fn literal(&mut self, byte: u8) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => self.push(&char::from(byte).to_string()),
            _ => self.push(&format!(r"(?-u:\x{byte:02x})")),
        }
        // Repetition is of a character, not of its last byte.
        if self.unicode && byte >= 0xC0 {
            let head = self.out.rfind("(?-u:").unwrap_or(0);
            let count = self.rest.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
            let (tail, rest) = self.rest.split_at(count);
            self.rest = rest;
            tail.iter().for_each(|byte| self.out += &format!(r"(?-u:\x{byte:02x})"));
            self.out.insert_str(head, "(?:");
            self.out.push(')');
        }
    }

    fn escaped(&mut self, byte: u8) -> Result<(), String> {
        match byte {
            b'<' => self.push(r"(?-u:\b{start})"),
            b'>' => self.push(r"(?-u:\b{end})"),
            b'b' | b'B' | b'w' | b'W' | b's' | b'S' => self.push(&format!(r"(?-u:\{})", char::from(byte))),
            b'1'..=b'9' => return Err("back-references are not supported".to_string()),
            _ => self.literal(byte),
        }
        Ok(())
    }

    fn operator(&mut self, byte: u8) -> Result<(), String> {
        match byte {
            b'(' => {
                self.depth += 1;
                self.out += "(?:";
                self.at_start = true;
            }
            b')' => {
                // An extended pattern may hold a bracket that closes nothing.
                if self.depth == 0 && self.kind == Kind::Extended {
                    self.literal(byte);
                    return Ok(());
                }
                self.depth = self.depth.checked_sub(1).ok_or(r"unmatched ) or \)")?;
                self.push(")");
            }
            b'|' => {
                self.out.push('|');
                self.at_start = true;
            }
            b'{' => return self.interval(),
            b'}' => self.literal(byte),
            // At the start there is nothing to repeat.
            _ if self.at_start => self.literal(byte),
            _ => self.out.push(char::from(byte)),
        }
        Ok(())
    }

    /// Whether nothing of this expression follows, so that `$` is an anchor.
    fn ends_expression(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with(br"\)") || self.rest.starts_with(br"\|")
    }

    /// `{m}`, `{m,}`, `{,n}`, `{m,n}` after the opening brace.
    fn interval(&mut self) -> Result<(), String> {
        let close: &[u8] = if self.kind == Kind::Extended { b"}" } else { br"\}" };
        let end = self.rest.windows(close.len()).position(|window| window == close);
        let inner = end.map(|end| &self.rest[..end]);
        let is_interval = |inner: &&[u8]| {
            inner.iter().all(|byte| byte.is_ascii_digit() || *byte == b',')
                && inner.iter().filter(|byte| **byte == b',').count() <= 1
                && !inner.is_empty()
        };
        match inner.filter(is_interval) {
            Some(inner) if !self.at_start => {
                let text = String::from_utf8_lossy(inner);
                let zero = if inner.starts_with(b",") { "0" } else { "" };
                self.out += &format!("{{{zero}{text}}}");
                self.rest = &self.rest[inner.len() + close.len()..];
                Ok(())
            }
            // An extended pattern may hold a brace that opens nothing.
            _ if self.kind == Kind::Extended => {
                self.literal(b'{');
                Ok(())
            }
            _ => Err(r"invalid content of \{\}".to_string()),
        }
    }

    /// A bracket expression after its `[`. A backslash in it stands for itself.
    fn bracket(&mut self) -> Result<(), String> {
        let mut class = String::from("[");
        if let Some(rest) = self.rest.strip_prefix(b"^") {
            self.rest = rest;
            class.push('^');
        }
        let mut first = true;
        loop {
            let (&byte, rest) = self.rest.split_first().ok_or("unmatched [")?;
            match byte {
                b']' if !first => {
                    self.rest = rest;
                    class.push(']');
                    self.push(&class);
                    return Ok(());
                }
                b'[' if matches!(rest.first(), Some(b':' | b'.' | b'=')) => {
                    let end = rest.windows(2).position(|window| window == b":]");
                    let name = end.and_then(|end| rest.get(1..end)).ok_or("unmatched [ or [:")?;
                    let known = CLASSES.iter().find(|class| class.as_bytes() == name);
                    class += &format!("[:{}:]", known.ok_or("unknown class of characters")?);
                    self.rest = &rest[name.len() + 3..];
                }
                b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
                    class.push(char::from(byte));
                    self.rest = rest;
                }
                0x80.. if self.unicode => self.character(&mut class),
                _ => {
                    class += &format!(r"\x{byte:02x}");
                    self.rest = rest;
                }
            }
            first = false;
        }
    }

    /// One character beyond ASCII.
    fn character(&mut self, class: &mut String) {
        let count = 1 + self.rest[1..].iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
        let (character, rest) = self.rest.split_at(count);
        *class += &String::from_utf8_lossy(character);
        self.rest = rest;
    }
}
