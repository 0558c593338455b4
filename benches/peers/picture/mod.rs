//! The picture of a run, for people: bars against the peer, and how cost grows.

mod bars;
mod charts;
mod svg;

use crate::report::Report;
use svg::Svg;

/// Width of the picture.
const WIDTH: f64 = 960.0;
/// Room at the edges.
const MARGIN: f64 = 24.0;

/// The picture, as SVG.
pub(crate) fn draw(report: &Report, subtitle: &str) -> String {
    let mut svg = Svg::default();
    svg.text(MARGIN, 34.0, "title", "start", "Askr beside its peer");
    svg.text(MARGIN, 54.0, "note", "start", subtitle);
    let mut below = 84.0;
    below = bars::draw(&mut svg, report, below);
    below = charts::draw(&mut svg, report, below);
    for note in &report.notes {
        // The lines of a console below it are for whoever ran the benchmark.
        svg.text(MARGIN, below, "note", "start", note.lines().next().unwrap_or_default());
        below += 18.0;
    }
    svg.finish(WIDTH, below + MARGIN)
}
