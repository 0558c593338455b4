//! Bars: how many times as fast as the peer, or as slow, on a logarithmic scale.

use crate::report::{PEER, Report, Row, Unit, shown};

use super::svg::Svg;
use super::{MARGIN, WIDTH};

/// Where the scale begins: what is before it is for names.
const LEFT: f64 = 330.0;
/// Room behind the scale for numbers.
const RIGHT: f64 = 210.0;
const HEIGHT: f64 = 14.0;
const STEP: f64 = 22.0;

/// Draws them from this height on; returns where they end.
pub(super) fn draw(svg: &mut Svg, report: &Report, top: f64) -> f64 {
    let rows: Vec<(&Row, f64)> = report.rows.iter().filter_map(|row| Some((row, advantage(row)?))).collect();
    if rows.is_empty() {
        svg.text(MARGIN, top, "note", "start", "Nothing was compared with the peer in this run.");
        return top + STEP;
    }
    svg.text(MARGIN, top, "head", "start", "Against the QEMU guest agent on Linux (to the right: better)");
    let limit = |side: f64| rows.iter().map(|(_, times)| side * times.log10()).fold(0.3, f64::max).ceil();
    let (left, right) = (limit(-1.0), limit(1.0));
    let width = WIDTH - LEFT - RIGHT;
    let at = |log: f64| LEFT + (log + left) / (left + right) * width;
    let bottom = top + 16.0 + rows.len() as f64 * STEP;
    let mut power = -left;
    while power <= right {
        svg.line((at(power), top + 10.0), (at(power), bottom), "line");
        svg.text(at(power), bottom + 16.0, "note", "middle", &scale_mark(power));
        power += 1.0;
    }
    for (index, (row, times)) in rows.iter().enumerate() {
        let y = top + 16.0 + index as f64 * STEP;
        let (zero, end) = (at(0.0), at(times.log10()));
        let class = if *times >= 1.0 { "better" } else { "worse" };
        svg.text(LEFT - 10.0, y + 12.0, "", "end", &format!("{}, {}", row.metric, row.who));
        svg.bar(zero.min(end), y, (end - zero).abs().max(1.0), HEIGHT, class);
        let value = shown(row.unit, row.summary.median);
        svg.text(
            WIDTH - RIGHT + 10.0,
            y + 12.0,
            "",
            "start",
            &format!("{value}: {}", in_words(row.unit, *times)),
        );
    }
    bottom + 56.0
}

/// How many times as good as the peer; below 1 it is worse.
fn advantage(row: &Row) -> Option<f64> {
    let ratio = row.ratios.iter().find(|ratio| ratio.to.split(' ').next_back() == Some(PEER))?;
    let times = if let Unit::Rate(_) = row.unit { ratio.factor } else { 1.0 / ratio.factor };
    (times.is_finite() && times > 0.0).then_some(times)
}

fn in_words(unit: Unit, times: f64) -> String {
    let (better, worse) = match unit {
        Unit::Time | Unit::Rate(_) => ("fast", "slow"),
        Unit::Percent | Unit::Mebibytes => ("little", "much"),
    };
    let (times, word) = if times >= 1.0 { (times, better) } else { (1.0 / times, worse) };
    if times < 10.0 { format!("{times:.1} times as {word}") } else { format!("{times:.0} times as {word}") }
}

fn scale_mark(power: f64) -> String {
    let times = 10f64.powf(power.abs());
    if power < 0.0 { format!("1/{times}") } else { format!("{times} x") }
}
