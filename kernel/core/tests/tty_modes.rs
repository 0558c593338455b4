//! The terminal's modes: what is typed in one and read in another.

mod terminal;

use askr_abi::terminal::{ECHO, ICANON, ICRNL, ISIG, ONLCR, OPOST, TERMIOS_SIZE, Termios, VMIN, VTIME};
use askr_core::tty::{BACKLOG_MAX, Event, LineDiscipline, Modes, READY_BYTES_MAX, READY_LINES_MAX};
use proptest::prelude::*;
use terminal::{RAW, Session, typed};

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
    assert_eq!(session.events[session.events.len() - 2..], [Event::Signal(2), Event::Ready]);
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
    assert!(session.shown.is_empty() && !session.tty.is_ready(), "nobody wants it yet");
    assert_eq!(session.read().unwrap(), b"one\n");
    assert_eq!(session.shown, b"one\r\n", "nor the second line");
    assert_eq!(session.read(), None);
    assert_eq!(session.row(), "x");
    session.type_bytes(b"y\r");
    assert_eq!(session.read().unwrap(), b"xy\n");
    // A program that does not read leaves it to the next line; what is typed meanwhile comes after it.
    session.shown.clear();
    session.set(RAW).type_bytes(b"echo\r").set(Modes::CANONICAL).type_bytes(b"later\r").set(RAW);
    assert_eq!((session.read().unwrap(), &session.shown[..]), (b"echo\nlater\n".to_vec(), &b""[..]));
}

#[test]
fn ctrl_c_for_a_program_that_is_being_started_reaches_it() {
    let mut session = Session::default();
    session.set(RAW).type_bytes(b"a\x03b\x03c");
    assert_eq!(session.events, [Event::Ready; 5]);
    session.set(Modes::CANONICAL);
    assert_eq!((session.events.last(), &session.shown[..]), (Some(&Event::Signal(2)), &b"^C\r\n"[..]));
    assert_eq!(session.read(), None);
    assert_eq!(session.tty.pending(), b"c");
    // Also if it comes later, after all that may wait to be read.
    session.set(RAW).type_bytes(&[b'x'; READY_BYTES_MAX]).set(Modes::CANONICAL);
    assert_eq!(session.tty.room(), BACKLOG_MAX - READY_BYTES_MAX - 1);
    session.type_bytes(b"\x03");
    assert_eq!((session.events.last(), session.tty.room()), (Some(&Event::Signal(2)), BACKLOG_MAX));
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

proptest! {
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
