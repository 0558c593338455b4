//! The latest events, whether somebody was attached or not.

use crate::Nanos;
use crate::bounded::{Queue, Text};
use crate::outbox::Event;

/// Most events that are kept; the oldest goes when another comes.
pub const LOG_MAX: usize = 256;
/// Most bytes of a program's name that are kept.
const NAME_MAX: usize = 64;

/// An event that was kept.
#[derive(Clone, Copy, Debug)]
pub struct Logged {
    number: u64,
    time: Nanos,
    kind: Kind,
    pid: u32,
    detail: u32,
    name: Text<NAME_MAX>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Spawn,
    Exit,
    Fault,
}

impl Logged {
    /// Which event of this boot it is, from 0.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// When it happened: nanoseconds since boot.
    #[must_use]
    pub const fn time(&self) -> Nanos {
        self.time
    }

    /// What happened. Of the name, what is over 64 bytes is cut.
    #[must_use]
    pub fn event(&self) -> Event<'_> {
        let (pid, detail, name) = (self.pid, self.detail, self.name.get());
        match self.kind {
            Kind::Spawn => Event::Spawn { pid, parent: detail, name },
            Kind::Exit => Event::Exit { pid, code: detail, name },
            Kind::Fault => Event::Fault { pid, vector: detail, name },
        }
    }
}

/// The latest events of this boot.
pub struct EventLog {
    events: Queue<Logged>,
    count: u64,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        Self { events: Queue::new(LOG_MAX), count: 0 }
    }

    pub(crate) fn push(&mut self, time: Nanos, event: Event<'_>) {
        let (kind, pid, detail, name) = match event {
            Event::Spawn { pid, parent, name } => (Kind::Spawn, pid, parent, name),
            Event::Exit { pid, code, name } => (Kind::Exit, pid, code, name),
            Event::Fault { pid, vector, name } => (Kind::Fault, pid, vector, name),
        };
        let name = Text::new(&name[..name.len().min(NAME_MAX)]).unwrap_or(Text::EMPTY);
        // What goes is told by the numbers: those of the events that are kept have no gap.
        self.events.push_over(Logged { number: self.count, time, kind, pid, detail, name });
        self.count += 1;
    }

    /// Those that are kept, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Logged> {
        self.events.iter()
    }

    /// How many there were since boot.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::{EventLog, LOG_MAX};
    use crate::outbox::Event;
    use alloc::vec::Vec;

    #[test]
    fn the_latest_are_kept_as_they_were() {
        let mut log = EventLog::new();
        let events = [
            Event::Spawn { pid: 2, parent: 1, name: b"sh" },
            Event::Fault { pid: 2, vector: 14, name: b"sh" },
            Event::Exit { pid: 2, code: 139, name: b"" },
        ];
        for (time, event) in (10..).zip(events) {
            log.push(time, event);
        }
        let kept: Vec<_> =
            log.iter().map(|logged| (logged.number(), logged.time(), logged.event())).collect();
        assert_eq!(kept, [(0, 10, events[0]), (1, 11, events[1]), (2, 12, events[2])]);
        for pid in 0..1000 {
            log.push(0, Event::Exit { pid, code: 0, name: &[b'x'; 300] });
        }
        assert_eq!((log.count(), log.iter().count()), (1003, LOG_MAX));
        let numbers: Vec<u64> = log.iter().map(super::Logged::number).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]) && numbers.last() == Some(&1002));
        let last = Event::Exit { pid: 999, code: 0, name: &[b'x'; 64] };
        assert_eq!(log.iter().last().map(super::Logged::event), Some(last));
    }
}
