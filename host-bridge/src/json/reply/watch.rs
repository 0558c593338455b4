//! What only those who watch are told.

use serde_json::{Map, Value, json};

use super::escape_controls;
use crate::json::{AskName, bytes, name};
use crate::link::Door;
use crate::session::{Answerer, AskEnd, AskId, State};

/// The line that tells how an ask ended.
#[must_use]
pub fn ask_ended_pushed(ask: AskId, end: &AskEnd) -> String {
    let mut map = Map::new();
    map.insert(name::ASK.into(), AskName::from(ask).to_string().into());
    let (outcome, by) = match end {
        AskEnd::Answered(by, _) => ("answered", Some(by)),
        AskEnd::Refused(by) => ("refused", Some(by)),
        AskEnd::TimedOut => ("timed_out", None),
        AskEnd::Gone => ("gone", None),
        AskEnd::Restarted => ("guest_restarted", None),
    };
    map.insert("outcome".into(), outcome.into());
    if let Some(by) = by {
        let by = match by {
            Answerer::Client => "client",
            Answerer::BuiltIn => "built_in",
        };
        map.insert("by".into(), by.into());
    }
    if let AskEnd::Answered(_, answer) = end {
        bytes::put(&mut map, name::ANSWER, answer);
    }
    let line = json!({ "ask_ended": map, name::BOOT: ask.boot.to_string() });
    escape_controls(line.to_string())
}

/// The line that tells how link and session stand.
#[must_use]
pub fn state_pushed(state: &State) -> String {
    let boot = state.boot.map_or(Value::Null, |boot| boot.to_string().into());
    let state = json!({
        name::CONNECTED: state.connected, name::READY: state.door.is_some(), name::DOOR: state.door.map(Door::name),
    });
    json!({ "state": state, name::BOOT: boot }).to_string()
}
