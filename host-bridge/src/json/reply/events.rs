//! Events.

use askr_wire::code;
use askr_wire::message::REGISTER_NAMES;
use serde_json::{Map, Value, json};

use super::escape_controls;
use crate::json::{bytes, name, signal};
use crate::ops::EventPage;
use crate::session::{BootId, Event, Fault};

/// The line that tells a subscriber of an event.
#[must_use]
pub fn event_pushed(pushed: &Event) -> String {
    escape_controls(json!({ "event": event(pushed), name::BOOT: pushed.boot.to_string() }).to_string())
}

/// The line that tells a subscriber of events that nobody can tell any more.
#[must_use]
pub fn events_lost_pushed(boot: BootId, from: u64, count: u64) -> String {
    json!({ "events_lost": { "from": from, "count": count }, name::BOOT: boot.to_string() }).to_string()
}

pub(crate) fn events(page: &EventPage) -> Value {
    json!({
        name::EVENTS: page.events.iter().map(event).collect::<Vec<_>>(),
        "lost": page.lost,
        "next": page.next,
        "count": page.count,
    })
}

/// The fields of an event: those of its kind, and those that all have.
fn event(event: &Event) -> Value {
    let mut map = Map::new();
    map.insert("number".into(), event.number.into());
    if let Some(time) = event.time_ns {
        map.insert("time_ns".into(), time.into());
    }
    let (kind, fields): (_, &[(&str, u32)]) = match event.code {
        code::EVENT_SPAWN => ("spawn", &[(name::PID, event.pid), ("parent", event.aux)]),
        code::EVENT_EXIT => ("exit", &[(name::PID, event.pid), ("exit_code", event.info)]),
        code::EVENT_FAULT => ("fault", &[(name::PID, event.pid), ("vector", event.info)]),
        code::EVENT_OOM => {
            ("oom", &[(name::PID, event.pid), ("wanted_by", event.aux), ("freed_kib", event.info)])
        }
        code::EVENT_DISK_FULL => ("disk_full", &[]),
        code::EVENT_BOOT => ("boot", &[]),
        code::EVENT_LINK_LOST => ("link_lost", &[]),
        code::EVENT_PANIC => ("panic", &[]),
        _ => ("other", &[(name::PID, event.pid), ("aux", event.aux), ("info", event.info)]),
    };
    map.insert("kind".into(), kind.into());
    for &(field, value) in fields {
        map.insert(field.into(), value.into());
    }
    if kind == "other" {
        map.insert(name::CODE.into(), event.code.into());
    }
    bytes::put(&mut map, name::NAME, &event.name);
    if let Some(facts) = &event.fault {
        map.insert("fault".into(), fault(facts));
    }
    Value::Object(map)
}

/// Numbers of 64 bits are hexadecimal text: JSON's numbers hold 53 of them.
pub(super) fn fault(facts: &Fault) -> Value {
    let registers: Map<String, Value> = REGISTER_NAMES
        .iter()
        .zip(&facts.registers)
        .map(|(register, value)| ((*register).to_owned(), hex(value)))
        .collect();
    let mut map = Map::new();
    map.insert(name::SIGNAL.into(), signal::name_of(facts.signal.into()).into());
    map.insert("vector".into(), facts.vector.into());
    for (field, value) in [("error", facts.error), ("address", facts.address), ("rip", facts.rip)] {
        map.insert(field.into(), hex(&value));
    }
    map.insert("registers".into(), registers.into());
    map.insert("backtrace".into(), facts.backtrace.iter().map(hex).collect());
    #[cfg(feature = "symbols")]
    if !facts.places.is_empty() {
        map.insert("places".into(), facts.places.iter().map(place).collect());
    }
    Value::Object(map)
}

#[cfg(feature = "symbols")]
fn place(place: &crate::symbols::Place) -> Value {
    let mut map = Map::new();
    map.insert("address".into(), hex(&place.address));
    for (field, text) in [("function", &place.function), ("file", &place.file)] {
        text.iter().for_each(|text| drop(map.insert(field.into(), text.clone().into())));
    }
    place.line.iter().for_each(|&line| drop(map.insert("line".into(), line.into())));
    Value::Object(map)
}

fn hex(value: &u64) -> Value {
    format!("{value:#x}").into()
}
