//! How `read` splits a line (POSIX.1-2017, XCU `read`).

use super::pattern::{Cell, bytes};
use alloc_crate::vec::Vec;

/// The bytes of a line as cells. Without `raw`, a backslash protects the byte after it.
#[must_use]
pub fn cells(line: &[u8], raw: bool) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(line.len());
    let mut rest = line.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            b'\\' if !raw => cells.extend(rest.next().map(|&byte| Cell { byte, quoted: true })),
            _ => cells.push(Cell { byte, quoted: false }),
        }
    }
    cells
}

/// Splits a line into `count` fields, the last with all that is left, but for blanks at its end. What is missing is
/// empty.
#[must_use]
pub fn split(line: &[Cell], count: usize, separators: &[u8]) -> Vec<Vec<u8>> {
    let is_separator = |cell: &Cell| !cell.quoted && separators.contains(&cell.byte);
    let is_blank = |cell: &Cell| is_separator(cell) && matches!(cell.byte, b' ' | b'\t' | b'\n');
    let skip_blanks = |cells: &[Cell]| cells.iter().take_while(|cell| is_blank(cell)).count();
    let mut rest = &line[skip_blanks(line)..];
    let mut fields = Vec::new();
    while fields.len() + 1 < count {
        let end = rest.iter().position(is_separator).unwrap_or(rest.len());
        fields.push(bytes(&rest[..end]));
        rest = &rest[end..];
        rest = &rest[skip_blanks(rest)..];
        if rest.first().is_some_and(is_separator) {
            rest = &rest[1..];
            rest = &rest[skip_blanks(rest)..];
        }
    }
    if count > 0 {
        let end = rest.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
        let mut last = &rest[..end];
        // One separator that ends the only field left is no part of it.
        if let [field @ .., end] = last
            && is_separator(end)
            && !field.iter().any(is_separator)
        {
            last = field;
        }
        fields.push(bytes(last));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::{cells, split};
    use proptest::prelude::*;

    fn read(line: &str, count: usize, separators: &str) -> Vec<String> {
        let fields = split(&cells(line.as_bytes(), false), count, separators.as_bytes());
        fields.into_iter().map(|field| String::from_utf8(field).unwrap()).collect()
    }

    #[test]
    fn lines_are_split() {
        for (line, count, expected) in [
            ("  a b  c  ", 1, &["a b  c"][..]),
            ("  a b  c  ", 2, &["a", "b  c"]),
            ("a", 3, &["a", "", ""]),
            ("a\\ b c", 2, &["a b", "c"]),
            ("", 1, &[""]),
        ] {
            assert_eq!(read(line, count, " \t\n"), expected, "{line}");
        }
        assert_eq!(read("a:b::c", 2, ":"), ["a", "b::c"]);
        assert_eq!(read("a::b", 3, ":"), ["a", "", "b"]);
        assert_eq!(read("a:", 1, ":"), ["a"]);
        assert_eq!(read("a : b", 2, ": "), ["a", "b"]);
    }

    proptest! {
        #[test]
        fn any_line_gives_as_many_fields(line: Vec<u8>, count in 0..5_usize, raw: bool) {
            prop_assert_eq!(split(&cells(&line, raw), count, b": \t").len(), count);
        }
    }
}
