//! The few shapes of SVG that a picture of numbers needs.

use std::fmt::Write;

/// How things look; with another set of colours where the reader's screen is dark.
const STYLE: &str = "\
svg{background:#fff;font-family:system-ui,sans-serif;font-size:13px;fill:#222}\
.title{font-size:20px;font-weight:600}.head{font-size:15px;font-weight:600}.note{fill:#666;font-size:12px}\
.better{fill:#2f855a}.worse{fill:#c05621}.line{stroke:#bbb;fill:none}.limit{stroke:#c05621;fill:none;stroke-dasharray:4 3}\
.curve{fill:none;stroke-width:2}\
@media(prefers-color-scheme:dark){svg{background:#16181d;fill:#ddd}.note{fill:#999}.line{stroke:#444}}";

/// Shapes, in the order in which they are painted.
#[derive(Default)]
pub(super) struct Svg {
    shapes: String,
}

impl Svg {
    pub(super) fn text(&mut self, x: f64, y: f64, class: &str, anchor: &str, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.shapes,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    pub(super) fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let _ = writeln!(
            self.shapes,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\" class=\"{class}\"/>"
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let _ = writeln!(
            self.shapes,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" class=\"{class}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// A line through these points.
    pub(super) fn curve(&mut self, points: &[(f64, f64)], colour: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.shapes,
            "<polyline points=\"{}\" class=\"curve\" stroke=\"{colour}\"/>",
            points.join(" ")
        );
    }

    /// A dot in this colour.
    pub(super) fn dot(&mut self, x: f64, y: f64, colour: &str) {
        let _ = writeln!(self.shapes, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }

    /// The whole document.
    pub(super) fn finish(self, width: f64, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>\n{}</svg>\n",
            self.shapes
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
