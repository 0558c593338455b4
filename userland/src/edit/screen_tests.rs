//! What the screen shows.

use super::session::{PROMPT, Session};
use super::*;
use crate::edit::screen::Screen;
use proptest::prelude::*;

#[test]
fn the_screen_is_cleared() {
    let mut session = Session::new(5, 20, 3);
    session.keys(b"one two\x1b[D\x0c").check();
    assert_eq!((session.screen.row(0).as_str(), session.screen.y), ("askr$ one two", 0));
    assert!(session.editor.waits_for_size(), "a good moment to ask");
}

#[test]
fn the_terminal_is_asked_for_its_size_and_its_answer_is_no_input() {
    let mut session = Session::new(24, 80, 0);
    let mut out = Vec::new();
    session.editor.start(PROMPT, session.size, true, &mut out);
    assert!(out.starts_with(b"\x1b[?2004h\x1b7\x1b[999;999H\x1b[6n\x1b8askr$ "));
    session.keys(b"ab\x1b[30;100Rc");
    assert_eq!(
        (session.line().as_str(), &session.steps[..]),
        ("abc|", &[Step::Size { rows: 30, columns: 100 }][..])
    );
    assert!(!session.editor.waits_for_size());
    session.keys(b"\x1b[30;100Rd");
    assert_eq!((session.line().as_str(), session.steps.len()), ("abcd|", 1), "nobody asked");
    assert_eq!(size_at_end(b"ls\r\x1b[24;80R"), Some((3, 24, 80)));
    for text in
        [&b""[..], b"\x1b", b"\x1b[", b"\x1b[24;80", b"\x1b[24;80Rx", b"\x1b[A", b"[24;80R", b"\x1b[;80R"]
    {
        assert_eq!(size_at_end(text), None);
    }
}

#[test]
fn a_screen_that_turns_out_to_be_narrow_is_used_well() {
    for length in 0..40 {
        let mut session = Session::new(6, 10, 0);
        session.size = Size::new(0, 0);
        session.screen = Screen::new(6, 10);
        session.start();
        session.keys("x".repeat(length).as_bytes());
        let mut out = Vec::new();
        session.editor.resize(Size::new(6, 10), &mut out);
        session.screen.write(&out);
        session.check();
        session.keys(b"\x1b[D\x1b[Dab\x01c\x05d").check();
    }
}

#[test]
fn a_long_line_takes_rows_and_then_the_screen() {
    let mut session = Session::new(5, 20, 3);
    for letter in (b'a'..=b'z').cycle().take(300) {
        session.keys(&[letter]).check();
    }
    for key in [&b"\x1b[D\x1b[D"[..], b"y", b"\x05\x7f"].iter().cycle().take(60) {
        session.keys(key).check();
    }
    session.keys(b"\x01").check();
    assert_eq!(session.screen.row(0), "askr$ abcdefghijklmn");
    session.keys(b"\x05").check();
    session.keys(b"\x15").check();
    assert_eq!(session.screen.row(0), "askr$");
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    const MOVES: &[&str] = &[
        "\x1b[A",
        "\x1b[B",
        "\x1b[C",
        "\x1b[D",
        "\x1b[D",
        "\x1b[D",
        "\x1bb",
        "\x1bf",
        "\x01",
        "\x05",
        "\x1b[1;5C",
        "\x1b[1;5D",
        "\x12",
        "\x1b",
        "\x07",
    ];
    const EDITS: &[&str] =
        &["\x7f", "\x7f", "\x04", "\x1b[3~", "\x0b", "\x15", "\x17", "\x19", "\x1bd", "\x0c", "\r", "\x03"];
    prop_oneof![
        8 => "[ a-cé\u{301}\u{65e5}\u{1f600}]{1,12}".prop_map(String::into_bytes),
        6 => prop::sample::select(MOVES).prop_map(|key| key.as_bytes().to_vec()),
        3 => prop::sample::select(EDITS).prop_map(|key| key.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Whatever is typed, the screen shows the prompt and the line with the cursor in its place.
    #[test]
    fn the_screen_shows_the_line(
        rows in 1..6_u16, columns in 4..20_u16, before in 0..4_usize, keys in prop::collection::vec(key(), 0..60))
    {
        let mut session = Session::new(rows, columns, before.min(usize::from(rows) - 1));
        let mut fresh = true;
        for key in keys {
            let done = session.steps.len();
            session.keys(&key);
            // Lines that ended stand above the new prompt: only the row of the prompt itself is checked then.
            fresh &= done == session.steps.len();
            if fresh {
                session.check();
            } else {
                session.keys(b"\x0c");
                session.check();
                fresh = true;
            }
        }
    }
}
