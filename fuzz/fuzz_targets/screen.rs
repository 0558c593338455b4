//! Any output to a screen of any size, painted at any time. What is painted is what the screen shows, the cursor stays on
//! it, and it ends: no output makes painting go on for ever.
//!
//! The first two bytes are rows and columns. Of the others 0xfe and a byte N paint up to N cells; the rest is written.
#![no_main]

use askr_screen::{Cell, Change, Screen};
use libfuzzer_sys::fuzz_target;

/// Longest row and column; more would find nothing new.
const SIZE_MAX: usize = 40;
const NO_CHANGE: Change = Change { row: 0, column: 0, cell: Cell::blank(0) };

fuzz_target!(|input: &[u8]| {
    let [rows, columns, output @ ..] = input else { return };
    let mut screen = Screen::new(usize::from(*rows) % SIZE_MAX, usize::from(*columns) % SIZE_MAX);
    let mut canvas = vec![None; screen.rows() * screen.columns()];
    let mut output = output.iter().copied();
    while let Some(byte) = output.next() {
        match byte {
            0xfe => {
                paint(&mut screen, &mut canvas, usize::from(output.next().unwrap_or(0)));
            }
            byte => screen.write(&[byte]),
        }
        let (row, column) = screen.cursor();
        assert!(row < screen.rows() && column < screen.columns());
        while screen.take_answer().is_some() {}
    }
    let turns = canvas.len() + screen.rows();
    assert!((0..=turns).any(|_| paint(&mut screen, &mut canvas, 7)), "it ends");
    let columns = screen.columns();
    for row in 0..screen.rows() {
        let painted =
            canvas[row * columns..][..columns].iter().map(|cell: &Option<Cell>| cell.unwrap().character);
        let text: String = painted.filter(|&character| character != Cell::TAIL).collect();
        assert_eq!(text.trim_end_matches(' '), screen.text(row));
    }
});

/// Paints up to `most` cells. Returns whether that was all.
fn paint(screen: &mut Screen, canvas: &mut [Option<Cell>], most: usize) -> bool {
    let mut changes = vec![NO_CHANGE; most];
    let columns = screen.columns();
    let (count, done) = screen.take_changes(&mut changes);
    for Change { row, column, cell } in &changes[..count] {
        canvas[row * columns + column] = Some(*cell);
    }
    done
}
