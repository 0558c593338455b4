//! What waits to be sent and is not kept elsewhere: urgent answers, events, and refusals.

use askr_wire::message::PingReply;
use askr_wire::status::Status;
use askr_wire::{SessionId, code};

use crate::bounded::{Queue, Text};

/// Most answers to HELLO and PING that wait to be sent.
pub const URGENT_MAX: usize = 8;
/// Most events that wait to be sent; the oldest goes when another comes.
pub const EVENTS_MAX: usize = 64;
/// Most refusals that wait to be sent.
pub const REFUSALS_MAX: usize = 64;
/// Longest name in an event, in bytes, as its length field has it.
const NAME_MAX: usize = 255;

/// Something that happened to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// It came to be.
    Spawn {
        /// The new process.
        pid: u32,
        /// Who started it.
        parent: u32,
        /// Its program; what is over 255 bytes is cut.
        name: &'a [u8],
    },
    /// It ended.
    Exit {
        /// The process.
        pid: u32,
        /// Its exit code.
        code: u32,
        /// Its program.
        name: &'a [u8],
    },
    /// It died of a fault.
    Fault {
        /// The process.
        pid: u32,
        /// Vector of the exception.
        vector: u32,
        /// Its program.
        name: &'a [u8],
    },
}

/// An event as it waits.
#[derive(Clone, Copy)]
pub(crate) struct StoredEvent {
    pub(crate) seq: u32,
    pub(crate) code: u16,
    pub(crate) pid: u32,
    pub(crate) aux: u32,
    pub(crate) info: u32,
    pub(crate) name: Text<NAME_MAX>,
}

impl StoredEvent {
    /// Event number `number` of this boot, from 0.
    pub(crate) fn new(number: u64, event: Event<'_>) -> Self {
        let (code, pid, aux, info, name) = match event {
            Event::Spawn { pid, parent, name } => (code::EVENT_SPAWN, pid, parent, 0, name),
            Event::Exit { pid, code, name } => (code::EVENT_EXIT, pid, 0, code, name),
            Event::Fault { pid, vector, name } => (code::EVENT_FAULT, pid, 0, vector, name),
        };
        // Events have the numbers from EVENT_SEQ_FIRST up to those of asks, then again.
        let range = u64::from(code::ASK_SEQ_FIRST - code::EVENT_SEQ_FIRST);
        let seq = code::EVENT_SEQ_FIRST + u32::try_from(number % range).unwrap_or(0);
        let name = Text::new(&name[..name.len().min(NAME_MAX)]).unwrap_or(Text::EMPTY);
        Self { seq, code, pid, aux, info, name }
    }
}

/// An answer that goes before everything else. HELLO is among them because the peer cannot read an ask of its
/// session before it knows the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgent {
    Hello { seq: u32 },
    Ping { seq: u32, reply: PingReply },
}

/// A response that is only an error, to a request that was not taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The session that the request named, which need not be the current one.
    pub(crate) session: Option<SessionId>,
    pub(crate) seq: u32,
    pub(crate) code: u16,
    pub(crate) status: Status,
}

pub(crate) struct Outbox {
    pub(crate) urgent: Queue<Urgent>,
    pub(crate) events: Queue<StoredEvent>,
    pub(crate) refusals: Queue<Refusal>,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self {
            urgent: Queue::new(URGENT_MAX),
            events: Queue::new(EVENTS_MAX),
            refusals: Queue::new(REFUSALS_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, StoredEvent};
    use askr_wire::code;

    #[test]
    fn event_numbers_stay_in_their_range() {
        let event = Event::Exit { pid: 7, code: 3, name: b"sh" };
        for (number, seq) in
            [(0, 0x4000_0000), (5, 0x4000_0005), (0x3FFF_FFFF, 0x7FFF_FFFF), (0x4000_0000, 0x4000_0000)]
        {
            assert_eq!(StoredEvent::new(number, event).seq, seq);
        }
    }

    #[test]
    fn each_kind_of_event_fills_its_own_fields() {
        let facts = |event| {
            let stored = StoredEvent::new(0, event);
            (stored.code, stored.pid, stored.aux, stored.info, stored.name.get().len())
        };
        let long = [b'x'; 300];
        assert_eq!(facts(Event::Spawn { pid: 2, parent: 1, name: b"sh" }), (code::EVENT_SPAWN, 2, 1, 0, 2));
        assert_eq!(facts(Event::Exit { pid: 2, code: 9, name: b"" }), (code::EVENT_EXIT, 2, 0, 9, 0));
        assert_eq!(
            facts(Event::Fault { pid: 2, vector: 14, name: &long }),
            (code::EVENT_FAULT, 2, 0, 14, 255)
        );
    }
}
