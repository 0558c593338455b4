//! Any keys, reads and changes of mode at a terminal. Nothing typed is lost or shown as a command to the terminal.
//!
//! Bytes of the input are typed, but for 0x00 and the byte after it: `r` and a byte N read up to N bytes, `m` and a
//! byte set the modes by its bits, another byte is typed as it is.
#![no_main]

use askr_core::tty::{BACKLOG_MAX, Event, LINE_MAX, LineDiscipline, Modes, Onlcr, Reaction};
use libfuzzer_sys::fuzz_target;

/// Keys that take away what was typed, or hand it over without a byte of their own.
const SPECIAL: [u8; 8] = [0x03, 0x04, 0x08, 0x15, 0x17, 0x1a, 0x1c, 0x7f];

fuzz_target!(|input: &[u8]| {
    let mut session =
        Session { tty: LineDiscipline::new(), typed: Vec::new(), read: Vec::new(), plain: true };
    let mut input = input.iter().copied();
    while let Some(byte) = input.next() {
        match (byte, if byte == 0 { input.next() } else { None }) {
            (0, Some(b'r')) => session.read(usize::from(input.next().unwrap_or(0))),
            (0, Some(b'm')) => session.set_modes(input.next().unwrap_or(0)),
            (0, Some(byte)) | (byte, _) => session.type_byte(byte),
        }
    }
    session.end();
    let shown: Vec<u8> = Onlcr::new(&session.read).collect();
    let newlines = session.read.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(shown.len(), session.read.len() + newlines);
});

struct Session {
    tty: LineDiscipline,
    /// What was typed and what was read; to be the same in a session without special keys.
    typed: Vec<u8>,
    read: Vec<u8>,
    plain: bool,
}

impl Session {
    fn type_byte(&mut self, byte: u8) {
        assert!(self.tty.room() <= BACKLOG_MAX);
        if self.tty.room() == 0 {
            return;
        }
        self.plain &= !SPECIAL.contains(&byte);
        self.typed.push(byte);
        let reaction = self.tty.input(byte);
        self.show(reaction);
    }

    fn show(&mut self, reaction: Reaction) {
        let expected = reaction.echo.len();
        let shown: Vec<u8> = reaction.echo.collect();
        assert_eq!(shown.len(), expected);
        assert!(shown.len() <= 3 * 2 * LINE_MAX + 4);
        let harmless =
            |byte: &u8| matches!(byte, b'\r' | b'\n' | 0x07 | 0x08) || *byte >= b' ' && *byte != 0x7f;
        assert!(shown.iter().all(harmless), "{shown:?} reaches the terminal");
        if reaction.event == Some(Event::Ready) {
            assert!(self.tty.is_ready(), "woken for nothing");
        }
        assert!(self.tty.pending().len() <= LINE_MAX);
    }

    fn read(&mut self, len: usize) {
        let mut buffer = vec![0; len];
        let ready = self.tty.is_ready();
        let count = self.tty.read(&mut buffer);
        assert!(count.is_some() == ready, "ready: {ready}, read: {count:?}");
        let bytes = &buffer[..count.unwrap_or(0)];
        let newline = bytes.iter().position(|&byte| byte == b'\n');
        if self.tty.modes().canonical {
            assert!(newline.is_none_or(|at| at + 1 == bytes.len()), "more than a line at once");
        }
        self.read.extend_from_slice(bytes);
        self.resume();
    }

    fn resume(&mut self) {
        // Each round takes a byte off the backlog.
        while let Some(reaction) = self.tty.resume() {
            self.show(reaction);
        }
    }

    fn set_modes(&mut self, bits: u8) {
        let bit = |at: u8| bits & 1 << at != 0;
        let modes = Modes { canonical: bit(0), echo: bit(1), signals: bit(2), ..Modes::CANONICAL };
        if let Some(reaction) = self.tty.set_modes(modes) {
            self.show(reaction);
        }
        assert_eq!(self.tty.modes(), modes);
        self.resume();
    }

    /// Reads everything, the unfinished line too.
    fn end(&mut self) {
        self.set_modes(0);
        // Each round reads at least a byte of what is bounded by the discipline's own limits.
        while self.tty.is_ready() {
            self.read(LINE_MAX);
        }
        assert_eq!(
            (self.tty.pending(), self.tty.room()),
            (&b""[..], BACKLOG_MAX),
            "something stays for ever"
        );
        if self.plain && self.tty.refused() == 0 {
            let newline = |byte: &u8| if *byte == b'\r' { b'\n' } else { *byte };
            let typed: Vec<u8> = self.typed.iter().map(newline).collect();
            assert_eq!(self.read, typed, "what was typed is not what was read");
        }
    }
}
