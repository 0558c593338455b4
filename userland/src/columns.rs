//! Names side by side, as `ls` shows them: down the columns, then to the right.

use alloc_crate::string::String;
use core::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Blanks between two columns.
const GAP: usize = 2;

/// Lays out `names` in as few lines of `width` as possible. A name that is wider has a line of its own.
#[must_use]
pub fn columns(names: &[String], width: usize) -> String {
    let widths = |rows: usize| {
        names.chunks(rows).map(|column| column.iter().map(|name| name.width()).max().unwrap_or(0))
    };
    let fits = |rows: &usize| {
        let columns = names.len().div_ceil(*rows);
        widths(*rows).sum::<usize>() + GAP * columns.saturating_sub(1) <= width
    };
    let rows = (1..=names.len()).find(fits).unwrap_or(names.len());
    let mut text = String::new();
    for row in 0..rows {
        let line = names.iter().skip(row).step_by(rows).zip(widths(rows));
        let last = line.clone().count();
        for (at, (name, column)) in line.enumerate() {
            let blanks = if at + 1 < last { column - name.width() + GAP } else { 0 };
            // A String takes everything.
            let _ = write!(text, "{name}{:blanks$}", "");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::columns;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    fn lines(names: &[&str], width: usize) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        columns(&names, width).lines().map(str::to_owned).collect()
    }

    #[test]
    fn names_go_down_and_then_right() {
        assert_eq!(lines(&["a", "b", "c"], 80), ["a  b  c"]);
        assert_eq!(lines(&["a", "bbbb", "c", "d", "e"], 9), ["a     d", "bbbb  e", "c"]);
        assert_eq!(lines(&["日本", "b", "c", "d"], 8), ["日本  c", "b     d"]);
        assert_eq!(lines(&["too wide", "b"], 4), ["too wide", "b"]);
        assert!(lines(&[], 80).is_empty());
    }

    proptest! {
        #[test]
        fn every_name_is_there_and_no_line_too_long(names in prop::collection::vec("[a-zé日]{1,9}", 0..30), width in 1_usize..60) {
            let text = columns(&names, width);
            let mut shown: Vec<&str> = text.split_whitespace().collect();
            let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
            shown.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(shown, expected);
            let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
            prop_assert!(text.lines().all(|line| line.width() <= width.max(widest)));
        }
    }
}
