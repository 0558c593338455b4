//! How things stand, on the last line of a terminal, or on a line now and then.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::figures::Missing;
use super::row::{Memory, Row};
use crate::style::Tone;

/// What the line is made of.
#[derive(Default)]
pub(super) struct Standing {
    /// The last figures, and when they came.
    figures: Option<(Result<Value, Missing>, Instant)>,
}

impl Standing {
    pub(super) fn update(&mut self, figures: Result<Value, Missing>, now: Instant) {
        self.figures = Some((figures, now));
    }

    /// The line, of ASCII only.
    pub(super) fn line(&self, memory: &Memory, now: Instant) -> String {
        let mut parts = match &self.figures {
            None => vec!["looking for a guest".to_owned()],
            Some((Err(Missing::NoHub), _)) => vec!["no hub: waiting for one".to_owned()],
            Some((Err(Missing::Silent), _)) => vec!["the hub does not answer".to_owned()],
            Some((Err(Missing::NoGuest), _)) => vec!["no guest: waiting for one".to_owned()],
            Some((Ok(figures), at)) => {
                let boot: String = figures["boot"].as_str().unwrap_or_default().chars().take(8).collect();
                let door = memory.session.door().map(|door| format!(":{}", door.name())).unwrap_or_default();
                let mut parts = vec![format!("guest{door} {boot}")];
                parts.extend(words(&figures["stats"], now.saturating_duration_since(*at)));
                parts
            }
        };
        let next = memory.asks.values().map(|ask| ask.until.saturating_duration_since(now)).min();
        if let Some(left) = next {
            let count = memory.asks.len();
            let asks = if count == 1 { "ask" } else { "asks" };
            // Before what a narrow terminal has no room for.
            parts.insert(1, format!("{count} {asks}, {} s left", left.as_secs()));
        }
        parts.join(" | ")
    }
}

/// The row with the same figures.
pub(super) fn row(figures: &Value) -> Row {
    Row::new("link", Tone::Faint, String::new(), words(figures, Duration::ZERO).join(", "))
}

/// Uptime, which has grown by `age`; round trip; what was broken, dropped or sent again; what came in.
fn words(figures: &Value, age: Duration) -> Vec<String> {
    let number = |of: &Value, field: &str| of[field].as_u64().unwrap_or_default();
    let (link, ping) = (&figures["link"], &figures["ping"]);
    let uptime = Duration::from_nanos(number(ping, "uptime_ns")) + age;
    let broken: u64 =
        link["frames_broken"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
    let faults = [
        (broken, "broken"),
        (number(link, "frames_dropped"), "dropped"),
        (number(&figures["session"], "resends"), "sent again"),
    ];
    let faults: Vec<_> = faults
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let faults = if faults.is_empty() { "no faults".to_owned() } else { faults.join(", ") };
    vec![
        format!("up {}", clock(uptime)),
        format!("ping {:.1} ms", Duration::from_micros(number(ping, "round_trip_us")).as_secs_f64() * 1e3),
        faults,
        format!("in {}, {} frames", size(number(link, "bytes_in")), number(link, "frames_in")),
    ]
}

/// Hours, minutes, seconds.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
