//! The terminal: what is typed, what is shown, what is read.

use askr_core::tty::{Event, LINE_MAX, LineDiscipline, Losses, Onlcr, READY_BYTES_MAX, READY_LINES_MAX};
use proptest::prelude::*;

/// A terminal with the screen that its echo makes: one row per line, columns as a simple terminal keeps them.
#[derive(Default)]
struct Session {
    tty: LineDiscipline,
    shown: Vec<u8>,
    events: Vec<Event>,
}

impl Session {
    fn type_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for &byte in bytes {
            let reaction = self.tty.input(byte);
            let expected = reaction.echo.len();
            let before = self.shown.len();
            self.shown.extend(reaction.echo);
            assert_eq!(self.shown.len() - before, expected);
            self.events.extend(reaction.event);
        }
        self
    }

    fn read(&mut self) -> Option<Vec<u8>> {
        let mut buffer = [0; LINE_MAX + 1];
        self.tty.read(&mut buffer).map(|count| buffer[..count].to_vec())
    }

    /// The last row of the screen as text, blanks at its end cut.
    fn row(&self) -> String {
        let text = String::from_utf8(self.shown.clone()).unwrap();
        let mut row: Vec<char> = Vec::new();
        let mut column = 0;
        for character in text.rsplit('\n').next().unwrap().chars() {
            match character {
                '\x08' => column -= 1,
                '\x07' | '\u{301}' => {}
                _ => {
                    row.truncate(row.len().max(column));
                    row.resize(row.len().max(column + 1), ' ');
                    row[column] = character;
                    column += 1;
                }
            }
        }
        row.into_iter().collect::<String>().trim_end().to_owned()
    }
}

fn typed(bytes: &[u8]) -> Session {
    let mut session = Session::default();
    session.type_bytes(bytes);
    session
}

#[test]
fn a_line_is_shown_and_read_when_it_ends() {
    let mut session = typed(b"echo hi");
    assert_eq!(session.read(), None);
    assert!(!session.tty.is_ready());
    session.type_bytes(b"\r");
    assert_eq!(session.shown, b"echo hi\r\n");
    assert_eq!(session.events, [Event::Ready]);
    assert_eq!(session.read().unwrap(), b"echo hi\n");
    assert_eq!(session.read(), None);
}

#[test]
fn lines_queue_and_a_short_buffer_gets_them_in_parts() {
    let mut session = typed(b"one\ntwo\n");
    let mut buffer = [0; 3];
    assert_eq!(session.tty.read(&mut []), Some(0));
    assert_eq!(session.tty.read(&mut buffer), Some(3));
    assert_eq!(session.tty.read(&mut buffer), Some(1), "a read stays within one line");
    assert_eq!(session.read().unwrap(), b"two\n");
}

#[test]
fn erasing_takes_whole_characters_from_line_and_screen() {
    for (keys, line, row) in [
        (&b"ab\x7fc"[..], "ac", "ac"),
        (b"ab\x08\x08\x08\x08c", "c", "c"),
        ("aé\x7fb".as_bytes(), "ab", "ab"),
        ("a\u{1F600}\x7fb".as_bytes(), "ab", "ab"),
        ("e\u{301}\x7fb".as_bytes(), "b", "b"),
        (b"a\x01\x7fb", "ab", "ab"),
        (b"a\tb\x7f\x7fc", "ac", "ac"),
        (b"one two  \x17x", "one x", "one x"),
        (b"one\x17\x17x", "x", "x"),
        (b"one two\x15x", "x", "x"),
        (b"\x15\x17\x7fx", "x", "x"),
    ] {
        let mut session = typed(keys);
        // The wide character takes two columns, which the simple screen above does not know.
        if !keys.contains(&0xF0) {
            assert_eq!(session.row(), row, "{keys:?}");
        }
        session.type_bytes(b"\n");
        assert_eq!(session.read().unwrap(), format!("{line}\n").as_bytes(), "{keys:?}");
    }
    let wide = typed("\u{1F600}\x7f".as_bytes());
    assert_eq!(&wide.shown[4..], b"\x08 \x08\x08 \x08");
}

#[test]
fn bytes_that_are_no_utf8_are_kept_and_erased_one_by_one() {
    let mut session = typed(b"a\xff\x80\x80\x7f\n");
    assert_eq!(session.read().unwrap(), b"a\xff\x80\n");
}

#[test]
fn control_characters_are_shown_by_name_only() {
    let session = typed(b"\x1b[A\x00");
    assert_eq!(session.shown, b"^[[A^@");
    assert_eq!(session.tty.pending(), b"\x1b[A\x00");
}

