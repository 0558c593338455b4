//! The terminal: what is typed, what is shown, what is read.

use askr_abi::terminal::{ECHO, ICANON, ICRNL, ISIG, ONLCR, OPOST, TERMIOS_SIZE, Termios, VMIN, VTIME};
use askr_core::tty::{
    BACKLOG_MAX, Event, LINE_MAX, LineDiscipline, Modes, Onlcr, READY_BYTES_MAX, READY_LINES_MAX, Reaction,
};
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
            self.show(reaction);
        }
        self
    }

    fn show(&mut self, reaction: Reaction) {
        let expected = reaction.echo.len();
        let before = self.shown.len();
        self.shown.extend(reaction.echo);
        assert_eq!(self.shown.len() - before, expected);
        self.events.extend(reaction.event);
    }

    /// Reads as the kernel does: what waits in the backlog moves up.
    fn read(&mut self) -> Option<Vec<u8>> {
        let mut buffer = [0; LINE_MAX + 1];
        let count = self.tty.read(&mut buffer)?;
        self.resume();
        Some(buffer[..count].to_vec())
    }

    fn resume(&mut self) {
        while let Some(reaction) = self.tty.resume() {
            self.show(reaction);
        }
    }

    fn set(&mut self, modes: Modes) -> &mut Self {
        self.tty.set_modes(modes);
        self.resume();
        self
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

/// As a line editor sets it: bytes at once, no echo, no signals.
const RAW: Modes = Modes { canonical: false, echo: false, signals: false, ..Modes::CANONICAL };

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
    assert_eq!(full.events.last(), Some(&Event::Interrupt));
    assert_eq!((full.tty.room(), full.tty.is_ready()), (BACKLOG_MAX, false));
    full.type_bytes(b"next\n");
    assert_eq!(full.read().unwrap(), b"next\n");
}

#[test]
fn raw_bytes_are_ready_at_once_and_silent() {
    let mut session = Session::default();
    session.set(RAW).type_bytes(b"\x1b[A\x03\x04\x7f\r");
    assert_eq!(session.read().unwrap(), b"\x1b[A\x03\x04\x7f\n", "CR is NL while ICRNL");
    assert_eq!(session.read(), None);
    assert!(!session.tty.is_ready());
    assert_eq!((&session.shown[..], &session.events[..]), (&b""[..], &[Event::Ready; 7][..]));
    session.set(Modes { return_is_newline: false, echo: true, ..RAW }).type_bytes(b"\r\n\x7fa");
    assert_eq!(session.read().unwrap(), b"\r\n\x7fa");
    assert_eq!(session.shown, b"^M\r\n^?a");
    session.set(Modes { signals: true, ..RAW }).type_bytes(b"lost\x03x");
    assert_eq!(session.events[session.events.len() - 2..], [Event::Interrupt, Event::Ready]);
    assert_eq!(session.read().unwrap(), b"x");
    assert_eq!(session.shown, b"^M\r\n^?a", "no ^C without ECHO");
}

#[test]
fn raw_bytes_that_nobody_reads_make_the_sender_wait() {
    let mut session = Session::default();
    session.set(RAW).type_bytes(&[b'x'; READY_BYTES_MAX]).type_bytes(b"y");
    assert_eq!(session.tty.room(), BACKLOG_MAX - 1);
    while session.tty.room() > 0 {
        session.type_bytes(b"z");
    }
    session.type_bytes(b"!");
    assert_eq!(
        (session.tty.refused(), &session.shown[..]),
        (1, &b"\x07"[..]),
        "only if room() is not minded"
    );
    let all: Vec<u8> = std::iter::from_fn(|| session.read()).flatten().collect();
    assert_eq!(all.len(), READY_BYTES_MAX + BACKLOG_MAX);
    assert_eq!(all[READY_BYTES_MAX - 1..READY_BYTES_MAX + 2], *b"xyz");
}

