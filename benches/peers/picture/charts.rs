//! Charts: the time per item against the number of items, as a multiple of that with the fewest.

use crate::report::{Curve, Report, digits};
use crate::stats::{FLAT, relative, verdict, worst};

use super::svg::Svg;
use super::{MARGIN, WIDTH};

const COLOURS: [&str; 5] = ["#2b6cb0", "#2f855a", "#b7791f", "#805ad5", "#c05621"];
/// Charts side by side.
const COLUMNS: usize = 2;
const GAP: f64 = 40.0;
/// Height of the axes.
const HEIGHT: f64 = 150.0;
/// The scale ends here at least, so that what is flat looks so.
const SCALE: f64 = 4.0;
/// Height of a line of the legend.
const LEGEND: f64 = 18.0;

/// Draws them from this height on; returns where they end.
pub(super) fn draw(svg: &mut Svg, report: &Report, top: f64) -> f64 {
    let mut names: Vec<&str> = Vec::new();
    for curve in &report.curves {
        if !names.contains(&curve.name.as_str()) {
            names.push(&curve.name);
        }
    }
    if names.is_empty() {
        return top;
    }
    svg.text(
        MARGIN,
        top,
        "head",
        "start",
        "How cost grows: time per item, as a multiple of that with the fewest",
    );
    let width = (WIDTH - 2.0 * MARGIN - GAP) / COLUMNS as f64;
    let mut below = top + 30.0;
    for pair in names.chunks(COLUMNS) {
        let ends = pair.iter().enumerate().map(|(column, name)| {
            let curves: Vec<&Curve> = report.curves.iter().filter(|curve| curve.name == *name).collect();
            chart(svg, name, &curves, (MARGIN + column as f64 * (width + GAP), below), width)
        });
        below = ends.fold(below, f64::max) + 24.0;
    }
    below
}

/// One chart with its legend; returns where it ends.
fn chart(svg: &mut Svg, name: &str, curves: &[&Curve], (x, y): (f64, f64), width: f64) -> f64 {
    let sizes = || curves.iter().flat_map(|curve| curve.points().into_iter().map(|(items, _)| items as f64));
    let (first, last) = (sizes().fold(f64::MAX, f64::min), sizes().fold(1.0, f64::max));
    let top = curves.iter().map(|curve| worst(&curve.points())).fold(SCALE, f64::max);
    let decades = (last / first).log10().max(f64::EPSILON);
    let (axis, wide) = (x + 34.0, width - 34.0);
    let across = |items: f64| axis + (items / first).log10() / decades * wide;
    let (floor, up) = (y + 14.0 + HEIGHT, HEIGHT / top);
    let items = curves.first().map_or("item", |curve| curve.items);
    svg.text(x, y, "", "start", &format!("{name}, per {items}"));
    svg.line((axis, floor), (axis + wide, floor), "line");
    svg.line((axis, floor), (axis, floor - HEIGHT), "line");
    svg.line((axis, floor - FLAT * up), (axis + wide, floor - FLAT * up), "limit");
    for mark in [1.0, FLAT, top] {
        svg.text(axis - 6.0, floor - mark * up + 4.0, "note", "end", &format!("{mark:.0} x"));
    }
    for items in [first, last] {
        let anchor = if items == first { "start" } else { "end" };
        svg.text(across(items), floor + 16.0, "note", anchor, &format!("{items}"));
    }
    let mut below = floor + 18.0;
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let points: Vec<(f64, f64)> = relative(&curve.points())
            .iter()
            .map(|(items, times)| (across(*items as f64), floor - times * up))
            .collect();
        svg.curve(&points, colour);
        points.iter().for_each(|(x, y)| svg.dot(*x, *y, colour));
        below += LEGEND;
        svg.dot(axis + 4.0, below - 4.0, colour);
        svg.text(
            axis + 14.0,
            below,
            "",
            "start",
            &format!(
                "{}: worst {} x, {}",
                curve.who,
                digits(worst(&curve.points())),
                verdict(&curve.points())
            ),
        );
    }
    below
}
