//! The state machine: what goes in, and what is to be done about it.

use askr_wait::Nanos;
use askr_wire::status::Status;
use askr_wire::{BASE_PAYLOAD_MAX, Frame, FrameError, FrameType};

use crate::NANOS_PER_MS;
use crate::asks::AskTable;
use crate::control::Control;
use crate::event::Event;
use crate::event_log::EventLog;
use crate::outbox::{Outbox, Refusal};
use crate::reply_slots::{Asker, BASE_REPLIES_MAX, ReplySlots, State, Token, copy};
use crate::reply_window::ReplyWindow;
use crate::session::{Link, Route};
use crate::stats::{Counter, Stats};
use askr_wire::Door;

/// What is fixed for the life of a router.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Random bytes, new with every boot.
    pub boot_id: [u8; 16],
    /// Version of the kernel, at most 255 bytes; what is over that is not told.
    pub version: &'static str,
    /// How long a session counts as attached after its last frame.
    pub lease: Nanos,
    /// The same for base peers.
    pub base_lease: Nanos,
    /// How often a session is asked to ping, in milliseconds.
    pub ping_ms: u32,
}

impl Config {
    /// The usual times: a lease of 10 s with a ping every 2 s, 60 s for base peers.
    #[must_use]
    pub const fn new(boot_id: [u8; 16], version: &'static str) -> Self {
        let second = 1_000 * NANOS_PER_MS;
        Self { boot_id, version, lease: 10 * second, base_lease: 60 * second, ping_ms: 2_000 }
    }
}

/// What the caller has to do about a frame, after it has let go of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "somebody waits for this"]
pub enum Effect<'a, W> {
    /// Nothing; there may be something to transmit.
    None,
    /// Wake this waiter: its ask is over.
    Wake(W),
    /// Carry out this request and call [`Router::respond`].
    Control(Control<'a>),
}

/// The kernel's end of the agent bus. `W` names whoever waits for an ask: in the kernel, a task.
pub struct Router<W> {
    pub(crate) config: Config,
    pub(crate) stats: Stats,
    pub(crate) link: Link,
    /// Where asks and events went when that was last looked at.
    pub(crate) route: Route,
    /// Those of base peers, by the door they are at.
    pub(crate) base: [ReplySlots; Door::ALL.len()],
    pub(crate) window: ReplyWindow,
    pub(crate) asks: AskTable<W>,
    pub(crate) outbox: Outbox,
    pub(crate) log: EventLog,
    /// Number of responses so far: their order.
    order: u64,
}

