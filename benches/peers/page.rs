//! What there was to aim at, as the tables of a page in Markdown.

use std::fmt::Write;

use crate::report::{Report, digits, shown};
use crate::stats::{FLAT, verdict, worst};

/// The tables: each ratio that has an aim, and each curve.
pub(crate) fn of(report: &Report) -> String {
    let mut page = String::from("| what | who | median | ratio | aim | |\n|---|---|---|---|---|---|\n");
    for row in &report.rows {
        for ratio in &row.ratios {
            let Some(aim) = ratio.aim else { continue };
            let (median, met) = (shown(row.unit, row.summary.median), met(aim.is_met(ratio.factor)));
            let against = format!("{} x {}", digits(ratio.factor), ratio.to);
            let _ = writeln!(
                page,
                "| {} | {} | {median} | {against} | {} | {met} |",
                row.metric,
                row.who,
                aim.shown()
            );
        }
    }
    let _ = writeln!(page, "\n| time for each | where | sizes | worst, of the first | aim | |");
    let _ = writeln!(page, "|---|---|---|---|---|---|");
    for curve in &report.curves {
        let points = curve.points();
        let _ = writeln!(
            page,
            "| {}, {} | {} | {} | {} x | at most {FLAT} | {} |",
            curve.name,
            curve.items,
            curve.who,
            sizes(&points),
            digits(worst(&points)),
            verdict(&points)
        );
    }
    page
}

const fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

/// From the first size to the last.
fn sizes(points: &[(u64, f64)]) -> String {
    match (points.first(), points.last()) {
        (Some((first, _)), Some((last, _))) => format!("{first} to {last}"),
        _ => String::new(),
    }
}
