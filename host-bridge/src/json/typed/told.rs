//! What the hub tells: asks and events.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{bytes_of, bytes_of_value, small, text};
use crate::json::name;

/// A question of a program in the guest. Its texts are not to be trusted: they may be made to look like something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Its name, which never is that of an ask of another boot.
    pub ask: String,
    /// `generic`, `natural_language` (what `ai …` sends) or `other`.
    pub intent: String,
    /// The question.
    pub question: Vec<u8>,
    /// Who asks: the process and its program, where the guest told it.
    pub asker: Option<(u32, Vec<u8>)>,
    /// The only answers it takes; empty when it takes any.
    pub choices: Vec<Vec<u8>>,
    /// What helps to answer: keys and values.
    pub context: Vec<(Vec<u8>, Vec<u8>)>,
    /// What the program takes when nobody answers.
    pub default: Option<Vec<u8>>,
    /// Time until it stops waiting, from when the hub sent this.
    pub left: Duration,
}

impl Ask {
    pub(crate) fn of(told: &Value) -> Option<Self> {
        let list =
            |field: &str| told.get(field).map_or(Some(&[][..]), |list| list.as_array().map(Vec::as_slice));
        let pair = |pair: &Value| Some((bytes_of_value(&pair["key"])?, bytes_of_value(&pair["value"])?));
        Some(Self {
            ask: text(told, name::ASK)?,
            intent: text(told, "intent")?,
            question: bytes_of(told, name::QUESTION)?,
            asker: small(told, name::PID).zip(bytes_of(told, name::PROGRAM)),
            choices: list("choices")?.iter().map(bytes_of_value).collect::<Option<_>>()?,
            context: list("context")?.iter().map(pair).collect::<Option<_>>()?,
            default: bytes_of(told, "default"),
            left: Duration::from_millis(told["left_ms"].as_u64()?),
        })
    }
}

/// Something that happened in the guest.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Which of this boot it is, from 0.
    pub number: u64,
    /// `spawn`, `exit`, `fault` and the others of `docs/host.md`.
    pub kind: String,
    /// The program, as the guest names it; of some kinds another thing.
    pub name: Vec<u8>,
    /// The process, of kinds that have one.
    pub pid: Option<u32>,
    /// All fields, as `docs/host.md` lists them for the kind.
    pub fields: Map<String, Value>,
}

impl Event {
    fn of(told: &Value) -> Option<Self> {
        Some(Self {
            number: told["number"].as_u64()?,
            kind: text(told, "kind")?,
            name: bytes_of(told, name::NAME)?,
            pid: small(told, name::PID),
            fields: told.as_object()?.clone(),
        })
    }

    /// The exit code, of an `exit`: 128 and the number of the signal if one ended the process.
    #[must_use]
    pub fn exit_code(&self) -> Option<u32> {
        self.fields.get("exit_code")?.as_u64()?.try_into().ok()
    }
}

/// What a subscriber is told. `boot` is that of the guest, 32 hex digits.
#[derive(Clone, Debug, PartialEq)]
pub enum Pushed {
    /// A program asks.
    Ask {
        /// Of the guest.
        boot: String,
        /// The question.
        ask: Ask,
    },
    /// Something happened.
    Event {
        /// Of the guest.
        boot: String,
        /// What it was.
        event: Event,
    },
    /// Events that nobody can tell any more.
    EventsLost {
        /// Of the guest.
        boot: String,
        /// The number of the first.
        from: u64,
        /// How many.
        count: u64,
    },
}

impl Pushed {
    pub(crate) fn of(line: &Value) -> Option<Self> {
        let boot = text(line, name::BOOT)?;
        if let Some(ask) = line.get(name::ASK) {
            return Ask::of(ask).map(|ask| Self::Ask { boot, ask });
        }
        if let Some(event) = line.get("event") {
            return Event::of(event).map(|event| Self::Event { boot, event });
        }
        let lost = line.get("events_lost")?;
        Some(Self::EventsLost { boot, from: lost["from"].as_u64()?, count: lost["count"].as_u64()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of these that `docs/host.md` shows.
    fn shown(begins: &str) -> Vec<Value> {
        let page = include_str!("../../../../docs/host.md");
        let lines = page.lines().filter(|line| line.starts_with(begins));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn what_the_page_shows_is_read() {
        let ask = Ask::of(&shown("{\"ask\":\"")[0]).unwrap();
        assert_eq!((&ask.ask[..], &ask.question[..]), ("3f9a1c02:1", &b"may I?"[..]));
        assert_eq!((ask.asker, ask.left), (Some((7, b"ask".to_vec())), Duration::from_secs(29)));
        assert!(matches!(Pushed::of(&shown("{\"ask\":{")[0]), Some(Pushed::Ask { .. })));
        let events: Vec<_> = shown("{\"boot\":").iter().filter_map(Pushed::of).collect();
        let [Pushed::Event { event: spawn, .. }, Pushed::Event { event: exit, .. }, lost] = &events[..]
        else {
            panic!("{events:?}");
        };
        assert_eq!(
            (&spawn.kind[..], spawn.number, spawn.pid, spawn.exit_code()),
            ("spawn", 41, Some(8), None)
        );
        assert_eq!((&exit.kind[..], exit.exit_code(), &exit.name[..]), ("exit", Some(0), &b"hello"[..]));
        assert!(matches!(lost, Pushed::EventsLost { from: 43, count: 3, .. }));
    }
}
