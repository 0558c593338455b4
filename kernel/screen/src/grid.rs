//! The cells, the cursor, and what moves them. Rows and columns count from 0 at the top left.

use crate::{Cell, Colors};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use unicode_width::UnicodeWidthChar;

const TAB: usize = 8;

/// Where the next character goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    pub(crate) row: usize,
    pub(crate) column: usize,
    /// The last column was written: the next character goes to the next row (VT100's wrap).
    at_margin: bool,
}

/// A grid of cells. Scrolling moves where the rows begin, not the cells.
pub(crate) struct Grid {
    cells: Vec<Cell>,
    rows: usize,
    columns: usize,
    /// Row of `cells` that is the screen's first.
    first: usize,
    /// Rows that changed since somebody looked.
    changed: Vec<bool>,
    cursor: Cursor,
    saved: Cursor,
    pub(crate) colors: Colors,
    pub(crate) inverse: bool,
    cursor_visible: bool,
}

impl Grid {
    /// An empty grid; both sizes are at least 1.
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        Self {
            cells: vec![Cell::blank(Colors::DEFAULT.ground); rows * columns],
            rows,
            columns,
            first: 0,
            changed: vec![true; rows],
            cursor: Cursor::default(),
            saved: Cursor::default(),
            colors: Colors::DEFAULT,
            inverse: false,
            cursor_visible: true,
        }
    }

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The cells of a row, without the cursor.
    pub(crate) fn row(&self, row: usize) -> &[Cell] {
        &self.cells[self.place(row, 0)..][..self.columns]
    }

    /// The cell as it is to be seen, the cursor included.
    pub(crate) fn seen(&self, row: usize, column: usize) -> Cell {
        let cell = self.cells[self.place(row, column)];
        let is_cursor = self.cursor_visible && (row, column) == (self.cursor.row, self.cursor.column);
        if is_cursor { Cell { colors: cell.colors.inverted(), ..cell } } else { cell }
    }

    /// Whether the row changed since [`Self::mark_seen`].
    pub(crate) fn has_changed(&self, row: usize) -> bool {
        self.changed[row]
    }

    pub(crate) fn mark_seen(&mut self, row: usize) {
        self.changed[row] = false;
    }

    /// Writes a character at the cursor.
    pub(crate) fn print(&mut self, character: char) {
        // A mark without a width would go onto the character before it; the font has none.
        let width = character.width().unwrap_or(0).min(self.columns);
        if width == 0 {
            return;
        }
        if self.cursor.at_margin || self.cursor.column + width > self.columns {
            self.carriage_return();
            self.line_feed();
        }
        let Cursor { row, column, .. } = self.cursor;
        for at in column..column + width {
            self.clear_cell(row, at);
        }
        let colors = if self.inverse { self.colors.inverted() } else { self.colors };
        for (at, character) in (column..column + width).zip([character, Cell::TAIL]) {
            self.set(row, at, Cell { character, colors });
        }
        self.changed[row] = true;
        if column + width == self.columns {
            self.cursor = Cursor { row, column: self.columns - 1, at_margin: true };
        } else {
            self.cursor.column = column + width;
        }
    }

    pub(crate) fn carriage_return(&mut self) {
        self.move_to(self.cursor.row, 0);
    }

    /// One row down; from the last row the others move up.
    pub(crate) fn line_feed(&mut self) {
        if self.cursor.row + 1 < self.rows {
            self.move_to(self.cursor.row + 1, self.cursor.column);
            return;
        }
        self.first = (self.first + 1) % self.rows;
        self.blank(self.rows - 1, 0..self.columns);
        self.changed.fill(true);
        self.cursor.at_margin = false;
    }

    /// One row up; from the first row the others move down.
    pub(crate) fn reverse_line_feed(&mut self) {
        if self.cursor.row > 0 {
            self.move_to(self.cursor.row - 1, self.cursor.column);
            return;
        }
        self.first = (self.first + self.rows - 1) % self.rows;
        self.blank(0, 0..self.columns);
        self.changed.fill(true);
        self.cursor.at_margin = false;
    }

    pub(crate) fn backspace(&mut self) {
        self.move_to(self.cursor.row, self.cursor.column.saturating_sub(1));
    }

    pub(crate) fn tab(&mut self) {
        self.move_to(self.cursor.row, (self.cursor.column / TAB + 1) * TAB);
    }

    /// Puts the cursor there, or as near as the grid allows.
    pub(crate) fn move_to(&mut self, row: usize, column: usize) {
        let (row, column) = (row.min(self.rows - 1), column.min(self.columns - 1));
        self.changed[self.cursor.row] = true;
        self.changed[row] = true;
        self.cursor = Cursor { row, column, at_margin: false };
    }

    pub(crate) fn save_cursor(&mut self) {
        self.saved = self.cursor;
    }

    pub(crate) fn restore_cursor(&mut self) {
        self.move_to(self.saved.row, self.saved.column);
        self.cursor.at_margin = self.saved.at_margin;
    }

    pub(crate) fn show_cursor(&mut self, visible: bool) {
        self.cursor_visible = visible;
        self.changed[self.cursor.row] = true;
    }

    /// ED: 0 from the cursor on, 1 up to it, 2 all.
    pub(crate) fn erase_screen(&mut self, what: u16) {
        let row = self.cursor.row;
        let rows = match what {
            0 => row + 1..self.rows,
            1 => 0..row,
            _ => 0..self.rows,
        };
        rows.for_each(|row| self.blank(row, 0..self.columns));
        if what < 2 {
            self.erase_line(what);
        }
    }

    /// EL: 0 from the cursor on, 1 up to it, 2 all.
    pub(crate) fn erase_line(&mut self, what: u16) {
        let Cursor { row, column, .. } = self.cursor;
        let columns = match what {
            0 => column..self.columns,
            1 => 0..column + 1,
            _ => 0..self.columns,
        };
        self.blank(row, columns);
        self.cursor.at_margin = false;
    }

    /// ICH: moves the rest of the row right.
    pub(crate) fn insert_blanks(&mut self, count: usize) {
        let Cursor { row, column, .. } = self.cursor;
        let count = count.min(self.columns - column);
        for at in (column + count..self.columns).rev() {
            self.copy_cell(row, at - count, at);
        }
        self.blank(row, column..column + count);
        self.clear_halves(row);
    }

    /// DCH: moves the rest of the row left.
    pub(crate) fn delete_cells(&mut self, count: usize) {
        let Cursor { row, column, .. } = self.cursor;
        let count = count.min(self.columns - column);
        for at in column..self.columns - count {
            self.copy_cell(row, at + count, at);
        }
        self.blank(row, self.columns - count..self.columns);
        self.clear_halves(row);
    }

    fn copy_cell(&mut self, row: usize, from: usize, to: usize) {
        let cell = self.cells[self.place(row, from)];
        self.set(row, to, cell);
    }

    /// Blanks what is half of a wide character without the other half.
    fn clear_halves(&mut self, row: usize) {
        let is_tail = |cell: Cell| cell.character == Cell::TAIL;
        for column in 0..self.columns {
            let cell = self.row(row)[column];
            let has_tail = self.row(row).get(column + 1).is_some_and(|next| is_tail(*next));
            let has_head = column > 0 && self.row(row)[column - 1].character.width() == Some(2);
            if cell.character.width() == Some(2) && !has_tail || is_tail(cell) && !has_head {
                self.set(row, column, Cell::blank(cell.colors.ground));
            }
        }
    }

    /// Blanks cells; of a wide character that is cut, the other half too.
    fn blank(&mut self, row: usize, columns: Range<usize>) {
        if columns.is_empty() {
            return;
        }
        self.clear_cell(row, columns.start);
        self.clear_cell(row, columns.end - 1);
        let start = self.place(row, columns.start);
        self.cells[start..start + columns.len()].fill(Cell::blank(self.colors.ground));
        self.changed[row] = true;
    }

    fn clear_cell(&mut self, row: usize, column: usize) {
        let is_tail = |grid: &Self, column: usize| {
            grid.row(row).get(column).is_some_and(|cell| cell.character == Cell::TAIL)
        };
        let blank = Cell::blank(self.colors.ground);
        if is_tail(self, column) && column > 0 {
            self.set(row, column - 1, blank);
        }
        if is_tail(self, column + 1) {
            self.set(row, column + 1, blank);
        }
        self.set(row, column, blank);
    }

    fn set(&mut self, row: usize, column: usize, cell: Cell) {
        let place = self.place(row, column);
        self.cells[place] = cell;
    }

    fn place(&self, row: usize, column: usize) -> usize {
        debug_assert!(row < self.rows && column < self.columns, "inside the grid");
        (self.first + row) % self.rows * self.columns + column
    }
}
