//! What is typed, and what comes out.

use super::session::{PROMPT, Session};
use super::*;
use proptest::prelude::*;

/// Types, checks the screen after each byte, and returns the line with its cursor.
fn typed(keys: &str) -> String {
    let mut session = Session::new(24, 80, 3);
    for byte in keys.bytes() {
        session.keys(&[byte]).check();
    }
    session.line()
}

#[test]
fn a_simple_line_is_echoed_as_it_is_typed() {
    let mut session = Session::new(24, 80, 0);
    session.keys("echo grüße 日本\r".as_bytes());
    assert_eq!(session.sent, "echo grüße 日本\n".as_bytes());
    assert_eq!(session.lines(), ["echo grüße 日本"]);
    let mut unknown = Session::new(24, 80, 0);
    unknown.size = Size::new(0, 0);
    unknown.start();
    let long = "x".repeat(300);
    unknown.keys(long.as_bytes()).keys(b"\n");
    assert_eq!(unknown.sent, format!("{long}\n").as_bytes(), "a terminal of unknown size wraps by itself");
}

#[test]
fn keys_move_and_delete() {
    for (keys, line) in [
        ("abc\x1b[D\x1b[Dx", "ax|bc"),
        ("abc\x02\x02\x06x", "abx|c"),
        ("abc\x1b[H\x1b[3~\x1b[Cx", "bx|c"),
        ("abc\x1bOH\x04x\x1bOFy", "xbcy|"),
        ("abc\x1b[1~x\x1b[4~y", "xabcy|"),
        ("abc\x01x\x05y", "xabcy|"),
        ("abc\x7f\x08x", "ax|"),
        ("one two\x01\x0b\x19\x19", "one twoone two|"),
        ("one two\x1b[D\x15x\x19", "xone tw|o"),
        ("one a/b  \x17x", "one x|"),
        ("one a/b\x1b\x7fx", "one a/x|"),
        ("one two\x01\x1bdx", "x| two"),
        ("one, two\x1bbx\x1bb\x1bby", "y|one, xtwo"),
        ("one, two\x01\x1bfx\x1bfy", "onex, twoy|"),
        ("one two\x1b[1;5Dx\x1b[1;5D\x1b[1;3Cy", "one xtwoy|"),
        ("one two\x1b[1;2Dx", "one twx|o"),
        ("one two\x1bOdx", "one x|two"),
        ("a\x1b[[Ab\x1b[24~c\x1b[200~d\x1b[201~e", "abcde|"),
        ("a\x1b[1111111111111111111111Cb", "ab|"),
        ("\x1b[200~a\tb\x1b[201~", "a\tb|"),
        ("\x1b[200~a\x04\x01\x1b[Db\x1b[201~c", "abc|"),
        ("\x7f\x1b[D\x1b[C\x1b[3~\x17\x15\x0b\x1bb\x1bf", "|"),
        ("a\x1b\x1b[Db", "b|a"),
    ] {
        assert_eq!(typed(keys), line, "{keys:?}");
    }
}