impl<W> Router<W> {
    /// A router with nobody attached. This takes all the memory it will ever use, about 540 KiB on the heap,
    /// 256 KiB of it for the answers to as many asks as can wait.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            stats: Stats::new(),
            link: Link::new(config.boot_id, config.lease, config.base_lease),
            route: Route::Nobody,
            base: Door::ALL
                .map(|door| ReplySlots::new(BASE_REPLIES_MAX, BASE_PAYLOAD_MAX, Asker::Base(door))),
            window: ReplyWindow::new(),
            asks: AskTable::new(),
            outbox: Outbox::new(),
            log: EventLog::new(),
            order: 0,
        }
    }

    /// Takes in a whole frame that came through this door. Afterwards there may be something to transmit.
    pub fn on_frame<'f>(&mut self, now: Nanos, door: Door, frame: &Frame<'f>) -> Effect<'f, W> {
        self.stats.count(Counter::FramesIn);
        // A lease that ended before this frame came has ended, also if the frame begins another.
        self.reroute(now);
        let effect = match (frame.kind, frame.session) {
            (FrameType::Request, Some(head)) => self.session_request(now, door, frame, head),
            (FrameType::Request, None) => self.base_request(now, door, frame),
            (FrameType::DecisionResp, head) => self.decision_response(now, door, frame, head),
            // Nothing of this comes from a peer, but a line that echoes would bring it: it renews no lease.
            (FrameType::Response | FrameType::Event | FrameType::DecisionReq, _) => {
                self.stats.count(Counter::FramesUnexpected);
                Effect::None
            }
        };
        self.reroute(now);
        effect
    }

    /// Counts something received that was not a whole frame.
    pub fn on_frame_error(&mut self, error: FrameError) {
        self.stats.count(error.into());
    }

    /// Tells the time. Returns a waiter to wake whose ask is over by it; call this until it returns `None`.
    pub fn tick(&mut self, now: Nanos) -> Option<W> {
        if let Some(waiter) = self.asks.expire(now) {
            self.stats.count(Counter::AsksTimedOut);
            return Some(waiter);
        }
        self.reroute(now);
        let lost = if self.route == Route::Nobody { self.asks.lose() } else { None };
        if lost.is_some() {
            self.stats.count(Counter::AsksLinkLost);
        }
        lost
    }

    /// When [`tick`](Self::tick) has something to do next, if nothing comes in before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Nanos> {
        let ask = self.asks.next_deadline();
        // With nobody attached, asks that still wait are to be ended at once.
        let lease = match self.route {
            Route::Nobody => ask.map(|_| 0),
            route => self.link.lease_end(route),
        };
        [ask, lease].into_iter().flatten().min()
    }

    /// Gives the result of a request that [`Effect::Control`] asked for: a body, or the error. It is dropped
    /// and counted if the session of the request has ended, or if it was given before.
    pub fn respond(&mut self, token: Token, result: Result<&[u8], Status>) {
        self.finish(token, |out| copy(result?)(out));
    }

    /// Whether somebody still waits for the result of this request.
    #[must_use]
    pub fn is_awaited(&self, token: Token) -> bool {
        self.slots(token).is_running(token)
    }

    /// Whether the result of this request was given and waits to be sent.
    #[must_use]
    pub fn is_due(&self, token: Token) -> bool {
        self.slots(token).is_ready(token)
    }

    const fn slots(&self, token: Token) -> &ReplySlots {
        match token.asker {
            Asker::Session => &self.window.slots,
            Asker::Base(door) => &self.base[door.index()],
        }
    }

    /// The id of this boot.
    #[must_use]
    pub const fn boot_id(&self) -> [u8; 16] {
        self.config.boot_id
    }

    /// Something happened. It is kept, and sent if somebody is attached. Returns whether the transmitter should look:
    /// if others wait before this one, it does so anyway.
    pub fn event(&mut self, now: Nanos, event: &Event<'_>) -> bool {
        self.reroute(now);
        let is_first = !self.outbox.has_event(&self.log, self.route);
        self.note_event(now, event);
        is_first && self.outbox.has_event(&self.log, self.route)
    }

    /// Keeps an event; the oldest may go for it.
    fn note_event(&mut self, now: Nanos, event: &Event<'_>) {
        if self.outbox.loses_oldest(&self.log, self.route) {
            self.stats.count(Counter::EventsLost);
        }
        self.log.push(now, event);
        self.stats.count(Counter::Events);
    }

    /// When [`next_frame`](Self::next_frame), which has nothing to send through this door now, has an event: there were
    /// many of them.
    #[must_use]
    pub fn next_event(&mut self, door: Door) -> Option<Nanos> {
        if self.link.door(self.route) != Some(door) {
            return None;
        }
        self.outbox.has_event(&self.log, self.route).then(|| self.outbox.events_from())
    }

    /// The latest events.
    #[must_use]
    pub const fn events(&self) -> &EventLog {
        &self.log
    }

    /// The transmitter of this door stood still too long and gave up the frame it had. If that was an ask, a base peer
    /// would never hear of it, so all that wait are sent again; what else it was is noticed by the peer.
    pub fn on_stall(&mut self, door: Door) {
        self.stats.count(Counter::LinkStalls);
        if self.link.door(self.route) == Some(door) {
            self.asks.resend();
        }
    }

    /// There is nobody at this door any more: what base peers there were to get is given up, and what they asked for will
    /// reach nobody. Asks that one had go to a base peer at another door. A session goes on, also at another door: what is
    /// for it waits for its next frame.
    pub fn on_close(&mut self, now: Nanos, door: Door) {
        if self.route == Route::Base && self.link.door(Route::Base) == Some(door) {
            self.asks.resend();
        }
        self.link.end_base(door);
        let refused = self.outbox.refusals.retain(|refusal| refusal.door != door);
        let dropped = self.base[door.index()].shift(State::Ready, State::Free);
        self.base[door.index()].clear();
        self.stats.add(Counter::RepliesDropped, refused + dropped);
        self.reroute(now);
    }

    /// Counts `n` times something that happened outside, such as an overrun of the receiver.
    pub fn note(&mut self, counter: Counter, n: u64) {
        self.stats.add(counter, n);
    }

    /// Everything that was counted.
    #[must_use]
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Whether somebody is there to answer an ask.
    #[must_use]
    pub fn is_attached(&self, now: Nanos) -> bool {
        self.link.route(now) != Route::Nobody
    }

    /// The next place in the order of responses.
    pub(crate) const fn next_in_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// Stores the response of a request that is being worked on.
    pub(crate) fn finish(&mut self, token: Token, body: impl FnOnce(&mut [u8]) -> Result<usize, Status>) {
        let order = self.next_in_order();
        let stored = match token.asker {
            Asker::Session => self.window.finish(token, order, body),
            Asker::Base(door) => self.base[door.index()].finish(token, (BASE_PAYLOAD_MAX, order), body),
        };
        if !stored {
            self.stats.count(Counter::RepliesOrphaned);
        }
        if self.route == Route::Nobody {
            self.drop_replies();
        }
    }

    /// Takes the responses out of the line. Those of the session are not lost: the window has them for a peer that comes
    /// back and repeats its request.
    fn drop_replies(&mut self) {
        let dropped = self.base.iter_mut().map(|slots| slots.shift(State::Ready, State::Free)).sum();
        self.stats.add(Counter::RepliesDropped, dropped);
        self.window.slots.shift(State::Ready, State::Sent);
        self.window.slots.shift(State::Again, State::Sent);
    }

    /// Answers a request that is not taken on.
    pub(crate) fn refuse(&mut self, door: Door, frame: &Frame<'_>, status: Status) {
        let session = frame.session.map(|head| head.id);
        let status = if session.is_some() { status } else { status.base() };
        self.stats.count(Counter::Refused);
        let refusal = Refusal { door, session, seq: frame.seq, code: frame.code, status };
        if self.outbox.refusals.push(refusal).is_err() {
            self.stats.count(Counter::RepliesDropped);
        }
    }

    /// Looks who is attached. Asks that wait are sent again to whoever is new, and events from now on; when the last one
    /// has gone, nothing stays in line, so that the next one begins with what is for him.
    pub(crate) fn reroute(&mut self, now: Nanos) {
        let route = self.link.route(now);
        if route == self.route {
            return;
        }
        let unsent = self.outbox.skip_events(&self.log, self.route);
        self.stats.add(Counter::EventsLost, unsent);
        self.route = route;
        if route != Route::Nobody {
            self.asks.resend();
            return;
        }
        self.note_event(now, &Event::LinkLost);
        let dropped = self.outbox.urgent.retain(|_| false) + self.outbox.refusals.retain(|_| false);
        self.stats.add(Counter::RepliesDropped, dropped);
        self.drop_replies();
    }
}
