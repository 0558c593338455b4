//! What the tests of the terminal share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use askr_core::tty::{Event, LINE_MAX, LineDiscipline, Modes, Reaction};

/// A terminal with the screen that its echo makes: one row per line, columns as a simple terminal keeps them.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) tty: LineDiscipline,
    pub(crate) shown: Vec<u8>,
    pub(crate) events: Vec<Event>,
}

impl Session {
    pub(crate) fn type_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for &byte in bytes {
            let reaction = self.tty.input(byte);
            self.show(reaction);
        }
        self
    }

    pub(crate) fn show(&mut self, reaction: Reaction) {
        let expected = reaction.echo.len();
        let before = self.shown.len();
        self.shown.extend(reaction.echo);
        assert_eq!(self.shown.len() - before, expected);
        self.events.extend(reaction.event);
    }

    /// Reads as the kernel does: what waits in the backlog moves up.
    pub(crate) fn read(&mut self) -> Option<Vec<u8>> {
        let mut buffer = [0; LINE_MAX + 1];
        let first = self.tty.read(&mut buffer);
        self.resume();
        let count = first.or_else(|| self.tty.read(&mut buffer))?;
        self.resume();
        Some(buffer[..count].to_vec())
    }

    pub(crate) fn resume(&mut self) {
        while let Some(reaction) = self.tty.resume() {
            self.show(reaction);
        }
    }

    pub(crate) fn set(&mut self, modes: Modes) -> &mut Self {
        if let Some(reaction) = self.tty.set_modes(modes) {
            self.show(reaction);
        }
        self.resume();
        self
    }

    /// The last row of the screen as text, blanks at its end cut.
    pub(crate) fn row(&self) -> String {
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
pub(crate) const RAW: Modes = Modes { canonical: false, echo: false, signals: false, ..Modes::CANONICAL };

pub(crate) fn typed(bytes: &[u8]) -> Session {
    let mut session = Session::default();
    session.type_bytes(bytes);
    session
}
