//! What a line says in words: when, what, who, and the rest, in columns.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{DateTime, Local, TimeDelta};
use serde_json::Value;

use super::session::Session;
use crate::style::Tone;
use crate::text::{Shape, escape};

/// Widths of the columns for what and who.
const WHAT: usize = 8;
const WHO: usize = 16;
/// Most characters of one text of the guest.
const TEXT_MAX: usize = 200;

/// One line for people.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    pub(super) what: &'static str,
    who: String,
    rest: String,
    pub(super) tone: Tone,
}

impl Row {
    pub(super) fn new(what: &'static str, tone: Tone, who: String, rest: String) -> Self {
        Self { what, who, rest, tone }
    }

    /// With the time of day in front.
    pub(super) fn to_text(&self, at: DateTime<Local>) -> String {
        let time = at.format("%H:%M:%S");
        if self.who.is_empty() {
            return format!("{time}  {:WHAT$}  {}", self.what, self.rest);
        }
        format!("{time}  {:WHAT$}  {:WHO$}  {}", self.what, self.who, self.rest)
    }
}

/// What is remembered from line to line.
#[derive(Default)]
pub(super) struct Memory {
    /// Pending asks: who asked, since when, and until when it waits.
    pub(super) asks: BTreeMap<String, Pending>,
    /// How link and session stand.
    pub(super) session: Session,
}

/// An ask that waits for an answer.
pub(super) struct Pending {
    who: String,
    /// In natural language: it may be answered with a plan, which is no text.
    is_natural: bool,
    since: Instant,
    pub(super) until: Instant,
}

impl Memory {
    /// The row for a line, if there is something to tell.
    pub(super) fn row(&mut self, line: &Value, now: Instant, at: DateTime<Local>) -> Option<Row> {
        let kind = ["event", "events_lost", "ask", "ask_ended", "state", "hub", "stats"];
        let kind = kind.into_iter().find(|kind| line.get(kind).is_some())?;
        let body = &line[kind];
        Some(match kind {
            "event" => event(body),
            "events_lost" => lost(body),
            "ask" => self.ask(body, now, at),
            "ask_ended" => self.ask_ended(body, now),
            "state" => return self.session.row(line),
            "hub" => self.hub(body),
            _ => super::status_line::row(body),
        })
    }

    fn ask(&mut self, ask: &Value, now: Instant, at: DateTime<Local>) -> Row {
        let left_ms = ask["left_ms"].as_u64().unwrap_or_default();
        let who = who(ask, "program");
        let name = text(ask, "ask");
        let until =
            at + TimeDelta::milliseconds(i64::try_from(left_ms).unwrap_or(i64::MAX).min(i64::MAX / 2));
        let mut rest = format!("{name}  {}", quoted(ask, "question"));
        if let Some(choices) = ask["choices"].as_array() {
            let choices: Vec<_> = choices.iter().map(choice).collect();
            rest.push_str(&format!("  takes {}", choices.join(" or ")));
        }
        if ask.get("default").or(ask.get("default_base64")).is_some() {
            rest.push_str(&format!("  else {}", quoted(ask, "default")));
        }
        rest.push_str(&format!("  until {} ({} s)", until.format("%H:%M:%S"), left_ms.div_ceil(1000)));
        let pending = Pending {
            who: who.clone(),
            is_natural: ask["intent"] == "natural_language",
            since: now,
            until: now + Duration::from_millis(left_ms),
        };
        self.asks.insert(name, pending);
        Row::new("ask", Tone::Notable, who, rest)
    }

    fn ask_ended(&mut self, end: &Value, now: Instant) -> Row {
        let name = text(end, "ask");
        let pending = self.asks.remove(&name);
        let after = pending.as_ref().map(|ask| now.saturating_duration_since(ask.since).as_secs_f64());
        let after = after.map(|seconds| format!("  after {seconds:.1} s")).unwrap_or_default();
        let by = match end["by"].as_str() {
            Some("built_in") => "the built-in agent",
            _ => "a client",
        };
        let is_plan = pending.as_ref().is_some_and(|ask| ask.is_natural)
            && end["answer"].as_str().is_none_or(|answer| answer.starts_with('\0'));
        let answer = if is_plan { "a plan".to_owned() } else { quoted(end, "answer") };
        let (what, tone, how) = match end["outcome"].as_str() {
            Some("answered") => ("answered", Tone::Good, format!("{answer}  by {by}")),
            Some("refused") => ("refused", Tone::Notable, format!("by {by}")),
            Some("timed_out") => ("too late", Tone::Notable, "nobody answered in time".into()),
            Some("guest_restarted") => ("ended", Tone::Notable, "the guest has restarted".into()),
            _ => ("ended", Tone::Plain, "its program no longer waits".into()),
        };
        let who = pending.map(|ask| ask.who).unwrap_or_default();
        Row::new(what, tone, who, format!("{name}  {how}{after}"))
    }

