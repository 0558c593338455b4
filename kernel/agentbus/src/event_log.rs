//! The latest events, whether somebody was attached or not. What is sent as it happens and what is asked for again
//! both come from here.

use alloc::collections::VecDeque;

use askr_wire::message::{EventsReply, LoggedEvent, ProcessEvent};
use askr_wire::status::Status;
use askr_wire::{ListWriter, Message, Writer, code, ext};

use crate::Nanos;
use crate::bounded::{Queue, Text};
use crate::event::Event;
use crate::fault::Fault;

/// Most events that are kept; the oldest goes when another comes.
pub const LOG_MAX: usize = 1024;
/// Most bytes of a name that are kept.
pub const NAME_MAX: usize = 64;
/// Most faults of which the facts are kept.
pub const FAULTS_MAX: usize = 64;
/// Room for the ext of an event, in bytes: one item with the facts of a fault.
pub(crate) const EVENT_EXT_MAX: usize = 320;

/// An event as it is kept.
struct Stored {
    time: Nanos,
    code: u16,
    pid: u32,
    aux: u32,
    info: u32,
    name: Text<NAME_MAX>,
}

/// An event that was kept.
#[derive(Clone, Copy, Debug)]
pub struct Logged<'a> {
    /// Which event of this boot it is, from 0.
    pub number: u64,
    /// When it happened: nanoseconds since boot.
    pub time: Nanos,
    /// Which event it is: see [`askr_wire::code`].
    pub code: u16,
    /// What is said about it.
    pub event: ProcessEvent<'a>,
    /// What is known of the fault, if it is one of the last [`FAULTS_MAX`].
    pub fault: Option<&'a Fault>,
}

impl Logged<'_> {
    /// Writes its ext and returns the length of that.
    pub(crate) fn ext(&self, out: &mut [u8; EVENT_EXT_MAX]) -> usize {
        let Some(fault) = self.fault else { return 0 };
        let mut facts = [0; EVENT_EXT_MAX];
        let put = fault.with_facts(|them| them.encode(&mut facts)).and_then(|len| {
            let mut writer = Writer::new(out);
            ext::put_item(&mut writer, (ext::FAULT_FACTS, &facts[..len]))?;
            Ok(writer.len())
        });
        debug_assert!(put.is_ok(), "the longest backtrace fits");
        put.unwrap_or(0)
    }
}

