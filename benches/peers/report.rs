//! What was measured, in the order in which it was, and the table of it.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::stats::{FLAT, Summary, verdict, worst};

/// What a number is. Times are kept in seconds throughout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unit {
    /// Seconds.
    Time,
    /// The seconds for so many bytes, shown as bytes in a second.
    Rate(u64),
    /// Hundredths of one processor.
    Percent,
    /// MiB.
    Mebibytes,
}

/// What a ratio should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aim {
    /// A time, or what else is better when it is small.
    AtMost(f64),
    /// A rate.
    AtLeast(f64),
}

impl Aim {
    pub(crate) fn is_met(self, factor: f64) -> bool {
        match self {
            Self::AtMost(limit) => factor <= limit,
            Self::AtLeast(limit) => factor >= limit,
        }
    }

    /// As people read it.
    pub(crate) fn shown(self) -> String {
        match self {
            Self::AtMost(limit) => format!("at most {limit}"),
            Self::AtLeast(limit) => format!("at least {limit}"),
        }
    }
}

/// One against another: times and sizes as a multiple of the other's, rates likewise.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    pub(crate) to: String,
    pub(crate) factor: f64,
    pub(crate) aim: Option<Aim>,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) metric: String,
    pub(crate) who: String,
    pub(crate) unit: Unit,
    pub(crate) summary: Summary,
    pub(crate) ratios: Vec<Ratio>,
}

impl Row {
    /// What is compared: the median, of a rate in bytes in a second.
    #[expect(clippy::cast_precision_loss, reason = "bytes of a file")]
    fn value(&self) -> f64 {
        match self.unit {
            Unit::Rate(bytes) => bytes as f64 / self.summary.median,
            _ => self.summary.median,
        }
    }
}

/// How the time per item grows with the number of items.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// What is done to each item; curves of one name share a picture.
    pub(crate) name: String,
    pub(crate) who: String,
    /// What is counted.
    pub(crate) items: &'static str,
    /// Number of items, and what it took for each of them in seconds, as often as it was measured.
    samples: Vec<(u64, Vec<f64>)>,
}

impl Curve {
    /// Number of items, and seconds for each of them: the median.
    pub(crate) fn points(&self) -> Vec<(u64, f64)> {
        let median = |(items, samples): &(u64, Vec<f64>)| Some((*items, Summary::of(samples)?.median));
        self.samples.iter().filter_map(median).collect()
    }
}

/// The name by which rows are compared with the peer.
pub(crate) const PEER: &str = "peer";

/// All of a run.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    pub(crate) curves: Vec<Curve>,
    /// What the reader has to know.
    pub(crate) notes: Vec<String>,
}

impl Report {
    /// Adds what was measured of one who; nothing if there is nothing.
    pub(crate) fn add(&mut self, metric: &str, who: &str, unit: Unit, samples: &[f64]) {
        if let Some(summary) = Summary::of(samples) {
            let (metric, who) = (metric.to_owned(), who.to_owned());
            self.rows.push(Row { metric, who, unit, summary, ratios: Vec::new() });
        }
    }

    /// One more sample of a curve, or the first: so many items, and seconds for each. Smaller numbers come before larger ones.
    pub(crate) fn point(&mut self, name: &str, who: &str, items: &'static str, (count, seconds): (u64, f64)) {
        let known = self.curves.iter().position(|curve| curve.name == name && curve.who == who);
        let at = known.unwrap_or_else(|| {
            let (name, who) = (name.to_owned(), who.to_owned());
            self.curves.push(Curve { name, who, items, samples: Vec::new() });
            self.curves.len() - 1
        });
        let samples = &mut self.curves[at].samples;
        match samples.last_mut().filter(|(last, _)| *last == count) {
            Some((_, seconds_each)) => seconds_each.push(seconds),
            None => samples.push((count, vec![seconds])),
        }
    }

    /// Compares two rows by their medians, if both are there. `to` is who of the same metric, or `metric/who`.
    pub(crate) fn compare(&mut self, metric: &str, who: &str, to: &str, aim: Option<Aim>) {
        let (of, other) = to.split_once('/').unwrap_or((metric, to));
        let Some(base) = self.find(of, other).map(|at| self.rows[at].value()) else { return };
        let Some(at) = self.find(metric, who) else { return };
        let row = &mut self.rows[at];
        let factor = row.value() / base;
        // One with a line of its own in the table is named in full.
        let to = if of == metric { other.to_owned() } else { format!("{of} {other}") };
        row.ratios.push(Ratio { to, factor, aim });
    }

