//! A terminal: from bytes to cells. The sequences are those of ECMA-48 and the VT100 that our programs and common ones
//! use; others are skipped. Parsing, UTF-8 included, is the crate `vte`'s.

use crate::grid::Grid;
use crate::{Cell, Colors};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use vte::{Params, Parser, Perform};

/// Most rows of a screen; the memory is bounded by it.
pub const ROWS_MAX: usize = 256;
/// Most columns.
pub const COLUMNS_MAX: usize = 640;
/// Cells that [`Screen::take_changes`] looks at in one call.
const LOOKED_AT_MAX: usize = 2048;
/// Longest answer in bytes. Somebody who asks again before it was taken gets the later one.
const ANSWER_MAX: usize = 16;

/// A cell that is to be painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Row, from 0 at the top.
    pub row: usize,
    /// Column, from 0 at the left.
    pub column: usize,
    /// What is there now, the cursor included.
    pub cell: Cell,
}

/// A terminal's screen, and what of it was painted.
pub struct Screen {
    parser: Parser,
    grid: Grid,
    /// What was handed out by [`Self::take_changes`]; `None` before the first time.
    painted: Vec<Option<Cell>>,
    /// Where it goes on looking.
    next: usize,
    answer: Answer,
}

/// Bytes that the terminal sends back.
#[derive(Default)]
struct Answer {
    bytes: [u8; ANSWER_MAX],
    length: usize,
    taken: usize,
}

impl Write for Answer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

impl Screen {
    /// An empty screen. The sizes are brought into 1 to [`ROWS_MAX`] and 1 to [`COLUMNS_MAX`].
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> Self {
        let (rows, columns) = (rows.clamp(1, ROWS_MAX), columns.clamp(1, COLUMNS_MAX));
        let painted = vec![None; rows * columns];
        Self {
            parser: Parser::new(),
            grid: Grid::new(rows, columns),
            painted,
            next: 0,
            answer: Answer::default(),
        }
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.grid.rows()
    }

    /// Number of columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.grid.columns()
    }

    /// Row and column of the cursor.
    #[must_use]
    pub const fn cursor(&self) -> (usize, usize) {
        let cursor = self.grid.cursor();
        (cursor.row, cursor.column)
    }

    /// A row as text, without blanks at its end.
    #[must_use]
    pub fn text(&self, row: usize) -> String {
        let characters = self.grid.row(row).iter().map(|cell| cell.character);
        let text: String = characters.filter(|&character| character != Cell::TAIL).collect();
        text.trim_end_matches(' ').into()
    }

    /// Takes output. A byte costs at most about as much as writing one row.
    pub fn write(&mut self, bytes: &[u8]) {
        let mut terminal = Terminal { grid: &mut self.grid, answer: &mut self.answer };
        // The bytes of a character that is not ASCII go in one by one: where pieces end inside of characters, vte 0.15
        // loses what follows the first one (`advance_partial_utf8`).
        for run in bytes.chunk_by(|byte, next| byte.is_ascii() && next.is_ascii()) {
            self.parser.advance(&mut terminal, run);
        }
    }

    /// Ends a sequence that was begun: what comes next is text again.
    pub fn cancel_sequence(&mut self) {
        const CANCEL: u8 = 0x18;
        self.write(&[CANCEL]);
    }

    /// The next byte of what the terminal answers: where its cursor is, if it was asked (CPR).
    pub fn take_answer(&mut self) -> Option<u8> {
        let byte = *self.answer.bytes[..self.answer.length].get(self.answer.taken)?;
        self.answer.taken += 1;
        Some(byte)
    }

    /// Fills `changes` with cells that differ from what was taken before, and returns how many there are and whether
    /// that is all for now. One call looks at a bounded number of cells.
    pub fn take_changes(&mut self, changes: &mut [Change]) -> (usize, bool) {
        let (rows, columns) = (self.rows(), self.columns());
        let (mut count, mut looked_at) = (0, 0);
        // Each round ends a row or finds one unchanged: a full turn over all rows is all there can be.
        for _ in 0..=rows {
            let (row, start) = (self.next / columns, self.next % columns);
            if self.grid.has_changed(row) {
                for column in start..columns {
                    if count == changes.len() || looked_at == LOOKED_AT_MAX {
                        self.next = row * columns + column;
                        return (count, false);
                    }
                    looked_at += 1;
                    let cell = self.grid.seen(row, column);
                    let painted = &mut self.painted[row * columns + column];
                    if *painted != Some(cell) {
                        *painted = Some(cell);
                        changes[count] = Change { row, column, cell };
                        count += 1;
                    }
                }
                // What changed left of where this call began is looked at in the next turn.
                if start == 0 {
                    self.grid.mark_seen(row);
                }
            }
            self.next = (row + 1) % rows * columns;
        }
        (count, !(0..rows).any(|row| self.grid.has_changed(row)))
    }
}