#[test]
fn what_a_line_editor_leaves_is_typed_again_for_the_program() {
    let mut session = Session::default();
    session.set(RAW).type_bytes(b"cat\rone\rtwo\x7f\x7f\x7fx");
    let mut command = [0; 4];
    assert_eq!(session.tty.read(&mut command), Some(4));
    assert_eq!((&command, &session.shown[..]), (b"cat\n", &b""[..]));
    session.set(Modes::CANONICAL);
    assert_eq!(session.row(), "x");
    assert!(session.shown.starts_with(b"one\r\ntwo"));
    session.type_bytes(b"y\r");
    assert_eq!(session.read().unwrap(), b"one\n");
    assert_eq!(session.read().unwrap(), b"xy\n");
    // Ctrl-C too has its effect when somebody wants it.
    session.set(RAW).type_bytes(b"a\x03b").set(Modes::CANONICAL);
    assert_eq!(session.events.iter().filter(|event| **event == Event::Interrupt).count(), 1);
    assert_eq!(session.tty.pending(), b"b");
}

#[test]
fn what_a_program_leaves_is_there_for_the_line_editor() {
    let mut session = typed(b"one\n\x04two\nthr");
    session.set(RAW);
    assert_eq!(session.read().unwrap(), b"one\ntwo\nthr");
    session.type_bytes(b"ee");
    assert_eq!(session.read().unwrap(), b"ee");
    session.type_bytes(b"lost");
    session.tty.discard();
    assert_eq!(session.read(), None);
}

#[test]
fn more_lines_than_fit_wait_for_the_mode_to_change() {
    let mut session = Session::default();
    session.set(RAW).type_bytes(&b"x\n".repeat(2 * READY_LINES_MAX)).set(Modes::CANONICAL);
    let lines: Vec<_> = std::iter::from_fn(|| session.read()).collect();
    assert_eq!(lines.len(), 2 * READY_LINES_MAX);
    assert!(lines.iter().all(|line| line == b"x\n"));
}

#[test]
fn passwords_are_not_shown() {
    let mut session = Session::default();
    session.set(Modes { echo: false, ..Modes::CANONICAL }).type_bytes(b"secrex\x7ft\n");
    assert_eq!((session.read().unwrap(), &session.shown[..]), (b"secret\n".to_vec(), &b""[..]));
}

#[test]
fn termios_tells_what_could_be_done() {
    assert_eq!(Modes::CANONICAL.to_termios(), Termios::CANONICAL);
    assert!(Modes::CANONICAL.adds_carriage_return());
    let all = Modes::from_termios(&Termios::from_bytes(&[0xff; TERMIOS_SIZE]));
    assert_eq!(all, Modes { time: 0xff, ..Modes::CANONICAL });
    let none = Modes::from_termios(&Termios::from_bytes(&[0; TERMIOS_SIZE]));
    let termios = none.to_termios();
    assert_eq!(termios.local & (ICANON | ECHO | ISIG), 0);
    assert_eq!((termios.input & ICRNL, termios.output & (OPOST | ONLCR)), (0, 0));
    assert_eq!((termios.control_chars[VMIN], termios.control_chars[VTIME]), (0, 0));
    assert_eq!(termios.control, Termios::CANONICAL.control);
    assert!(!Modes { convert_output: false, ..Modes::CANONICAL }.adds_carriage_return());
}

#[test]
fn reads_wait_as_vmin_and_vtime_say() {
    let mut tty = LineDiscipline::new();
    let timed = Modes { min: 0, time: 3, ..RAW };
    for (modes, patience) in [
        (Modes::CANONICAL, None),
        (Modes { canonical: true, ..timed }, None),
        (RAW, None),
        (timed, Some(3)),
        (Modes { time: 0, ..timed }, Some(0)),
    ] {
        tty.set_modes(modes);
        assert_eq!(tty.patience(), patience);
    }
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

    /// Bytes that no key of the editing means are neither lost nor doubled nor moved, however modes change and reads
    /// come between.
    #[test]
    fn no_byte_is_lost_between_modes(steps in prop::collection::vec(
        prop_oneof![4 => "[a-z\n]{1,40}".prop_map(Some), 1 => Just(None)], 0..60))
    {
        let mut session = Session::default();
        let (mut sent, mut got) = (String::new(), Vec::new());
        let mut raw = false;
        for step in steps {
            match step {
                Some(text) => {
                    session.type_bytes(text.as_bytes());
                    sent += &text;
                }
                None => {
                    raw = !raw;
                    session.set(if raw { RAW } else { Modes::CANONICAL });
                    got.extend(session.read().unwrap_or_default());
                }
            }
        }
        session.set(RAW);
        got.extend(std::iter::from_fn(|| session.read()).flatten());
        prop_assert_eq!(got, sent.as_bytes());
    }
}
