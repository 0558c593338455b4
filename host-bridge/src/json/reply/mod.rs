//! From typed results to lines.

mod agent;
mod events;
mod files;
mod jobs;
mod watch;

use std::time::Instant;

use askr_wire::code;
use serde_json::{Map, Value, json};

pub use agent::AgentStatus;
pub(crate) use events::events;
pub use events::{event_pushed, events_lost_pushed};
pub(crate) use files::{content, entries, fs_info, stat, written};
pub(crate) use jobs::{accepted_input, job, killed, processes, report};
pub use watch::{ask_ended_pushed, state_pushed};

use super::bytes::escape_controls;
use super::{AskName, Error, Subscription, bytes, name};
use crate::link::{Door, LinkCounters};
use crate::session::{Ask, BootId, Peer, Pong, SessionCounters};

/// A reply to the request with this id.
#[must_use]
pub fn reply(id: &Value, boot: Option<BootId>, ok: Value) -> String {
    line(id, boot, name::OK, ok)
}

/// A reply that is an error.
#[must_use]
pub fn reply_error(id: &Value, boot: Option<BootId>, error: &Error) -> String {
    line(id, boot, name::ERROR, error.to_value())
}

fn line(id: &Value, boot: Option<BootId>, field: &str, value: Value) -> String {
    let mut map = Map::new();
    map.insert(name::ID.into(), id.clone());
    map.insert(name::BOOT.into(), boot_value(boot));
    map.insert(field.into(), value);
    escape_controls(Value::Object(map).to_string())
}

fn boot_value(boot: Option<BootId>) -> Value {
    boot.map_or(Value::Null, |boot| boot.to_string().into())
}

/// The line that tells a subscriber of a new ask.
#[must_use]
pub fn ask_pushed(pushed: &Ask) -> String {
    let line = json!({ name::ASK: ask(pushed, Instant::now()), name::BOOT: pushed.id.boot.to_string() });
    escape_controls(line.to_string())
}

fn ask(ask: &Ask, now: Instant) -> Value {
    let mut map = Map::new();
    map.insert(name::ASK.into(), AskName::from(ask.id).to_string().into());
    let intent = match ask.code {
        code::DECISION_GENERIC => "generic",
        code::DECISION_NATURAL => "natural_language",
        _ => "other",
    };
    map.insert("intent".into(), intent.into());
    map.insert("code".into(), ask.code.into());
    bytes::put(&mut map, name::QUESTION, &ask.question);
    if let Some((pid, program)) = &ask.asker {
        map.insert("pid".into(), (*pid).into());
        bytes::put(&mut map, name::PROGRAM, program);
    }
    map.insert("left_ms".into(), ask.left_ms(now).into());
    if !ask.choices.is_empty() {
        map.insert("choices".into(), ask.choices.iter().map(|choice| bytes::value(choice)).collect());
    }
    if !ask.context.is_empty() {
        let pair = |(key, value): &(Vec<u8>, Vec<u8>)| json!({ "key": bytes::value(key), "value": bytes::value(value) });
        map.insert("context".into(), ask.context.iter().map(pair).collect());
    }
    if let Some(default) = &ask.default {
        bytes::put(&mut map, "default", default);
    }
    Value::Object(map)
}

pub(crate) fn asks(pending: &[Ask]) -> Value {
    let now = Instant::now();
    json!({ name::ASKS: pending.iter().map(|one| ask(one, now)).collect::<Vec<_>>() })
}

pub(crate) fn accepted() -> Value {
    json!({ "verdict": "accepted" })
}

pub(crate) fn done() -> Value {
    json!({})
}

pub(crate) fn subscribed(wants: Subscription) -> Value {
    json!({ name::ASKS: wants.asks, name::EVENTS: wants.events, name::WATCH: wants.watch })
}

pub(crate) fn pong(pong: &Pong) -> Value {
    json!({
        "round_trip_us": u64::try_from(pong.round_trip.as_micros()).unwrap_or(u64::MAX),
        "uptime_ns": pong.uptime_ns,
        "pending_asks": pong.pending_asks,
        "event_cursor": pong.event_cursor,
    })
}

/// Facts about the guest: what it is, its memory in bytes, its clocks.
pub(crate) fn system_info(
    info: &[(String, Vec<u8>)],
    memory: &[(String, u64)],
    (uptime_ns, unix_ns): (u64, u64),
) -> Value {
    let mut facts = Map::new();
    info.iter().for_each(|(fact, value)| bytes::put(&mut facts, fact, value));
    json!({ "info": facts, "memory": numbers(memory), "uptime_ns": uptime_ns, "unix_ns": unix_ns })
}

fn numbers(named: &[(String, u64)]) -> Map<String, Value> {
    named.iter().map(|(name, value)| (name.clone(), (*value).into())).collect()
}

/// The guest's counters beside the bridge's own.
pub(crate) fn counters(guest: &[(String, u64)], session: &SessionCounters, link: &Value) -> Value {
    let session = json!({
        "hellos": session.hellos,
        "sessions": session.sessions,
        "resends": session.resends,
        "stray_frames": session.stray_frames,
    });
    json!({ "guest": numbers(guest), "session": session, "link": link })
}

pub(crate) fn link_counters(link: &LinkCounters) -> Value {
    use std::sync::atomic::Ordering::Relaxed;
    let broken: Map<String, Value> = askr_wire::FrameError::ALL
        .iter()
        .map(|error| (error.name().to_owned(), link.broken[error.index()].load(Relaxed).into()))
        .collect();
    json!({
        "connects": link.connects.load(Relaxed),
        "bytes_in": link.bytes_in.load(Relaxed),
        "frames_in": link.frames_in.load(Relaxed),
        "frames_dropped": link.frames_dropped.load(Relaxed),
        "frames_broken": broken,
    })
}

/// How link and session stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// A door to the guest is connected.
    pub connected: bool,
    /// The guest is in session.
    pub ready: bool,
    /// The door that the session goes through.
    pub door: Option<Door>,
    /// The guest in session, or the last one that was.
    pub peer: Option<Peer>,
    /// Asks that wait for an answer.
    pub pending_asks: usize,
    /// Requests outstanding.
    pub outstanding: usize,
    /// Clients connected to the hub.
    pub clients: usize,
}

impl Status {
    /// The same for a client.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            name::CONNECTED: self.connected,
            name::READY: self.ready,
            name::DOOR: self.door.map(Door::name),
            "guest": self.peer.as_ref().map(peer),
            "pending_asks": self.pending_asks,
            "outstanding": self.outstanding,
            "clients": self.clients,
            "bridge_version": env!("CARGO_PKG_VERSION"),
        })
    }
}

fn peer(peer: &Peer) -> Value {
    let verb = |verb: &askr_wire::message::VerbGeneration| json!([verb.code, verb.generation]);
    json!({
        name::BOOT: peer.boot.to_string(),
        "session": peer.session.to_string(),
        "kernel": peer.kernel,
        "version": peer.version,
        "generation": peer.generation,
        "payload_limit": peer.payload_limit,
        "window": peer.window,
        "lease_ms": u64::try_from(peer.lease.as_millis()).unwrap_or(u64::MAX),
        "ping_ms": u64::try_from(peer.ping.as_millis()).unwrap_or(u64::MAX),
        "verbs": peer.verbs.iter().map(verb).collect::<Vec<_>>(),
    })
}
