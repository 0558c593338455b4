//! In which order the hub's lines are shown, and what was missed between two connections.
//!
//! Pushed lines are passed on as they come. Only at the first sight of the guest in a connection events may have been
//! missed: those are fetched, and what is pushed meanwhile waits. It does no I/O.

use std::collections::VecDeque;
use std::path::Path;

use host_bridge::json::Answer;
use serde_json::{Value, json};

/// Longest time for a page of missed events.
const FETCH_MS: u64 = 5000;
/// Most events that wait for those before them. In the place of older ones those come that are fetched, since what is
/// fetched ends with what is new.
const HELD_MAX: usize = 4096;
/// `id` of the request for missed events, and of the one for the number of the next event.
const MISSED: &str = "missed";
const NEXT: &str = "next";

/// What one line of the hub leads to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct News {
    /// Lines to show: those of the hub, and `hub` lines of the same kind.
    pub(super) lines: Vec<Value>,
    /// What to send.
    pub(super) request: Option<Value>,
}

/// Where the events stand.
pub(super) struct Feed {
    /// The boot that was shown last.
    boot: Option<Value>,
    /// The number of its next event; `None` when it is not known.
    next: Option<u64>,
    /// Whether the hub took us in.
    connected: bool,
    /// Whether missed events were asked for in this connection.
    fetched: bool,
    /// What was pushed while missed events are fetched, the last [`HELD_MAX`] of it.
    held: Option<VecDeque<Value>>,
}

impl Feed {
    pub(super) fn new(since_boot: bool) -> Self {
        let next = since_boot.then_some(0);
        Self { boot: None, next, connected: false, fetched: false, held: None }
    }

    /// The first request of a connection.
    pub(super) fn hello(&self) -> Value {
        json!({ "id": "hello", "op": "subscribe", "asks": true, "events": true, "watch": true })
    }

    pub(super) fn was_connected(&self) -> bool {
        self.connected
    }

    /// The connection is over.
    pub(super) fn disconnected(&mut self) {
        (self.connected, self.fetched, self.held) = (false, false, None);
    }

    /// Takes a line of the hub.
    ///
    /// # Errors
    /// Why the connection is of no use.
    pub(super) fn line(&mut self, path: &Path, line: Value) -> Result<News, String> {
        let id = line.get("id").and_then(Value::as_str);
        match Answer::of(&line) {
            Answer::Ok(page) if id == Some(MISSED) => Ok(self.page(&line["boot"], &page)),
            Answer::Ok(pong) if id == Some(NEXT) => {
                // Unless an event has told it meanwhile.
                self.next = self.next.or(pong["event_cursor"].as_u64().filter(|_| self.is_of(&line["boot"])));
                Ok(News::default())
            }
            // The guest went away meanwhile.
            Answer::Error { .. } if id == Some(MISSED) => Ok(self.release()),
            Answer::Error { .. } if id == Some(NEXT) => Ok(News::default()),
            Answer::Ok(_) => {
                self.connected = true;
                let line = json!({ "hub": { "connected": true, "socket": path.to_string_lossy() } });
                Ok(News { lines: vec![line], request: None })
            }
            Answer::Error { message, .. } => Err(message),
            Answer::Other => Ok(self.pushed(line)),
        }
    }

    fn pushed(&mut self, line: Value) -> News {
        if line.get("event").is_some() || is_loss(&line) {
            return self.event(line);
        }
        let is_ready = line["state"]["ready"] == true;
        let mut news = News { lines: vec![line], request: None };
        if is_ready && !self.fetched {
            self.fetched = true;
            news.request = Some(self.fetch(&news.lines[0]["boot"].clone()));
        }
        news
    }

    fn is_of(&self, boot: &Value) -> bool {
        self.boot.as_ref() == Some(boot)
    }

    /// Asks for what was missed, or, where that begins now, for its number: there may be another connection.
    fn fetch(&mut self, boot: &Value) -> Value {
        if self.boot.as_ref().is_some_and(|last| last != boot) {
            // Of a boot that began while nobody looked everything was missed.
            self.next = Some(0);
        }
        self.boot = Some(boot.clone());
        let Some(next) = self.next else {
            return json!({ "id": NEXT, "op": "ping", "timeout_ms": FETCH_MS });
        };
        self.held = Some(VecDeque::new());
        request(next)
    }

    /// A page of missed events: shown, and the next one asked for, or with the last one what waited.
    fn page(&mut self, boot: &Value, page: &Value) -> News {
        let is_ours = self.is_of(boot);
        let events = page["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut lines = Vec::new();
        if is_ours && let Some(count @ 1..) = page["lost"].as_u64() {
            let from = self.next.unwrap_or_default();
            lines.push(lost(boot, from, from.saturating_add(count)));
        }
        if is_ours {
            lines.extend(events.iter().map(|event| json!({ "boot": boot, "event": event })));
            self.next = page["next"].as_u64().or(self.next);
        }
        if is_ours
            && !events.is_empty()
            && let Some(next) = self.next
        {
            return News { lines, request: Some(request(next)) };
        }
        let rest = self.release();
        lines.extend(rest.lines);
        News { lines, request: None }
    }

    /// Shows what waited, but for what was fetched.
    fn release(&mut self) -> News {
        let held = self.held.take().unwrap_or_default();
        let lines = held.into_iter().flat_map(|line| self.in_its_place(line)).collect();
        News { lines, request: None }
    }

    /// What is still to be shown of a line that waited, behind what is missing before it.
    fn in_its_place(&mut self, mut line: Value) -> Vec<Value> {
        let mut lines = Vec::new();
        if self.boot.as_ref() == line.get("boot")
            && let (Some(next), Some((first, end))) = (self.next, span(&line))
        {
            if end <= next {
                return lines;
            }
            if first > next {
                lines.push(lost(&line["boot"], next, first));
            } else if is_loss(&line) {
                line = lost(&line["boot"], next, end);
            }
        }
        lines.extend(self.event(line).lines);
        lines
    }

    /// An event, or that some were lost.
    fn event(&mut self, line: Value) -> News {
        if let Some(held) = &mut self.held {
            held.push_back(line);
            if held.len() > HELD_MAX {
                held.pop_front();
            }
            return News::default();
        }
        self.boot = line.get("boot").cloned();
        self.next = span(&line).map(|(_, end)| end);
        News { lines: vec![line], request: None }
    }
}

fn request(cursor: u64) -> Value {
    json!({ "id": MISSED, "op": "events.read", "cursor": cursor, "timeout_ms": FETCH_MS })
}

/// The line that tells that events from one number up to another are lost.
fn lost(boot: &Value, from: u64, end: u64) -> Value {
    json!({ "boot": boot, "events_lost": { "from": from, "count": end - from } })
}

fn is_loss(line: &Value) -> bool {
    line.get("events_lost").is_some()
}

/// Numbers of the first event that a line tells of, and of the one after the last.
fn span(line: &Value) -> Option<(u64, u64)> {
    let lost = &line["events_lost"];
    if let Some(from) = lost["from"].as_u64() {
        return Some((from, from.saturating_add(lost["count"].as_u64()?)));
    }
    let number = line["event"]["number"].as_u64()?;
    Some((number, number.saturating_add(1)))
}

#[cfg(test)]
mod tests;
