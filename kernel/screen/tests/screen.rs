//! The screen: what a terminal does with what programs write.

use askr_screen::{Cell, Change, Colors, Screen};
use proptest::prelude::*;

fn shown(rows: usize, columns: usize, output: &str) -> Vec<String> {
    let mut screen = Screen::new(rows, columns);
    screen.write(output.as_bytes());
    (0..rows).map(|row| screen.text(row)).collect()
}

#[test]
fn lines_wrap_and_scroll() {
    assert_eq!(shown(3, 4, "ab\r\ncdefg\r\nh"), ["cdef", "g", "h"]);
    // A full row does not scroll before something follows it.
    assert_eq!(shown(2, 4, "abcd"), ["abcd", ""]);
    assert_eq!(shown(2, 4, "abcd\r\nef"), ["abcd", "ef"]);
    assert_eq!(shown(2, 4, "a\tb\x08c"), ["a cb", ""]);
}

#[test]
fn the_sequences_of_the_line_editor_work() {
    // Insert into a line, go back, erase what is below, save and restore the cursor.
    assert_eq!(shown(3, 8, "$ abd\x1b[Dcd\x1b[A\x1b[B"), ["$ abcd", "", ""]);
    assert_eq!(shown(3, 8, "one\r\ntwo\r\nthree\x1b[2A\r\x1b[C\x1b[J"), ["o", "", ""]);
    assert_eq!(shown(2, 8, "abc\x1b7\x1b[999;999Hx\x1b8d"), ["abcd", "       x"]);
    assert_eq!(shown(2, 8, "abc\x1b[H\x1b[2Jd"), ["d", ""]);
    assert_eq!(shown(2, 8, "abcdef\x1b[3D\x1b[K"), ["abc", ""]);
    assert_eq!(shown(2, 8, "abcdef\x1b[3D\x1b[1P\x1b[1@"), ["abc ef", ""]);
}

#[test]
fn what_is_not_understood_leaves_no_trace() {
    assert_eq!(shown(1, 20, "a\x1b[?2004h\x1b[>c\x1b]0;title\x07b\x1b[1;2;3qc\x07"), ["abc"]);
    let mut screen = Screen::new(1, 20);
    screen.write(b"a\x1b]0;never ends");
    screen.cancel_sequence();
    screen.write(b"b\xffc\xc3\xa4");
    assert_eq!(screen.text(0), "ab\u{fffd}c\u{e4}");
}

#[test]
fn wide_characters_take_two_cells_and_lose_both() {
    assert_eq!(shown(2, 4, "a\u{6f22}b\r\x1b[2Cx"), ["a xb", ""]);
    assert_eq!(shown(2, 4, "abc\u{6f22}"), ["abc", "\u{6f22}"]);
    assert_eq!(shown(1, 1, "\u{6f22}").concat().chars().count(), 1);
    assert_eq!(shown(1, 6, "\u{6f22}\u{6f22}\r\x1b[C\x1b[1P"), [" \u{6f22}"]);
}

#[test]
fn a_terminal_that_asks_where_the_cursor_is_gets_an_answer() {
    let mut screen = Screen::new(24, 80);
    screen.write(b"\x1b7\x1b[999;999H\x1b[6n\x1b8");
    let answer: Vec<u8> = std::iter::from_fn(|| screen.take_answer()).collect();
    assert_eq!(answer, b"\x1b[24;80R");
    assert_eq!(screen.take_answer(), None);
}

#[test]
fn colors_are_those_of_sgr() {
    let mut screen = Screen::new(1, 8);
    screen.write(b"a\x1b[1;31;44mb\x1b[7mc\x1b[0md");
    let colors: Vec<Colors> = painted(&mut screen).iter().map(|change| change.cell.colors).collect();
    let text = |text, ground| Colors { text, ground };
    assert_eq!(colors[..4], [Colors::DEFAULT, text(9, 4), text(4, 9), Colors::DEFAULT]);
    assert_eq!(colors[4], Colors::DEFAULT.inverted(), "the cursor");
}

/// All changes, in pieces.
fn painted(screen: &mut Screen) -> Vec<Change> {
    let mut all = Vec::new();
    loop {
        let mut piece = [Change { row: 0, column: 0, cell: Cell::blank(0) }; 7];
        let (count, done) = screen.take_changes(&mut piece);
        all.extend_from_slice(&piece[..count]);
        if done {
            return all;
        }
    }
}

#[test]
fn only_what_changed_is_painted() {
    let mut screen = Screen::new(50, 200);
    assert_eq!(painted(&mut screen).len(), 50 * 200);
    assert_eq!(painted(&mut screen), []);
    screen.write(b"ab");
    // Two characters, and the cursor behind them.
    assert_eq!(painted(&mut screen).len(), 3);
    screen.write(b"\x1b[?25l");
    assert_eq!(painted(&mut screen).len(), 1);
}

/// Pieces of output that mean something, and bytes that do not.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        Just(String::new()),
        (0..30_u16).prop_map(|number| number.to_string()),
        Just("65535".into())
    ];
    let sequence = (number.clone(), number, "[A-HJKPdfmsu@`ae]")
        .prop_map(|(first, second, last)| format!("\x1b[{first};{second}{last}").into_bytes());
    let piece = prop_oneof![
        4 => "[a-z\u{6f22}\u{e4} \r\n\t\x08]{0,12}".prop_map(String::into_bytes),
        4 => sequence,
        2 => proptest::sample::select(vec!["\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1bE", "\x1bc", "\x1b[?25l", "\x1b[?25h", "\x1b[6n"])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Whatever is written, in whatever pieces, and whenever it is painted: the painted cells are those of a screen that
    /// got it at once, halves of wide characters come in pairs, and the cursor is on the screen.
    #[test]
    fn painting_follows_writing(rows in 1..8_usize, columns in 1..20_usize, output in output(), cuts in proptest::collection::vec(1..9_usize, 1..20)) {
        let mut at_once = Screen::new(rows, columns);
        at_once.write(&output);
        let mut screen = Screen::new(rows, columns);
        let mut canvas = vec![Cell::blank(0); rows * columns];
        let mut rest = &output[..];
        for cut in cuts.iter().cycle() {
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            screen.write(piece);
            rest = after;
            let mut changes = [Change { row: 0, column: 0, cell: Cell::blank(0) }; 3];
            let (count, done) = screen.take_changes(&mut changes);
            for Change { row, column, cell } in &changes[..count] {
                canvas[row * columns + column] = *cell;
            }
            if rest.is_empty() && done {
                break;
            }
        }
        let mut expected = vec![Cell::blank(0); rows * columns];
        for Change { row, column, cell } in painted(&mut at_once) {
            expected[row * columns + column] = cell;
        }
        prop_assert_eq!(&canvas, &expected);
        let (row, column) = screen.cursor();
        prop_assert!(row < rows && column < columns);
        for row in canvas.chunks(columns) {
            for (at, cell) in row.iter().enumerate() {
                let is_tail = |cell: Option<&Cell>| cell.is_some_and(|cell| cell.character == Cell::TAIL);
                let is_wide = cell.character == '\u{6f22}' && columns > 1;
                prop_assert!(!is_wide || is_tail(row.get(at + 1)), "half a character at column {}", at);
                let has_head = at > 0 && !is_tail(row.get(at - 1));
                prop_assert!(!is_tail(Some(cell)) || has_head, "a second half at column {}", at);
            }
        }
    }
}