/// The latest events of this boot.
pub struct EventLog {
    events: VecDeque<Stored>,
    faults: Queue<(u64, Fault)>,
    count: u64,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        Self { events: VecDeque::with_capacity(LOG_MAX), faults: Queue::new(FAULTS_MAX), count: 0 }
    }

    pub(crate) fn push(&mut self, time: Nanos, event: &Event<'_>) {
        let (code, ProcessEvent { pid, aux, info, name }) = event.message();
        if self.is_full() {
            // That it went is told by the numbers: those of the events that are kept have no gap.
            self.events.pop_front();
        }
        let name = Text::new(&name[..name.len().min(NAME_MAX)]).unwrap_or(Text::EMPTY);
        self.events.push_back(Stored { time, code, pid, aux, info, name });
        if let Event::Fault { fault, .. } = event {
            self.faults.push_over((self.count, **fault));
        }
        self.count += 1;
    }

    /// How many there were since boot: the number of the next one.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the next one overwrites the oldest.
    pub(crate) fn is_full(&self) -> bool {
        self.events.len() == LOG_MAX
    }

    /// The number of the oldest one that is kept.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.count - self.events.len() as u64
    }

    /// The event of this number, if it is kept.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<Logged<'_>> {
        let index = usize::try_from(number.checked_sub(self.first())?).ok()?;
        let Stored { time, code, pid, aux, info, name } = self.events.get(index)?;
        let event = ProcessEvent { pid: *pid, aux: *aux, info: *info, name: name.get() };
        let mut faults = self.faults.iter().filter(|_| *code == code::EVENT_FAULT);
        let fault = faults.find(|(of, _)| *of == number).map(|(_, fault)| fault);
        Some(Logged { number, time: *time, code: *code, event, fault })
    }

    /// Those that are kept, from `number` on, the oldest first.
    pub fn from(&self, number: u64) -> impl Iterator<Item = Logged<'_>> {
        (number.max(self.first())..self.count).filter_map(|number| self.get(number))
    }

    /// Writes the body of the response to EVENTS: those from `cursor` on, as many as fit.
    pub(crate) fn encode(&self, cursor: u64, out: &mut [u8]) -> Result<usize, Status> {
        if cursor > self.count {
            return Err(Status::Inval); // not of this boot
        }
        let lost = self.first().saturating_sub(cursor);
        let (head, list) = out.split_at_mut_checked(EventsReply::HEAD_LEN).ok_or(Status::MsgSize)?;
        let mut writer = Writer::new(head);
        writer.u64(lost).and_then(|()| writer.u64(self.count)).map_err(|_| Status::MsgSize)?;
        let mut list = ListWriter::new(list).map_err(|_| Status::MsgSize)?;
        for logged in self.from(cursor) {
            let mut ext = [0; EVENT_EXT_MAX];
            let len = logged.ext(&mut ext);
            let Logged { time, code, event, .. } = logged;
            if list.push(&LoggedEvent { time_ns: time, code, event, ext: &ext[..len] }).is_err() {
                break;
            }
        }
        Ok(EventsReply::HEAD_LEN + list.finish())
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::{EventLog, FAULTS_MAX, LOG_MAX};
    use crate::event::Event;
    use crate::fault::{Backtrace, Fault};
    use askr_wire::message::{BACKTRACE_MAX, EventsReply, FaultFacts, LoggedEvent};
    use askr_wire::status::Status;
    use askr_wire::{BASE_PAYLOAD_MAX, Message, SESSION_HEAD_LEN, code, ext, ext_items};

    const EXIT: Event<'static> = Event::Exit { pid: 9, code: 0, name: b"x" };

    /// A fault with the longest backtrace.
    fn fault(rip: u64) -> Fault {
        let mut backtrace = Backtrace::default();
        (0..BACKTRACE_MAX as u64).for_each(|n| backtrace.push(n));
        Fault { signal: 11, vector: 14, error: 6, address: 8, rip, registers: [7; 17], backtrace }
    }

    /// One page of the answer to EVENTS: what was lost, and the numbers.
    fn page(log: &EventLog, cursor: u64, room: usize) -> (u64, Vec<u64>) {
        let mut out = vec![0; room];
        let len = log.encode(cursor, &mut out).unwrap();
        let reply = EventsReply::decode(&out[..len]).unwrap();
        assert_eq!(reply.count, log.count());
        let numbers = (cursor + reply.lost..).zip(reply.events.iter()).map(|(number, _)| number);
        (reply.lost, numbers.collect())
    }

    #[test]
    fn the_latest_are_kept_as_they_were() {
        let mut log = EventLog::new();
        let fault = fault(1);
        let events = [
            Event::Spawn { pid: 2, parent: 1, name: b"sh" },
            Event::Fault { pid: 2, name: b"sh", fault: &fault },
            Event::Exit { pid: 2, code: 139, name: b"" },
        ];
        for (time, event) in (10..).zip(&events) {
            log.push(time, event);
        }
        for (number, event) in (0..).zip(&events) {
            let logged = log.get(number).unwrap();
            assert_eq!((logged.number, logged.time), (number, 10 + number));
            assert_eq!((logged.code, logged.event), event.message());
            assert_eq!(logged.fault.is_some(), logged.code == code::EVENT_FAULT);
        }
        for pid in 0..2000 {
            log.push(0, &Event::Exit { pid, code: 0, name: &[b'x'; 300] });
        }
        assert_eq!((log.count(), log.first(), log.from(0).count()), (2003, 2003 - LOG_MAX as u64, LOG_MAX));
        assert!(log.get(log.first() - 1).is_none() && log.get(log.count()).is_none());
        let numbers: Vec<u64> = log.from(0).map(|logged| logged.number).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]) && numbers.last() == Some(&2002));
        assert_eq!(log.get(2002).unwrap().event.name, [b'x'; 64]);
    }

    #[test]
    fn the_facts_of_the_last_faults_are_kept_and_go_out_whole() {
        let mut log = EventLog::new();
        for rip in 0..70 {
            log.push(0, &Event::Fault { pid: 1, name: &[b'n'; 64], fault: &fault(rip) });
            log.push(0, &EXIT);
        }
        let with_facts: Vec<u64> =
            log.from(0).filter(|logged| logged.fault.is_some()).map(|logged| logged.number / 2).collect();
        assert_eq!(with_facts, (70 - FAULTS_MAX as u64..70).collect::<Vec<_>>());
        // The smallest frame of a session has room for the largest event.
        let mut out = [0; BASE_PAYLOAD_MAX - SESSION_HEAD_LEN - 1];
        let len = log.encode(138, &mut out).unwrap();
        let reply = EventsReply::decode(&out[..len]).unwrap();
        let LoggedEvent { ext: bytes, .. } = reply.events.iter().next().unwrap();
        let (kind, item) = ext_items(bytes).next().unwrap().unwrap();
        assert_eq!((kind, ext_items(bytes).count()), (ext::FAULT_FACTS, 1));
        let facts = FaultFacts::decode(item).unwrap();
        assert_eq!((facts.rip, facts.backtrace.iter().count()), (69, BACKTRACE_MAX));
    }

    #[test]
    fn pages_follow_each_other_and_what_went_is_counted_exactly() {
        let mut log = EventLog::new();
        assert_eq!(page(&log, 0, 100), (0, vec![]));
        assert_eq!(log.encode(1, &mut [0; 100]), Err(Status::Inval), "of another boot");
        for _ in 0..LOG_MAX + 5 {
            log.push(7, &EXIT);
        }
        let (mut cursor, mut seen) = (2, Vec::new());
        for _ in 0..LOG_MAX {
            let (lost, numbers) = page(&log, cursor, 200);
            assert_eq!(lost, if seen.is_empty() { 3 } else { 0 });
            let Some(last) = numbers.last() else { break };
            cursor = last + 1;
            seen.extend(numbers);
        }
        assert_eq!(seen, (5..LOG_MAX as u64 + 5).collect::<Vec<_>>());
        assert_eq!(page(&log, log.count(), 200), (0, vec![]));
        assert_eq!(log.encode(0, &mut [0; 17]), Err(Status::MsgSize));
    }
}