    fn find(&self, metric: &str, who: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.metric == metric && row.who == who)
    }

    /// The table from these lines on.
    pub(crate) fn table(&self, rows: usize, curves: usize) -> String {
        let mut out = String::new();
        let mut last = "";
        for row in &self.rows[rows..] {
            let metric = if row.metric == last { "" } else { &row.metric };
            last = &row.metric;
            let ratios: Vec<String> = row.ratios.iter().map(shown_ratio).collect();
            let (median, p99) = (shown(row.unit, row.summary.median), shown(row.unit, row.summary.p99));
            let line = format!("{metric:<30} {:<24} {median:>11} {p99:>11}  {}", row.who, ratios.join(", "));
            let _ = writeln!(out, "{}", line.trim_end());
        }
        for curve in &self.curves[curves..] {
            let points = curve.points();
            let shown = points.iter().map(|(items, time)| format!("{items}: {}", shown(Unit::Time, *time)));
            let shown: Vec<String> = shown.collect();
            let _ = writeln!(
                out,
                "{:<30} {:<24} {}, worst {} x of the first (aim: at most {FLAT}); per {}: {}",
                curve.name,
                curve.who,
                verdict(&points),
                digits(worst(&points)),
                curve.items,
                shown.join(", ")
            );
        }
        out
    }

    /// All of it, for programs.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(row_json).collect();
        let curve = |curve: &Curve| {
            let points = curve.points();
            json!({ "name": curve.name, "who": curve.who, "items": curve.items, "worst": worst(&points),
                    "verdict": verdict(&points), "seconds_per_item": points })
        };
        let curves: Vec<Value> = self.curves.iter().map(curve).collect();
        json!({ "rows": rows, "curves": curves, "notes": self.notes })
    }
}

/// The head of the table.
pub(crate) fn head() -> String {
    format!("{:<30} {:<24} {:>11} {:>11}  ratios of medians", "what", "who", "median", "p99")
}

fn row_json(row: &Row) -> Value {
    let (unit, bytes) = match row.unit {
        Unit::Time => ("s", None),
        Unit::Rate(bytes) => ("s", Some(bytes)),
        Unit::Percent => ("percent", None),
        Unit::Mebibytes => ("MiB", None),
    };
    let ratio = |ratio: &Ratio| {
        let (at_most, at_least) = match ratio.aim {
            Some(Aim::AtMost(limit)) => (Some(limit), None),
            Some(Aim::AtLeast(limit)) => (None, Some(limit)),
            None => (None, None),
        };
        json!({ "to": ratio.to, "factor": ratio.factor, "aim_at_most": at_most, "aim_at_least": at_least })
    };
    let ratios: Vec<Value> = row.ratios.iter().map(ratio).collect();
    let Summary { count, least, median, p99, most } = row.summary;
    json!({ "metric": row.metric, "who": row.who, "unit": unit, "bytes": bytes, "count": count, "least": least,
            "median": median, "p99": p99, "most": most, "ratios": ratios })
}

fn shown_ratio(ratio: &Ratio) -> String {
    let aim = ratio.aim.map_or(String::new(), |aim| {
        format!(" (aim: {}{})", aim.shown(), if aim.is_met(ratio.factor) { "" } else { ", missed" })
    });
    format!("{} x {}{aim}", digits(ratio.factor), ratio.to)
}

/// A value as people read it.
pub(crate) fn shown(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Time if value < 1e-6 => format!("{:.0} ns", value * 1e9),
        Unit::Time if value < 1e-3 => format!("{} us", digits(value * 1e6)),
        Unit::Time if value < 1.0 => format!("{} ms", digits(value * 1e3)),
        Unit::Time => format!("{} s", digits(value)),
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        Unit::Rate(bytes) => format!("{} MB/s", digits(bytes as f64 / value / 1e6)),
        Unit::Percent => format!("{} %", digits(value)),
        Unit::Mebibytes => format!("{} MiB", digits(value)),
    }
}

/// Three digits that count.
pub(crate) fn digits(value: f64) -> String {
    match value {
        value if value < 0.1 => format!("{value:.3}"),
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