#[test]
fn a_character_is_moved_over_and_deleted_with_its_marks() {
    for (keys, line) in [
        ("e\u{301}x\x1b[D\x1b[Dy", "y|e\u{301}x"),
        ("e\u{301}x\x1b[D\x7f", "|x"),
        ("e\u{301}x\x01\x1b[3~", "|x"),
        ("日本\x1b[Dx\x7f\x7f", "|本"),
        ("xe\u{301}\x1bby", "y|xe\u{301}"),
        ("\u{301}\x01a", "a\u{301}|"),
    ] {
        assert_eq!(typed(keys), line, "{keys:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_kept_and_shown_as_escapes() {
    let mut session = Session::new(24, 80, 0);
    session.keys(b"a\xff\xc3b\xe6\x97\xc2\x9b").check();
    assert_eq!(session.screen.row(0), "askr$ a\\xff\\xc3b\\xe6\\x97\\x9b");
    session.keys(b"\x7f\x7f").check();
    session.keys(b"\r");
    assert_eq!(session.steps, [Step::Line(b"a\xff\xc3b\xe6".to_vec())]);
}

#[test]
fn lines_end_in_the_ways_there_are() {
    let mut session = Session::new(24, 80, 0);
    session.keys(b"ab\x03\x04x\x04\r\n\x1b\r");
    assert_eq!(
        session.steps,
        [
            Step::Interrupted,
            Step::EndOfInput,
            Step::Line(b"x".to_vec()),
            Step::Line(Vec::new()),
            Step::Line(Vec::new())
        ]
    );
    assert_eq!(session.screen.row(0), "askr$ ab^C");
}

#[test]
fn a_line_too_long_is_told_and_nothing_of_it_run() {
    let mut session = Session::new(24, 80, 0);
    session.keys(&[b'x'; LINE_MAX]).keys(b"\r").keys(&[b'x'; LINE_MAX + 2]).keys(b"\x7f\r");
    assert_eq!(session.steps, [Step::Line(vec![b'x'; LINE_MAX]), Step::TooLong]);
    assert_eq!(session.screen.bells, 2);
    session.keys(&[b'x'; LINE_MAX + 1]).keys(b"\x15y\r");
    assert_eq!(session.lines()[1], "y", "an emptied line is a new one");
}

#[test]
fn the_history_is_walked_and_what_was_begun_comes_back() {
    let mut session = Session::new(24, 80, 0);
    session.keys(b"one\rtwo\rtwo\r  \rthree\rbegun");
    for (key, line) in [
        (&b"\x1b[A"[..], "three|"),
        (b"\x10", "two|"),
        (b"\x1bOA", "one|"),
        (b"\x1b[A", "one|"),
        (b"\x1b[B", "two|"),
        (b"\x0e", "three|"),
        (b"\x1b[B", "begun|"),
        (b"\x1b[B", "begun|"),
        (b"\x1b[A!\r\x1b[A", "three!|"),
    ] {
        session.keys(key).check();
        assert_eq!(session.line(), line);
    }
    assert_eq!(session.screen.bells, 2, "at either end");
}

#[test]
fn the_history_has_an_end() {
    let mut session = Session::new(24, 80, 0);
    for i in 0..HISTORY_LINES_MAX + 10 {
        session.keys(format!("line {i}\r").as_bytes());
    }
    assert_eq!(session.editor.history.len(), HISTORY_LINES_MAX);
    assert_eq!(session.editor.history.get(0), Some(&b"line 10"[..]));
    let long = vec![b'x'; LINE_MAX];
    for end in b'a'..b'h' {
        session.keys(&long[1..]).keys(&[end, b'\r']);
    }
    assert_eq!(session.editor.history.len(), HISTORY_BYTES_MAX / LINE_MAX);
}

#[test]
fn the_history_is_searched() {
    let mut session = Session::new(24, 80, 0);
    session.keys(b"echo one\recho two\rls\rbegun\x12o").check();
    assert_eq!(session.screen.row(3), "(search) 'o': echo two");
    assert_eq!(session.line(), "ech|o two");
    session.keys(b"n").check();
    assert_eq!(session.line(), "echo |one");
    session.keys(b"x").check();
    assert_eq!(session.screen.row(3), "(no older line) 'onx': echo one");
    session.keys(b"\x7f\x7f").check();
    assert_eq!(session.line(), "ech|o two", "a shorter part is looked for from the newest line");
    session.keys(b"\x12\x12").check();
    assert_eq!((session.line().as_str(), session.screen.bells), ("ech|o one", 1));
    session.keys(b"\x07").check();
    assert_eq!((session.line().as_str(), session.screen.row(3).as_str()), ("begun|", "askr$ begun"));
    session.keys(b"\x12two\x1b[D!").check();
    assert_eq!(session.line(), "echo! |two".replace(" |", "| "));
    session.keys(b"\x15\x12one\r");
    assert_eq!(session.lines().last().unwrap(), "echo one");
    session.keys(b"\x12zz\x03");
    assert_eq!(session.steps.last(), Some(&Step::Interrupted));
    session.keys(b"x").check();
    assert_eq!(session.text(), "x");
}

#[test]
fn a_part_in_the_middle_of_a_character_is_found_there() {
    let mut session = Session::new(24, 80, 0);
    session.keys("ab日\r".as_bytes()).keys(b"\x12\xa5").check();
    assert_eq!(session.line(), "ab|日");
    session.keys(b"\x1b[D!").check();
    assert_eq!(session.line(), "a!|b日");
}

#[test]
fn what_is_pasted_is_text_up_to_its_end() {
    let mut session = Session::new(24, 80, 0);
    session.keys(b"a\x1b[200~b\tc\rd\x1b[201~e\r");
    assert_eq!(session.steps, [Step::Line(b"ab\tc\nde".to_vec())]);
    session.keys(b"\x1b[200~x\x03y\r");
    assert_eq!(session.steps[1..], [Step::Interrupted, Step::Line(b"y".to_vec())], "Ctrl-C ends a paste");
    let mut out = Vec::new();
    session.editor.start(PROMPT, session.size, true, &mut out);
    assert!(out.starts_with(MARK_PASTES));
    out.clear();
    session.editor.feed(b'\r', &mut out);
    assert_eq!(out, [MARK_NO_PASTES, b"\n"].concat(), "the line's end is the last");
}

#[test]
fn tab_asks_for_a_word_and_gets_text_or_a_list() {
    let mut session = Session::new(24, 80, 2);
    session.keys(b"ls fo bar\x1bb\x1b[D\t\tx\t");
    let complete = |before: &str, again| Step::Complete { before: before.into(), again };
    assert_eq!(session.steps, [complete("ls fo", false), complete("ls fo", true), complete("ls fox", false)]);
    let mut out = Vec::new();
    session.editor.insert_text("é\u{301}".as_bytes(), &mut out);
    session.screen.write(&out);
    session.check();
    assert_eq!(session.line(), "ls foxé\u{301}| bar");
    out.clear();
    session.editor.list("one  two\nthree\n", &mut out);
    session.screen.write(&out);
    let rows: Vec<String> = (2..6).map(|y| session.screen.row(y)).collect();
    assert_eq!(rows, ["askr$ ls foxé\u{301} bar", "one  two", "three", "askr$ ls foxé\u{301} bar"]);
    session.keys(b"!");
    assert_eq!(session.line(), "ls foxé\u{301}!| bar");
    out.clear();
    session.editor.list("", &mut out);
    assert_eq!(out, [BELL]);
}

#[test]
fn ten_kilobytes_are_pasted_without_loss() {
    let text: String = ('a'..='z').cycle().take(10 * 1024).collect();
    let mut session = Session::new(24, 80, 0);
    session.keys(text.as_bytes()).keys(b"\r");
    assert_eq!(session.lines(), [text.as_str()]);
    let mut wide = Session::new(24, 80, 0);
    let text = "日".repeat(3000);
    wide.keys(text.as_bytes()).check();
    assert_eq!(wide.text(), text);
    let lines: String = (0..700).map(|i| format!("echo line {i}\r")).collect();
    let mut many = Session::new(24, 80, 0);
    many.keys(lines.as_bytes());
    assert_eq!(many.lines().join("\r") + "\r", lines);
}

proptest! {
    /// Letters, moves and deletions do to the line what they do to a list with a cursor.
    #[test]
    fn the_line_is_what_was_typed(keys in prop::collection::vec(0..8_u8, 0..200)) {
        let mut session = Session::new(24, 80, 0);
        let (mut model, mut cursor) = (Vec::new(), 0_usize);
        for (i, key) in keys.into_iter().enumerate() {
            let letter = char::from(b'a' + u8::try_from(i % 26).unwrap());
            let bytes: &[u8] = match key {
                0 => { cursor = cursor.saturating_sub(1); b"\x1b[D" }
                1 => { cursor = (cursor + 1).min(model.len()); b"\x1b[C" }
                2 => { if cursor > 0 { cursor -= 1; model.remove(cursor); } b"\x7f" }
                3 => { if cursor < model.len() { model.remove(cursor); } b"\x1b[3~" }
                _ => { model.insert(cursor, letter); cursor += 1; &[letter as u8] }
            };
            session.keys(bytes);
        }
        let expected: String = model.iter().collect();
        prop_assert_eq!((session.text(), session.editor.line.cursor()), (expected, cursor));
    }

    /// The cursor goes to the character in which the part begins, whatever bytes line and part are.
    #[test]
    fn any_bytes_are_searched_for(text in "[aé日\u{301}\u{1f600}]{1,20}", from in any::<prop::sample::Index>()) {
        let mut session = Session::new(24, 80, 0);
        session.keys(text.as_bytes()).keys(b"\r\x12").keys(&text.as_bytes()[from.index(text.len())..]);
        let cursor = session.editor.line.cursor();
        prop_assert!(cursor <= session.editor.line.units().len());
        session.keys(b"\x1b[D\x1b[C!");
        prop_assert_eq!(session.text().replacen('!', "", 1), text);
    }

    /// Bytes in any order neither break it nor get lost if they are text.
    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,100}") {
        let mut editor = Editor::new();
        let mut out = Vec::new();
        editor.start(PROMPT, Size::new(24, 80), true, &mut out);
        for byte in bytes {
            editor.feed(byte, &mut out);
        }
        // Ends a sequence that was begun, then a search, then the line.
        b"~~\x1b[201~\x07\x03".iter().for_each(|&byte| drop(editor.feed(byte, &mut out)));
        editor.start(PROMPT, Size::new(24, 80), false, &mut out);
        text.bytes().for_each(|byte| drop(editor.feed(byte, &mut out)));
        prop_assert_eq!(editor.line.to_bytes(), text.as_bytes());
    }
}
