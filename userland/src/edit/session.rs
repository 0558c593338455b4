//! An editor with a screen, for tests.

use super::screen::Screen;
use super::{Editor, Size, Step, Unit};
use crate::edit::search::Search;

pub(super) const PROMPT: &str = "askr$ ";

/// An editor at a screen on which some lines were written before.
pub(super) struct Session {
    pub(super) editor: Editor,
    pub(super) screen: Screen,
    pub(super) size: Size,
    pub(super) steps: Vec<Step>,
    pub(super) sent: Vec<u8>,
    /// Rows above the prompt when it was shown.
    above: Vec<String>,
}

impl Session {
    pub(super) fn new(rows: u16, columns: u16, lines_before: usize) -> Self {
        let mut screen = Screen::new(rows.into(), columns.into());
        (0..lines_before).for_each(|_| screen.write(b"x\n"));
        let size = Size::new(rows, columns);
        let mut session = Self {
            editor: Editor::new(),
            screen,
            size,
            steps: Vec::new(),
            sent: Vec::new(),
            above: Vec::new(),
        };
        session.start();
        session
    }

    pub(super) fn start(&mut self) {
        self.above = (0..self.screen.y).map(|y| self.screen.row(y)).collect();
        let mut out = Vec::new();
        self.editor.start(PROMPT, self.size, false, &mut out);
        self.screen.write(&out);
    }

    /// Types, and begins a new line after each one that is complete.
    pub(super) fn keys(&mut self, keys: &[u8]) -> &mut Self {
        for &byte in keys {
            let mut out = Vec::new();
            let step = self.editor.feed(byte, &mut out);
            self.screen.write(&out);
            self.sent.extend(out);
            let ends =
                step.as_ref().is_some_and(|step| !matches!(step, Step::Size { .. } | Step::Complete { .. }));
            self.steps.extend(step);
            if ends {
                if self.screen.x > 0 {
                    self.screen.write(b"\n");
                }
                self.start();
            }
        }
        self
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.editor.line.to_bytes()).unwrap()
    }

    /// The line with a `|` where the cursor is.
    pub(super) fn line(&self) -> String {
        let (before, after) = self.editor.line.units().split_at(self.editor.line.cursor());
        let bytes = |units: &[Unit]| {
            let mut bytes = Vec::new();
            units.iter().for_each(|unit| unit.write(&mut bytes));
            String::from_utf8(bytes).unwrap()
        };
        format!("{}|{}", bytes(before), bytes(after))
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let text = |step: &Step| match step {
            Step::Line(line) => Some(String::from_utf8(line.clone()).unwrap()),
            _ => None,
        };
        self.steps.iter().filter_map(text).collect()
    }

    /// The screen shows the prompt and the line, or as much of them around the cursor as it has room for.
    pub(super) fn check(&self) {
        let (rows, cursor) = self.expected();
        let (height, screen) = (self.screen.height(), &self.screen);
        assert_eq!(screen.x, cursor.1, "column of the cursor");
        let row_at = |y: usize| (cursor.0 + y).checked_sub(screen.y);
        let shown: Vec<_> = (0..height).filter_map(row_at).collect();
        assert!(shown.contains(&0) || rows.len() > height, "the line fits, but not all is shown");
        assert!(shown.contains(&0) || shown.last().is_some_and(|&last| last < rows.len()), "room is wasted");
        for y in 0..height {
            let expected = match row_at(y) {
                Some(row) => rows.get(row).map_or("", String::as_str),
                None => &self.above[self.above.len() + cursor.0 + y - screen.y],
            };
            assert_eq!(screen.row(y), expected.trim_end_matches(' '), "row {y}");
        }
    }

    /// Rows of the prompt and line, and row and column of the cursor, by the simplest way to wrap.
    fn expected(&self) -> (Vec<String>, (usize, usize)) {
        let columns = self.columns();
        let search = self.editor.search.as_ref().map(Search::prompt);
        let prompt = search.as_ref().unwrap_or(&self.editor.prompt);
        let at = prompt.len() + self.editor.line.cursor();
        let mut rows = vec![String::new()];
        let (mut column, mut cursor) = (0, None);
        for (index, unit) in prompt.iter().chain(self.editor.line.units()).enumerate() {
            if unit.width() > 0 && column + unit.width() > columns {
                rows.push(String::new());
                column = 0;
            }
            if index == at {
                cursor = Some((rows.len() - 1, column));
            }
            let mut shown = Vec::new();
            unit.show(&mut shown);
            *rows.last_mut().unwrap() += str::from_utf8(&shown).unwrap();
            column += unit.width();
        }
        if column == columns {
            rows.push(String::new());
            column = 0;
        }
        match cursor.unwrap_or((rows.len() - 1, column)) {
            // Before a mark that joins the character at the margin.
            (row, column) if column == columns => (rows, (row + 1, 0)),
            cursor => (rows, cursor),
        }
    }

    fn columns(&self) -> usize {
        self.screen.row_width()
    }
}
