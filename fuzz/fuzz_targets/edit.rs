//! Any bytes from a terminal, of any size, at the line editor. What it sends is text and its own escape sequences, so
//! nothing typed or pasted becomes a command to the terminal; what is only typed is the line.
//!
//! Bytes of the input are typed, but for 0x00 and the byte after it: `s` and two bytes resize the screen to so many
//! rows and columns, `p` begins a new line, another byte is typed as it is. An input that begins with 0x00 and `full`
//! begins with a line of the most bytes there may be; only there, because that takes long.
#![no_main]

use askr_userland::edit::{Editor, Size, Step};
use askr_userland::shell::LINE_MAX;
use askr_userland::shell::complete::{Candidate, complete, listing, target};
use libfuzzer_sys::fuzz_target;

/// Most bytes that one byte typed may lead to: the longest line shown anew, each character with its place.
const OUTPUT_MAX: usize = 32 * LINE_MAX;

fuzz_target!(|input: &[u8]| {
    let mut session = Session { editor: Editor::new(), size: Size::new(24, 80), typed: Some(Vec::new()) };
    session.start();
    let rest = input.strip_prefix(b"\0full");
    if rest.is_some() {
        (0..LINE_MAX).for_each(|_| session.feed(b'x'));
    }
    let mut input = rest.unwrap_or(input).iter().copied();
    while let Some(byte) = input.next() {
        match (byte, if byte == 0 { input.next() } else { None }) {
            (0, Some(b's')) => session.resize(input.next().unwrap_or(0), input.next().unwrap_or(0)),
            (0, Some(b'p')) => session.start(),
            (0, Some(byte)) | (byte, _) => session.feed(byte),
        }
    }
});

struct Session {
    editor: Editor,
    size: Size,
    /// What the line must be; none when other keys than characters were in it.
    typed: Option<Vec<u8>>,
}

impl Session {
    fn start(&mut self) {
        let mut out = Vec::new();
        self.editor.start("askr> ", self.size, true, &mut out);
        check(&out);
        self.typed = self.typed.take().map(|_| Vec::new());
    }

    /// Begins a line after a key that ended one, so no sequence of keys is unfinished.
    fn next(&mut self) {
        self.typed = Some(Vec::new());
        self.start();
    }

    fn resize(&mut self, rows: u8, columns: u8) {
        let mut out = Vec::new();
        self.size = Size::new(u16::from(rows), u16::from(columns));
        self.editor.resize(self.size, &mut out);
        check(&out);
    }

    fn complete(&mut self, before: &[u8], again: bool) {
        let mut out = Vec::new();
        let done = target(before).map(|target| complete(&target, candidates())).unwrap_or_default();
        if done.insert.is_empty() {
            self.editor.list(&if again { listing(&done, 40) } else { String::new() }, &mut out);
        } else {
            self.editor.insert_text(&done.insert, &mut out);
        }
        check(&out);
    }

    fn feed(&mut self, byte: u8) {
        let mut out = Vec::new();
        let step = self.editor.feed(byte, &mut out);
        check(&out);
        match byte {
            b' '..=b'~' => self.typed.iter_mut().for_each(|typed| typed.push(byte)),
            b'\r' | b'\n' => {}
            _ => self.typed = None,
        }
        match step {
            Some(Step::Line(line)) => {
                assert!(line.len() <= LINE_MAX);
                if let Some(typed) = &self.typed {
                    assert_eq!(&line, typed, "what was typed is not the line");
                }
                self.next();
            }
            Some(Step::TooLong) => {
                assert!(self.typed.as_ref().is_none_or(|typed| typed.len() > LINE_MAX));
                self.next();
            }
            Some(Step::Interrupted | Step::EndOfInput) => self.next(),
            Some(Step::Complete { before, again }) => self.complete(&before, again),
            Some(Step::Size { rows, columns }) => {
                let mut out = Vec::new();
                self.size = Size::new(rows, columns);
                self.editor.resize(self.size, &mut out);
                check(&out);
            }
            None => {}
        }
    }
}

/// Names to complete with.
fn candidates() -> Vec<Candidate> {
    let names: [&[u8]; 7] = [b"a", b"ab c", b"x'y", b"x$\xff", "zé".as_bytes(), "zè".as_bytes(), b"\x1b[2J"];
    names.iter().map(|name| Candidate { name: name.to_vec(), folder: name.len().is_multiple_of(2) }).collect()
}

/// Whether this is text with whole sequences of the terminal's language that move and erase.
fn check(out: &[u8]) {
    assert!(out.len() <= OUTPUT_MAX, "{} bytes for one", out.len());
    let mut rest = out;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x1b => rest = sequence(after).unwrap_or_else(|| panic!("a strange sequence in {out:?}")),
            b'\r' | b'\n' | 0x07 | 0x08 => {}
            _ => assert!(byte >= b' ' && byte != 0x7f, "a control character in {out:?}"),
        }
    }
    for chunk in out.utf8_chunks() {
        assert!(!chunk.valid().contains(|character| matches!(character, '\u{80}'..='\u{9f}')), "{out:?}");
    }
}

/// What follows ESC and ends its sequence: DECSC, DECRC, or a CSI with numbers (ECMA-48, section 5.4).
fn sequence(bytes: &[u8]) -> Option<&[u8]> {
    match bytes.split_first()? {
        (b'7' | b'8', rest) => Some(rest),
        (b'[', rest) => {
            let end = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b'?'))?;
            matches!(rest[end], b'A'..=b'Z' | b'h' | b'l' | b'm' | b'n').then_some(&rest[end + 1..])
        }
        _ => None,
    }
}