#[test]
fn ctrl_c_discards_what_was_typed_ahead() {
    let mut session = typed(b"ahead\nhalf\x03");
    assert_eq!(session.events, [Event::Ready, Event::Interrupt]);
    assert!(session.shown.ends_with(b"^C\r\n"));
    assert_eq!(session.read(), None);
    session.type_bytes(b"next\n");
    assert_eq!(session.read().unwrap(), b"next\n");
}

#[test]
fn ctrl_d_hands_over_a_part_or_ends_the_file() {
    let mut session = typed(b"part\x04\x04after\n");
    assert_eq!(session.read().unwrap(), b"part");
    assert_eq!(session.tty.read(&mut []), Some(0), "a read of nothing takes no end of file");
    assert_eq!(session.read().unwrap(), b"", "end of file");
    assert_eq!(session.read().unwrap(), b"after\n");
    assert_eq!(session.events, [Event::Ready; 3]);
}

#[test]
fn a_line_too_long_rings_and_is_counted() {
    let mut session = typed(&[b'x'; LINE_MAX]);
    assert!(!session.shown.contains(&7));
    session.type_bytes(b"yy");
    assert!(session.shown.ends_with(b"x\x07\x07"));
    session.type_bytes(b"\n");
    assert_eq!(session.read().unwrap().len(), LINE_MAX + 1);
    assert_eq!(session.tty.losses(), Losses { bytes: 2, lines: 0 });
}

#[test]
fn lines_that_nobody_reads_ring_and_are_counted() {
    let mut many = typed(&b"\n".repeat(READY_LINES_MAX));
    assert_eq!(many.tty.losses(), Losses::default());
    many.type_bytes(b"lost\n");
    assert!(many.shown.ends_with(b"lost\r\n\x07"));
    assert_eq!(many.tty.losses(), Losses { bytes: 0, lines: 1 });
    assert_eq!(many.events.len(), READY_LINES_MAX);
    let mut long = Session::default();
    let line = [&[b'x'; LINE_MAX][..], b"\n"].concat();
    for _ in 0..=READY_BYTES_MAX / line.len() {
        long.type_bytes(&line);
    }
    assert_eq!(long.tty.losses().lines, 1);
    long.read();
    long.type_bytes(b"room again\n");
    assert_eq!(long.tty.losses().lines, 1);
}

#[test]
fn output_gets_its_carriage_returns() {
    let mut output = Onlcr::new(b"a\n\nb");
    assert_eq!(output.by_ref().take(2).collect::<Vec<_>>(), b"a\r");
    assert_eq!(output.consumed(), 1, "a newline counts only when it is whole");
    assert_eq!(output.by_ref().collect::<Vec<_>>(), b"\n\r\nb");
    assert_eq!(output.consumed(), 4);
}

proptest! {
    #[test]
    fn any_keys_keep_the_promises(keys in prop::collection::vec(
        prop_oneof![any::<u8>(), prop::sample::select(&b"\r\x03\x04\x08\x7f\x15\x17 a\xc3\xa9"[..])], 0..600))
    {
        let mut session = Session::default();
        for &key in &keys {
            session.type_bytes(&[key]);
            prop_assert!(!session.tty.pending().contains(&b'\n'));
            prop_assert!(session.tty.pending().len() <= LINE_MAX);
            prop_assert!(session.shown.iter().all(|byte| !matches!(byte, 0x1b | 0x7f | 0..7)));
        }
        let mut reads = 0;
        while let Some(line) = session.read() {
            reads += 1;
            prop_assert!(!line[..line.len().saturating_sub(1)].contains(&b'\n'));
        }
        prop_assert!(reads <= session.events.len());
        prop_assert_eq!(session.tty.losses(), Losses::default());
    }

    #[test]
    fn text_erased_leaves_nothing(text in "[a-zé\u{65e5}\t\u{1}]{0,60}") {
        let mut session = typed(text.as_bytes());
        let shown = session.shown.len();
        session.type_bytes(b"\x15\n");
        prop_assert_eq!(session.read().unwrap(), b"\n");
        let mut one_by_one = typed(text.as_bytes());
        one_by_one.type_bytes(&vec![0x7f; text.chars().count()]);
        prop_assert_eq!(one_by_one.tty.pending(), b"");
        prop_assert_eq!(one_by_one.shown.len() + 2, session.shown.len());
        prop_assert!(shown >= text.chars().count());
    }
}