struct Terminal<'a> {
    grid: &'a mut Grid,
    answer: &'a mut Answer,
}

impl Perform for Terminal<'_> {
    fn print(&mut self, character: char) {
        self.grid.print(character);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            0x08 => self.grid.backspace(),
            b'\t' => self.grid.tab(),
            b'\n' | 0x0b | 0x0c => self.grid.line_feed(),
            b'\r' => self.grid.carriage_return(),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        if ignore {
            return;
        }
        match intermediates {
            [] => self.control(params, action),
            // DECTCEM.
            b"?" if first(params, 0) == 25 && matches!(action, 'h' | 'l') => {
                self.grid.show_cursor(action == 'h');
            }
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _ignore: bool, byte: u8) {
        match (intermediates, byte) {
            ([], b'7') => self.grid.save_cursor(),
            ([], b'8') => self.grid.restore_cursor(),
            ([], b'D') => self.grid.line_feed(),
            ([], b'E') => {
                self.grid.carriage_return();
                self.grid.line_feed();
            }
            ([], b'M') => self.grid.reverse_line_feed(),
            ([], b'c') => *self.grid = Grid::new(self.grid.rows(), self.grid.columns()),
            _ => {}
        }
    }
}

impl Terminal<'_> {
    /// The control sequences without a prefix.
    fn control(&mut self, params: &Params, action: char) {
        let grid = &mut *self.grid;
        let cursor = grid.cursor();
        let count = usize::from(first(params, 1).max(1));
        match action {
            'A' => grid.move_to(cursor.row.saturating_sub(count), cursor.column),
            'B' | 'e' => grid.move_to(cursor.row + count, cursor.column),
            'C' | 'a' => grid.move_to(cursor.row, cursor.column + count),
            'D' => grid.move_to(cursor.row, cursor.column.saturating_sub(count)),
            'E' => grid.move_to(cursor.row + count, 0),
            'F' => grid.move_to(cursor.row.saturating_sub(count), 0),
            'G' | '`' => grid.move_to(cursor.row, count - 1),
            'd' => grid.move_to(count - 1, cursor.column),
            'H' | 'f' => {
                let column = params.iter().nth(1).map_or(1, |param| param[0].max(1));
                grid.move_to(count - 1, usize::from(column) - 1);
            }
            'J' => grid.erase_screen(first(params, 0)),
            'K' => grid.erase_line(first(params, 0)),
            '@' => grid.insert_blanks(count),
            'P' => grid.delete_cells(count),
            'n' if first(params, 0) == 6 => {
                *self.answer = Answer::default();
                // It has room for the largest screen.
                let _ = write!(self.answer, "\x1b[{};{}R", cursor.row + 1, cursor.column + 1);
            }
            's' => grid.save_cursor(),
            'u' => grid.restore_cursor(),
            'm' => self.select_graphics(params),
            _ => {}
        }
    }

    /// SGR.
    fn select_graphics(&mut self, params: &Params) {
        let grid = &mut *self.grid;
        let low = |number: u16| u8::try_from(number).unwrap_or(0);
        for param in params {
            match param[0] {
                0 => (grid.colors, grid.inverse) = (Colors::DEFAULT, false),
                1 => grid.colors.text |= 8,
                22 => grid.colors.text &= 7,
                7 => grid.inverse = true,
                27 => grid.inverse = false,
                number @ 30..=37 => grid.colors.text = grid.colors.text & 8 | low(number - 30),
                39 => grid.colors.text = Colors::DEFAULT.text,
                number @ 40..=47 => grid.colors.ground = low(number - 40),
                49 => grid.colors.ground = Colors::DEFAULT.ground,
                number @ 90..=97 => grid.colors.text = low(number - 90) | 8,
                number @ 100..=107 => grid.colors.ground = low(number - 100) | 8,
                // 256 and more colours: their numbers would be read as others.
                38 | 48 => return,
                _ => {}
            }
        }
    }
}

/// The first parameter.
fn first(params: &Params, default: u16) -> u16 {
    params.iter().next().map_or(default, |param| param[0])
}
