//! A terminal for tests: what a VT100 and its successors do with the bytes that the editor sends, and a complaint
//! about everything else.

use unicode_width::UnicodeWidthChar;

/// A screen of characters. The second half of a wide one is an empty cell.
pub(super) struct Screen {
    columns: usize,
    rows: Vec<Vec<String>>,
    pub(super) x: usize,
    pub(super) y: usize,
    /// The last column was written: the next character goes to the next row.
    at_margin: bool,
    saved: (usize, usize),
    pub(super) bells: usize,
    pending: Vec<u8>,
}

impl Screen {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        let rows = vec![vec![" ".to_owned(); columns]; rows];
        Self { columns, rows, x: 0, y: 0, at_margin: false, saved: (0, 0), bells: 0, pending: Vec::new() }
    }

    /// A row as text, without blanks at its end.
    pub(super) fn row(&self, y: usize) -> String {
        self.rows[y].concat().trim_end_matches(' ').to_owned()
    }

    pub(super) fn row_width(&self) -> usize {
        self.columns
    }

    pub(super) fn height(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        let text =
            String::from_utf8(std::mem::take(&mut self.pending)).expect("the editor sends whole characters");
        let mut rest = text.as_str();
        while let Some(character) = rest.chars().next() {
            rest = &rest[character.len_utf8()..];
            match character {
                '\x1b' => rest = self.escape(rest),
                '\r' => (self.x, self.at_margin) = (0, false),
                '\n' => {
                    // The kernel makes CR LF of it.
                    (self.x, self.at_margin) = (0, false);
                    self.line_feed();
                }
                '\x08' => {
                    assert!(self.x > 0 && !self.at_margin, "a backspace across the margin");
                    self.x -= 1;
                }
                '\x07' => self.bells += 1,
                _ => self.print(character),
            }
        }
    }

    fn line_feed(&mut self) {
        if self.y + 1 < self.rows.len() {
            self.y += 1;
        } else {
            self.rows.remove(0);
            self.rows.push(vec![" ".to_owned(); self.columns]);
        }
    }

    fn print(&mut self, character: char) {
        let width = character.width().expect("no control character is sent as text");
        if width == 0 {
            let mut x =
                if self.at_margin { self.x } else { self.x.checked_sub(1).expect("a mark without a base") };
            while self.rows[self.y][x].is_empty() {
                x -= 1;
            }
            self.rows[self.y][x].push(character);
            return;
        }
        if self.at_margin || self.x + width > self.columns {
            (self.x, self.at_margin) = (0, false);
            self.line_feed();
        }
        for x in self.x..self.x + width {
            self.blank(x);
        }
        self.rows[self.y][self.x] = character.to_string();
        if width == 2 {
            self.rows[self.y][self.x + 1].clear();
        }
        self.x += width;
        if self.x == self.columns {
            (self.x, self.at_margin) = (self.columns - 1, true);
        }
    }

    /// Blanks a cell, and the other half if it is one of a wide character.
    fn blank(&mut self, x: usize) {
        let row = &mut self.rows[self.y];
        if row[x].is_empty() {
            row[x - 1] = " ".to_owned();
        }
        if row.get(x + 1).is_some_and(String::is_empty) {
            row[x + 1] = " ".to_owned();
        }
        row[x] = " ".to_owned();
    }

    fn erase_below(&mut self) {
        assert!(!self.at_margin, "erasing at the margin takes the last character with it");
        for x in self.x..self.columns {
            self.blank(x);
        }
        let columns = self.columns;
        self.rows[self.y + 1..].iter_mut().for_each(|row| *row = vec![" ".to_owned(); columns]);
    }

    fn escape<'a>(&mut self, rest: &'a str) -> &'a str {
        match rest.as_bytes()[0] {
            b'7' => self.saved = (self.x, self.y),
            b'8' => (self.x, self.y) = self.saved,
            b'[' => {
                let length = rest[1..].find(|c: char| ('@'..='~').contains(&c)).unwrap() + 1;
                self.control(&rest[1..length], rest.as_bytes()[length]);
                return &rest[length + 1..];
            }
            other => panic!("escape {other}"),
        }
        &rest[1..]
    }

    fn control(&mut self, parameters: &str, last: u8) {
        let count = || parameters.parse().unwrap_or(1);
        match last {
            b'A' => self.y = self.y.checked_sub(count()).expect("up beyond the screen"),
            b'B' => self.y += count(),
            b'C' => self.x += count(),
            b'D' => self.x = self.x.checked_sub(count()).expect("left beyond the screen"),
            b'J' if parameters.is_empty() => self.erase_below(),
            b'J' if parameters == "2" => {
                let place = (self.x, self.y);
                (self.x, self.y, self.at_margin) = (0, 0, false);
                self.erase_below();
                (self.x, self.y) = place;
            }
            b'H' if parameters.is_empty() => (self.x, self.y) = (0, 0),
            b'H' => (self.x, self.y) = (self.columns - 1, self.rows.len() - 1),
            b'n' => {}
            _ => panic!("sequence {parameters}{}", char::from(last)),
        }
        self.at_margin = false;
        assert!(self.x < self.columns && self.y < self.rows.len(), "a move beyond the screen");
    }
}
