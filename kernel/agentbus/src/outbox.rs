//! What waits to be sent and is not kept elsewhere: urgent answers, refusals, and how far the events have been sent.

use askr_wait::Nanos;
use askr_wire::message::PingReply;
use askr_wire::status::Status;
use askr_wire::{SessionId, code};

use crate::NANOS_PER_MS;
use crate::bounded::Queue;
use crate::event_log::EventLog;
use crate::session::Route;
use askr_wire::Door;

/// Most answers to HELLO and PING that wait to be sent.
pub const URGENT_MAX: usize = 8;
/// Most refusals that wait to be sent.
pub const REFUSALS_MAX: usize = 64;
/// Time between two events on the line in the long run, so that a storm of them takes a small part of the machine, ...
const EVENT_INTERVAL: Nanos = NANOS_PER_MS;
/// ... and how many may go out one after the other before that.
pub const EVENT_BURST: u64 = 64;

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
    /// Where the request came through.
    pub(crate) door: Door,
    /// The session that the request named, which need not be the current one.
    pub(crate) session: Option<SessionId>,
    pub(crate) seq: u32,
    pub(crate) code: u16,
    pub(crate) status: Status,
}

pub(crate) struct Outbox {
    pub(crate) urgent: Queue<Urgent>,
    pub(crate) refusals: Queue<Refusal>,
    /// Number of the first event that whoever is attached was not sent.
    next_event: u64,
    /// The time at which the events sent so far would have ended, one in each [`EVENT_INTERVAL`].
    events_until: Nanos,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        Self {
            urgent: Queue::new(URGENT_MAX),
            refusals: Queue::new(REFUSALS_MAX),
            next_event: 0,
            events_until: 0,
        }
    }

    /// The number of the first event that waits for whoever is at the end of `route`.
    fn waiting_event(&mut self, log: &EventLog, route: Route) -> Option<u64> {
        let waiting = log.from(self.next_event).find(|logged| is_told(route, logged.code));
        // Those before it are told to nobody, so they need no second look.
        self.next_event = waiting.map_or(log.count(), |logged| logged.number);
        waiting.map(|logged| logged.number)
    }

    /// Whether an event waits for whoever is at the end of `route`.
    pub(crate) fn has_event(&mut self, log: &EventLog, route: Route) -> bool {
        self.waiting_event(log, route).is_some()
    }

    /// Takes the next event that may go out now.
    pub(crate) fn take_event(&mut self, now: Nanos, log: &EventLog, route: Route) -> Option<u64> {
        let number = self.waiting_event(log, route).filter(|_| self.events_from() <= now)?;
        self.events_until = self.events_until.max(now) + EVENT_INTERVAL;
        self.next_event = number + 1;
        Some(number)
    }

    /// When the next event may go out.
    pub(crate) const fn events_from(&self) -> Nanos {
        self.events_until.saturating_sub((EVENT_BURST - 1) * EVENT_INTERVAL)
    }

    /// Before the oldest event of a full log goes: whether it was to be sent and is lost now.
    pub(crate) fn loses_oldest(&mut self, log: &EventLog, route: Route) -> bool {
        let first = log.first();
        if !log.is_full() || self.next_event > first {
            return false;
        }
        self.next_event = first + 1;
        log.get(first).is_some_and(|logged| is_told(route, logged.code))
    }

    /// Begins anew for somebody else: events from now on. Returns how many were in line for whoever was at the end of
    /// `route`.
    pub(crate) fn skip_events(&mut self, log: &EventLog, route: Route) -> u64 {
        let lost = log.from(self.next_event).filter(|logged| is_told(route, logged.code)).count();
        self.next_event = log.count();
        lost as u64
    }
}

/// Whether a kind of event goes to whoever is at the end of a route. A base peer knows three kinds.
const fn is_told(route: Route, event: u16) -> bool {
    match route {
        Route::Nobody => false,
        Route::Base => event <= code::EVENT_FAULT,
        Route::Session(_) => true,
    }
}
