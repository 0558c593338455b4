//! In which order the hub's lines are shown, and what was missed between two connections.
//!
//! Pushed lines are passed on as they come. Only at the first sight of the guest in a connection events may have been
//! missed: those are fetched, and what is pushed meanwhile waits. It does no I/O.

use std::path::Path;

use host_bridge::json::Answer;
use serde_json::{Value, json};

/// Longest time for a page of missed events.
const FETCH_MS: u64 = 5000;
/// Most events that wait for those before them.
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
    /// What was pushed while missed events are fetched.
    held: Option<Vec<Value>>,
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
        if line.get("event").is_some() || line.get("events_lost").is_some() {
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
        self.held = Some(Vec::new());
        request(next)
    }

    /// A page of missed events: shown, and the next one asked for, or with the last one what waited.
    fn page(&mut self, boot: &Value, page: &Value) -> News {
        let is_ours = self.is_of(boot);
        let events = page["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut lines = Vec::new();
        if is_ours && let Some(count @ 1..) = page["lost"].as_u64() {
            let from = self.next.unwrap_or_default();
            lines.push(json!({ "boot": boot, "events_lost": { "from": from, "count": count } }));
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
        let next = self.next.unwrap_or_default();
        let held = self.held.take().unwrap_or_default();
        let was_fetched = |line: &Value| {
            self.boot.as_ref() == line.get("boot") && number(line).is_some_and(|number| number < next)
        };
        let news: Vec<Value> = held.into_iter().filter(|line| !was_fetched(line)).collect();
        let mut lines = Vec::new();
        for line in news {
            if let (Some(next), Some(number)) = (self.next, number(&line))
                && self.boot.as_ref() == line.get("boot")
                && number > next
            {
                let lost = json!({ "from": next, "count": number - next });
                lines.push(json!({ "boot": line["boot"], "events_lost": lost }));
            }
            lines.extend(self.event(line).lines);
        }
        News { lines, request: None }
    }

    /// An event, or that some were lost.
    fn event(&mut self, line: Value) -> News {
        if let Some(held) = &mut self.held {
            held.push(line);
            return if held.len() < HELD_MAX { News::default() } else { self.release() };
        }
        self.boot = line.get("boot").cloned();
        self.next = number(&line).map(|number| number + 1).or_else(|| {
            let lost = &line["events_lost"];
            Some(lost["from"].as_u64()? + lost["count"].as_u64()?)
        });
        News { lines: vec![line], request: None }
    }
}

fn request(cursor: u64) -> Value {
    json!({ "id": MISSED, "op": "events.read", "cursor": cursor, "timeout_ms": FETCH_MS })
}

fn number(line: &Value) -> Option<u64> {
    line["event"]["number"].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(feed: &mut Feed, line: Value) -> News {
        feed.line(Path::new("/s"), line).unwrap()
    }

    fn event(boot: &str, number: u64) -> Value {
        json!({ "boot": boot, "event": { "kind": "spawn", "number": number } })
    }

    fn ready(boot: &str) -> Value {
        json!({ "boot": boot, "state": { "connected": true, "ready": true } })
    }

    fn welcome() -> Value {
        json!({ "id": "hello", "boot": null, "ok": {} })
    }

    fn page(boot: &str, lost: u64, numbers: std::ops::Range<u64>) -> Value {
        let next = numbers.end;
        let events: Vec<_> = numbers.map(|number| event(boot, number)["event"].clone()).collect();
        json!({ "id": MISSED, "boot": boot, "ok": { "events": events, "lost": lost, "next": next } })
    }

    /// Numbers of the events that are shown, and how many are told lost.
    fn shown(news: &[News]) -> (Vec<u64>, u64) {
        let lines = || news.iter().flat_map(|news| &news.lines);
        let lost = lines().filter_map(|line| line["events_lost"]["count"].as_u64()).sum();
        (lines().filter_map(number).collect(), lost)
    }

    #[test]
    fn at_first_only_what_comes_is_shown() {
        let mut feed = Feed::new(false);
        assert_eq!(take(&mut feed, welcome()).lines[0]["hub"]["socket"], "/s");
        assert_eq!(take(&mut feed, ready("a")).request.unwrap()["op"], "ping");
        assert_eq!(take(&mut feed, event("a", 7)).lines, [event("a", 7)]);
    }

    #[test]
    fn what_was_missed_is_known_though_nothing_happened_before() {
        let mut feed = Feed::new(false);
        take(&mut feed, welcome());
        take(&mut feed, ready("a"));
        let pong = json!({ "id": NEXT, "boot": "a", "ok": { "event_cursor": 4 } });
        assert_eq!(take(&mut feed, pong), News::default());
        feed.disconnected();
        take(&mut feed, welcome());
        assert_eq!(take(&mut feed, ready("a")).request, Some(request(4)));
    }

    #[test]
    fn what_was_missed_between_two_connections_comes_before_what_is_new_and_once() {
        let mut feed = Feed::new(false);
        take(&mut feed, welcome());
        take(&mut feed, ready("a"));
        take(&mut feed, event("a", 7));
        feed.disconnected();
        take(&mut feed, welcome());
        assert_eq!(take(&mut feed, ready("a")).request, Some(request(8)));
        let all = [
            event("a", 13),
            page("a", 2, 10..13),
            event("a", 14),
            page("a", 0, 13..15),
            page("a", 0, 15..15),
        ]
        .map(|line| take(&mut feed, line));
        assert_eq!(shown(&all), (vec![10, 11, 12, 13, 14], 2));
        assert_eq!(all[1].request, Some(request(13)));
        assert_eq!(shown(&[take(&mut feed, event("a", 15))]), (vec![15], 0));
    }

    #[test]
    fn events_that_cannot_be_fetched_are_counted() {
        let mut feed = Feed::new(false);
        take(&mut feed, welcome());
        take(&mut feed, event("a", 0));
        feed.disconnected();
        take(&mut feed, welcome());
        assert_eq!(take(&mut feed, ready("a")).request, Some(request(1)));
        assert_eq!(take(&mut feed, event("a", 5)).lines, [] as [Value; 0]);
        let error = json!({ "code": "not_ready", "message": "m", "hint": "h" });
        let failed = take(&mut feed, json!({ "id": MISSED, "boot": "a", "error": error }));
        assert_eq!(shown(&[failed]), (vec![5], 4));
    }

    #[test]
    fn of_a_boot_that_nobody_saw_begin_everything_was_missed() {
        let mut feed = Feed::new(false);
        take(&mut feed, welcome());
        take(&mut feed, event("a", 9));
        feed.disconnected();
        take(&mut feed, welcome());
        assert_eq!(take(&mut feed, ready("b")).request, Some(request(0)));
        // Rebooted again under it: the page is of another boot than was asked for.
        assert_eq!(take(&mut feed, event("c", 0)).lines, [] as [Value; 0]);
        assert_eq!(shown(&[take(&mut feed, page("c", 0, 0..3))]), (vec![0], 0));
    }

    #[test]
    fn a_reboot_and_a_guest_that_is_set_back_begin_their_numbers_again() {
        let mut feed = Feed::new(true);
        take(&mut feed, welcome());
        assert_eq!(take(&mut feed, ready("a")).request, Some(request(0)));
        take(&mut feed, page("a", 0, 0..0));
        let all = [event("a", 5), event("a", 3), event("b", 0)].map(|line| take(&mut feed, line));
        assert_eq!(shown(&all), (vec![5, 3, 0], 0));
    }

    #[test]
    fn a_hub_that_turns_us_away_is_no_connection() {
        let mut feed = Feed::new(false);
        let error = json!({ "code": "too_many_clients", "message": "64 clients", "hint": "h" });
        let away = feed.line(Path::new("/s"), json!({ "id": null, "boot": null, "error": error }));
        assert_eq!(away, Err("64 clients".into()));
        assert!(!feed.was_connected());
    }
}