    fn hub(&mut self, hub: &Value) -> Row {
        // A hub that comes back tells the pending asks and the state again.
        self.asks.clear();
        self.session.forget();
        let (tone, rest) = match hub["connected"] == true {
            true => (Tone::Good, format!("connected at {}", text(hub, "socket"))),
            false => (Tone::Bad, format!("waiting for one; {}", text(hub, "reason"))),
        };
        Row::new("hub", tone, String::new(), rest)
    }
}

fn lost(lost: &Value) -> Row {
    let count = lost["count"].as_u64().unwrap_or_default();
    let events = if count == 1 { "event" } else { "events" };
    let rest = format!("{count} {events} from number {} on, which the guest no longer has", lost["from"]);
    Row::new("lost", Tone::Bad, String::new(), rest)
}

fn event(event: &Value) -> Row {
    let who = || who(event, "name");
    let number = |field: &str| event[field].as_u64().unwrap_or_default();
    match event["kind"].as_str() {
        Some("spawn") => Row::new("spawn", Tone::Plain, who(), format!("by process {}", number("parent"))),
        Some("exit") => {
            let code = number("exit_code");
            let tone = if code == 0 { Tone::Plain } else { Tone::Notable };
            Row::new("exit", tone, who(), format!("with {code}"))
        }
        Some("fault") => Row::new("fault", Tone::Bad, who(), fault(event)),
        Some("oom") => {
            let rest = format!(
                "ended for want of memory: {} KiB were freed for process {}",
                number("freed_kib"),
                number("wanted_by")
            );
            Row::new("memory", Tone::Bad, who(), rest)
        }
        Some("disk_full") => {
            Row::new("disk", Tone::Bad, String::new(), format!("{} is full", text(event, "name")))
        }
        Some("boot") => Row::new("boot", Tone::Good, String::new(), "the guest has booted".into()),
        Some("link_lost") => {
            Row::new("link", Tone::Notable, String::new(), "the guest took its host for gone".into())
        }
        Some("panic") => Row::new("panic", Tone::Bad, String::new(), text(event, "name")),
        _ => {
            let rest = format!("code {}, aux {}, info {}", number("code"), number("aux"), number("info"));
            Row::new("other", Tone::Plain, who(), rest)
        }
    }
}

/// The signal, the address, and where that was.
fn fault(event: &Value) -> String {
    let fault = &event["fault"];
    if fault.is_null() {
        return format!("vector {}", event["vector"]);
    }
    let mut rest =
        format!("{} at {}, rip {}", text(fault, "signal"), text(fault, "address"), text(fault, "rip"));
    let place = &fault["places"][0];
    if place["function"].is_string() {
        rest.push_str(&format!(", in {}", text(place, "function")));
    }
    if place["file"].is_string() {
        rest.push_str(&format!(" ({}:{})", text(place, "file"), place["line"]));
    }
    rest
}

/// A program and its process, as `sh[3]`.
fn who(of: &Value, name: &str) -> String {
    match (of["pid"].as_u64(), text(of, name)) {
        (None, name) => name,
        (Some(pid), name) => format!("{name}[{pid}]"),
    }
}

/// A text of the guest, on one line and with nothing that a terminal obeys.
fn text(of: &Value, field: &str) -> String {
    match of[field].as_str() {
        Some(text) => shortened(&escape(text.as_bytes(), Shape::Line)),
        None => of[format!("{field}_base64")].as_str().map(bytes).unwrap_or_default(),
    }
}

fn quoted(of: &Value, field: &str) -> String {
    match of[field].as_str() {
        Some(_) => format!("\"{}\"", text(of, field)),
        None => text(of, field),
    }
}

fn choice(choice: &Value) -> String {
    choice.as_str().map_or_else(|| text(choice, ""), |text| escape(text.as_bytes(), Shape::Line))
}

/// Bytes that are no text: of what use would they be to a reader?
fn bytes(coded: &str) -> String {
    let padding = coded.bytes().rev().take_while(|&byte| byte == b'=').count();
    format!("({} bytes that are no text)", coded.len() / 4 * 3 - padding)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
