//! The guest's events in order: what was lost on the line is fetched again, what the guest no longer has is told.

use std::time::{Duration, Instant};

use askr_wire::message::{EventsReply, EventsRequest, FaultFacts, LoggedEvent, ProcessEvent, REGISTERS};
use askr_wire::status::Status;
use askr_wire::{Message, code, ext};

use super::calls::{Call, Done};
use super::machine::{Machine, payload_of};
use super::{BootId, CallError, Notice, Reply};
use crate::link::OwnedFrame;

/// Time for one page of the guest's events.
const PULL_DEADLINE: Duration = Duration::from_secs(5);
/// Sequence numbers of events begin anew after so many.
const SEQ_RANGE: u32 = code::ASK_SEQ_FIRST - code::EVENT_SEQ_FIRST;

/// Something happened in the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// In this boot.
    pub boot: BootId,
    /// Which event of this boot it is, from 0.
    pub number: u64,
    /// When: nanoseconds since boot; `None` where the guest did not say.
    pub time_ns: Option<u64>,
    /// What: [`code::EVENT_SPAWN`] and those after it.
    pub code: u16,
    /// The process.
    pub pid: u32,
    /// Spawn: the parent. Out of memory: who wanted more.
    pub aux: u32,
    /// Exit: the exit code. Fault: the vector. Out of memory: KiB.
    pub info: u32,
    /// Name of the program, or of whatever else it is about.
    pub name: Vec<u8>,
    /// What is known of a fault.
    pub fault: Option<Fault>,
}

/// What is known of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The signal that ended the process.
    pub signal: u8,
    /// Vector of the exception.
    pub vector: u8,
    /// Error code of the exception.
    pub error: u64,
    /// The address that was accessed.
    pub address: u64,
    /// Where the program was.
    pub rip: u64,
    /// Its registers, in the order of [`askr_wire::message::REGISTER_NAMES`].
    pub registers: [u64; REGISTERS],
    /// Return addresses, the innermost first.
    pub backtrace: Vec<u64>,
    /// Where `rip` and the return addresses lie in the program's source, where that is known.
    #[cfg(feature = "symbols")]
    pub places: Vec<crate::symbols::Place>,
}

impl From<FaultFacts<'_>> for Fault {
    fn from(facts: FaultFacts<'_>) -> Self {
        Self {
            signal: facts.signal,
            vector: facts.vector,
            error: facts.error,
            address: facts.address,
            rip: facts.rip,
            registers: facts.registers,
            backtrace: facts.backtrace.iter().map(|address| address.0).collect(),
            #[cfg(feature = "symbols")]
            places: Vec::new(),
        }
    }
}

impl Event {
    /// An event with its ext.
    pub(crate) fn new(boot: BootId, number: u64, code: u16, event: &ProcessEvent<'_>, items: &[u8]) -> Self {
        let facts = ext::find(items, ext::FAULT_FACTS).and_then(|bytes| FaultFacts::decode(bytes).ok());
        let fault = facts.map(Fault::from);
        let name = event.name.to_vec();
        let (pid, aux, info) = (event.pid, event.aux, event.info);
        Self { boot, number, time_ns: None, code, pid, aux, info, name, fault }
    }

    /// An event of the guest's ring.
    pub(crate) fn logged(boot: BootId, number: u64, logged: &LoggedEvent<'_>) -> Self {
        let event = Self::new(boot, number, logged.code, &logged.event, logged.ext);
        Self { time_ns: Some(logged.time_ns), ..event }
    }
}

/// How far the events of this boot were told.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Number of the next event to tell.
    next: u64,
    /// How many the guest is known to have had.
    known: u64,
    /// From which event on others are being fetched.
    pulling: Option<u64>,
    /// The guest has no verb for it.
    unsupported: bool,
}

impl Events {
    /// Tells from event `next` of a boot on.
    pub(super) fn begin(&mut self, next: u64) {
        *self = Self { next, ..Self::default() };
    }

    /// The guest has had `count` events, and may have had more before it was set back.
    pub(super) fn go_back(&mut self, count: u64) {
        self.begin(count.min(self.next));
    }

    /// The number of an event with this `seq`, taken for the one nearest to those that are expected.
    fn number(&self, seq: u32) -> Option<u64> {
        let offset = u64::from(seq.checked_sub(code::EVENT_SEQ_FIRST).filter(|&offset| offset < SEQ_RANGE)?);
        let range = u64::from(SEQ_RANGE);
        let ahead = (offset + range - self.next % range) % range;
        if ahead < range / 2 { Some(self.next + ahead) } else { (self.next + ahead).checked_sub(range) }
    }
}

impl Machine {
    /// An event on the line. One that is not the next has others before it, which are fetched with it.
    pub(super) fn on_event(&mut self, now: Instant, frame: &OwnedFrame, items: &[u8]) {
        let (Some(peer), Ok(event)) = (&self.peer, ProcessEvent::decode(&frame.payload)) else {
            self.counters.stray_frames += 1;
            return;
        };
        let Some(number) = self.events.number(frame.seq) else {
            self.counters.stray_frames += 1;
            return;
        };
        if number < self.events.next || (number > self.events.next && !self.events.unsupported) {
            return self.expect_events(now, number + 1);
        }
        let event = Event::new(peer.boot, number, frame.code, &event, items);
        self.tell_lost(event.boot, number);
        self.events.next = number + 1;
        self.output.notices.push(Notice::Event(event));
    }

    /// The guest has had `count` events: those that were not told are fetched, now or after those that are being fetched.
    pub(super) fn expect_events(&mut self, now: Instant, count: u64) {
        self.events.known = self.events.known.max(count);
        if self.events.known > self.events.next && self.events.pulling.is_none() && !self.events.unsupported {
            self.events.pulling = Some(self.events.next);
            self.pull_events(now);
        }
    }

    fn pull_events(&mut self, now: Instant) {
        let call = Call {
            code: code::EVENTS,
            payload: payload_of(&EventsRequest { cursor: self.events.next }),
            mutating: false,
            pinned: self.peer.as_ref().map(|peer| peer.boot),
            deadline: now + PULL_DEADLINE,
            done: Done::Events,
        };
        self.submit(now, call);
    }

    pub(super) fn on_events_page(&mut self, now: Instant, result: Result<Reply, CallError>) {
        let asked = self.events.pulling.take().unwrap_or(self.events.next);
        let reply = match result {
            Ok(reply) => reply,
            // The next ping asks again.
            Err(error) => {
                self.events.unsupported = error == CallError::Guest(Status::NoSys);
                return;
            }
        };
        let Ok(page) = EventsReply::decode(&reply.body) else {
            self.counters.stray_frames += 1;
            return;
        };
        // Those that came on the line meanwhile have been told.
        let first = asked.saturating_add(page.lost);
        self.tell_lost(reply.boot, first);
        for (number, logged) in (first..).zip(page.events) {
            if number == self.events.next {
                self.events.next += 1;
                self.output.notices.push(Notice::Event(Event::logged(reply.boot, number, &logged)));
            }
        }
        if page.events.is_empty() && page.lost == 0 {
            // The guest has no more, whatever was expected: it is not asked again before it says so.
            self.events.known = page.count;
        } else {
            self.expect_events(now, page.count);
        }
    }

    /// Events before number `first` that were not told will not be.
    fn tell_lost(&mut self, boot: BootId, first: u64) {
        if let Some(count @ 1..) = first.checked_sub(self.events.next) {
            let from = self.events.next;
            self.output.notices.push(Notice::EventsLost { boot, from, count });
            self.events.next = first;
        }
    }
}
