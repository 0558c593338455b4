//! From typed results to lines.

use std::time::Instant;

use askr_wire::code;
use askr_wire::message::{FileType, ProcessState, StatReply};
use serde_json::{Map, Value, json};

use super::bytes::escape_controls;
use super::{AskName, Error, bytes, name};
use crate::link::LinkCounters;
use crate::ops::{Content, Entry, Listing, Process};
use crate::session::{Ask, BootId, Event, Peer, Pong, SessionCounters};

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

/// The line that tells a subscriber of an event.
#[must_use]
pub fn event_pushed(event: &Event) -> String {
    let mut map = Map::new();
    map.insert("pid".into(), event.pid.into());
    bytes::put(&mut map, name::NAME, &event.name);
    let (kind, field) = match event.code {
        code::EVENT_SPAWN => ("spawn", Some(("parent", event.aux))),
        code::EVENT_EXIT => ("exit", Some(("exit_code", event.info))),
        code::EVENT_FAULT => ("fault", Some(("vector", event.info))),
        _ => ("other", None),
    };
    map.insert("kind".into(), kind.into());
    match field {
        Some((field, value)) => map.insert(field.into(), value.into()),
        None => map.insert("code".into(), event.code.into()),
    };
    escape_controls(json!({ "event": map, name::BOOT: event.boot.to_string() }).to_string())
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

pub(crate) fn subscribed(asks: bool, events: bool) -> Value {
    json!({ name::ASKS: asks, name::EVENTS: events })
}

pub(crate) fn written(count: u64) -> Value {
    json!({ "written": count })
}

pub(crate) fn content(read: &Content) -> Value {
    let mut map = Map::new();
    bytes::put_content(&mut map, &read.data);
    map.insert(name::OFFSET.into(), read.offset.into());
    map.insert("nread".into(), read.data.len().into());
    map.insert("truncated".into(), read.truncated.into());
    map.insert("total".into(), read.total.into());
    Value::Object(map)
}

const fn type_name(file_type: FileType) -> &'static str {
    match file_type {
        FileType::File => "file",
        FileType::Directory => "dir",
    }
}

pub(crate) fn stat(facts: &StatReply) -> Value {
    json!({
        "type": type_name(facts.file_type),
        "mode": facts.mode,
        "uid": facts.uid,
        "gid": facts.gid,
        "size": facts.size,
        "mtime": facts.mtime,
        "atime": facts.atime,
        "ctime": facts.ctime,
    })
}

pub(crate) fn entries(listing: &Listing<Entry>) -> Value {
    let one = |entry: &Entry| {
        let mut map = Map::new();
        bytes::put(&mut map, name::NAME, &entry.name);
        map.insert("type".into(), type_name(entry.file_type).into());
        map.insert("size".into(), entry.size.into());
        Value::Object(map)
    };
    json!({ "entries": listing.entries.iter().map(one).collect::<Vec<_>>(), "truncated": listing.truncated })
}

pub(crate) fn processes(listing: &Listing<Process>) -> Value {
    let one = |process: &Process| {
        let state = match process.state {
            ProcessState::Ready => "ready",
            ProcessState::Running => "running",
            ProcessState::Blocked => "blocked",
            ProcessState::Zombie => "zombie",
        };
        let mut map = Map::new();
        map.insert("pid".into(), process.pid.into());
        map.insert("tid".into(), process.tid.into());
        map.insert("state".into(), state.into());
        map.insert("user".into(), process.is_user.into());
        bytes::put(&mut map, name::NAME, &process.name);
        Value::Object(map)
    };
    json!({ "processes": listing.entries.iter().map(one).collect::<Vec<_>>(), "truncated": listing.truncated })
}

pub(crate) fn pong(pong: &Pong) -> Value {
    json!({
        "round_trip_us": u64::try_from(pong.round_trip.as_micros()).unwrap_or(u64::MAX),
        "uptime_ns": pong.uptime_ns,
        "pending_asks": pong.pending_asks,
        "event_cursor": pong.event_cursor,
    })
}

/// The guest's counters beside the bridge's own.
pub(crate) fn counters(guest: &[(String, u64)], session: &SessionCounters, link: &Value) -> Value {
    let guest: Map<String, Value> =
        guest.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
    let session = json!({
        "hellos": session.hellos,
        "sessions": session.sessions,
        "resends": session.resends,
        "stray_frames": session.stray_frames,
    });
    json!({ "guest": guest, "session": session, "link": link })
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
    /// COM2 is connected.
    pub connected: bool,
    /// The guest is in session.
    pub ready: bool,
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
            "connected": self.connected,
            "ready": self.ready,
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
