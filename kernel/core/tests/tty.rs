//! The terminal: what is typed, what is shown, what is read.

mod terminal;

use askr_core::tty::{BACKLOG_MAX, Event, LINE_MAX, Onlcr, READY_BYTES_MAX, READY_LINES_MAX};
use proptest::prelude::*;
use terminal::{Session, typed};

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
    assert_eq!(session.events, [Event::Ready, Event::Signal(2)]);
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
    assert_eq!(session.tty.refused(), 2);
}

#[test]
fn lines_that_nobody_reads_make_the_sender_wait() {
    let mut many = typed(&b"\n".repeat(READY_LINES_MAX));
    assert_eq!((many.events.len(), many.tty.room()), (READY_LINES_MAX, BACKLOG_MAX));
    many.type_bytes(b"next\nlast\n");
    assert_eq!(many.tty.room(), BACKLOG_MAX - 6, "a line may be typed, but not end");
    assert!(many.shown.ends_with(b"next"));
    assert_eq!(many.read().unwrap(), b"\n");
    assert_eq!(many.tty.room(), BACKLOG_MAX - 1);
    assert!(many.shown.ends_with(b"next\r\nlast"), "it is shown when its turn comes");
    many.read();
    assert_eq!(many.tty.room(), BACKLOG_MAX);
    let rest: Vec<_> = std::iter::from_fn(|| many.read()).collect();
    assert_eq!(rest.len(), READY_LINES_MAX);
    assert_eq!(rest[rest.len() - 2..], [b"next\n", b"last\n"]);
    assert_eq!(many.tty.refused(), 0);
}

#[test]
fn ctrl_c_gets_through_to_the_end_of_the_backlog() {
    let line = [&[b'x'; LINE_MAX][..], b"\n"].concat();
    let mut full = Session::default();
    while full.tty.room() > 0 {
        full.type_bytes(&line[..full.tty.room().min(line.len())]);
    }
    assert_eq!(full.events.len(), READY_BYTES_MAX / line.len());
    full.type_bytes(b"\x03");
    assert_eq!(full.events.last(), Some(&Event::Signal(2)));
    assert_eq!((full.tty.room(), full.tty.is_ready()), (BACKLOG_MAX, false));
    full.type_bytes(b"next\n");
    assert_eq!(full.read().unwrap(), b"next\n");
}

#[test]
fn output_gets_its_carriage_returns() {
    let mut output = Onlcr::new(b"a\n\nb");
    assert_eq!(output.by_ref().take(2).collect::<Vec<_>>(), b"a\r");
    assert_eq!(output.consumed(), 1, "a newline counts only when it is whole");
    assert_eq!(output.by_ref().collect::<Vec<_>>(), b"\n\r\nb");
    assert_eq!(output.consumed(), 4);
    assert_eq!(Onlcr::when(false, b"a\n\nb").collect::<Vec<_>>(), b"a\n\nb");
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
        prop_assert_eq!(session.tty.refused(), 0);
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
