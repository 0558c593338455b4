//! What a frame of a peer leads to.

use askr_abi::Decider;
use askr_wait::Nanos;
use askr_wire::message::{
    AnswerReply, AnswerRequest, AsksRequest, Decision, EventsRequest, HelloRequest, PingReply, PingRequest,
};
use askr_wire::status::Status;
use askr_wire::{BASE_PAYLOAD_MAX, Frame, Message, SessionHead, code, ext_items};

use crate::asks::Delivery;
use crate::control::{Control, Request, malformed};
use crate::outbox::Urgent;
use crate::policy::Origin;
use crate::reply_slots::{Token, message};
use crate::reply_window::Admission;
use crate::router::{Effect, Router};
use crate::session::Greeting;
use crate::stats::Counter;
use askr_wire::Door;

impl<W> Router<W> {
    /// A request of a base peer. It is served beside a session: whoever speaks only the base may come after one
    /// who spoke more, and can neither end nor disturb the session. Its answer goes where it came from.
    pub(crate) fn base_request<'f>(&mut self, now: Nanos, door: Door, frame: &Frame<'f>) -> Effect<'f, W> {
        if frame.code == code::HELLO {
            if let Err(status) = self.hello(now, door, frame) {
                self.refuse(door, frame, status);
            }
            return Effect::None;
        }
        self.link.renew_base(now, door);
        let slots = &mut self.base[door.index()];
        match Request::decode_base(frame.code, frame.payload) {
            Ok(request) => match slots.free() {
                Some(index) => {
                    self.stats.count(Counter::Requests);
                    let token = slots.open(index, self.link.key(frame));
                    let origin = Origin::Agent { session: None };
                    let (code, payload) = (frame.code, frame.payload);
                    let body_max = BASE_PAYLOAD_MAX - 1;
                    Effect::Control(Control { token, origin, code, payload, request, body_max })
                }
                None => {
                    self.stats.count(Counter::Busy);
                    self.refuse(door, frame, Status::Busy);
                    Effect::None
                }
            },
            Err(status) => {
                self.refuse(door, frame, status);
                Effect::None
            }
        }
    }

    fn hello(&mut self, now: Nanos, door: Door, frame: &Frame<'_>) -> Result<(), Status> {
        let hello = HelloRequest::decode(frame.payload).map_err(malformed)?;
        match self.link.hello(now, door, &hello, self.log.count()) {
            Ok(Greeting::Repeated) => self.stats.count(Counter::HellosRepeated),
            Ok(Greeting::Opened) => {
                self.stats.count(Counter::Sessions);
                if let Some(session) = self.link.session() {
                    self.window.begin(session);
                }
                self.outbox.urgent.retain(|_| false);
                self.outbox.refusals.retain(|refusal| refusal.session.is_none());
            }
            Err(status) => {
                self.stats.add(Counter::Stale, u64::from(status == Status::Stale));
                return Err(status);
            }
        }
        self.urgent(Urgent::Hello { seq: frame.seq });
        Ok(())
    }

    /// A request in a session frame.
    pub(crate) fn session_request<'f>(
        &mut self,
        now: Nanos,
        door: Door,
        frame: &Frame<'f>,
        head: SessionHead<'f>,
    ) -> Effect<'f, W> {
        if self.link.renew(now, door, head.id).is_none() {
            self.stats.count(Counter::Stale);
            self.refuse(door, frame, Status::Stale);
            return Effect::None;
        }
        if ext_items(head.ext).any(|item| item.is_err()) || frame.code == code::HELLO {
            self.refuse(door, frame, Status::Inval);
            return Effect::None;
        }
        if frame.code == code::PING {
            self.ping(now, door, frame, head);
            return Effect::None;
        }
        let order = self.next_in_order();
        let refusal = match self.window.admit(self.link.key(frame), order) {
            Admission::New(token) => {
                self.stats.count(Counter::Requests);
                return self.serve(now, frame, head, token);
            }
            Admission::Replayed => return self.repeated(Counter::Replayed),
            Admission::Running => return self.repeated(Counter::Repeated),
            Admission::Conflict => Status::Inval,
            Admission::Below => {
                self.stats.count(Counter::Stale);
                Status::Stale
            }
            Admission::Busy => {
                self.stats.count(Counter::Busy);
                Status::Busy
            }
        };
        self.refuse(door, frame, refusal);
        Effect::None
    }

    fn repeated<'f>(&mut self, counter: Counter) -> Effect<'f, W> {
        self.stats.count(counter);
        Effect::None
    }

    /// Answers a ping outside the window: it changes nothing, and must get through when the window is full.
    fn ping(&mut self, now: Nanos, door: Door, frame: &Frame<'_>, head: SessionHead<'_>) {
        let Some(session) = self.link.renew(now, door, head.id) else { return };
        let taken = PingRequest::decode(frame.payload)
            .map_err(malformed)
            .and_then(|ping| session.ping(frame.seq, ping));
        match taken {
            Ok(Some(previous_counter)) => {
                self.stats.count(Counter::Pings);
                let reply = PingReply {
                    previous_counter,
                    pending_asks: u16::try_from(self.asks.pending()).unwrap_or(u16::MAX),
                    event_cursor: self.log.count(),
                    uptime_ns: now,
                };
                self.urgent(Urgent::Ping { seq: frame.seq, reply });
            }
            Ok(None) => self.stats.count(Counter::Repeated),
            Err(status) => self.refuse(door, frame, status),
        }
    }

    /// Puts an urgent answer in line, once however often it was asked for.
    fn urgent(&mut self, urgent: Urgent) {
        let same = |other: &Urgent| match (urgent, other) {
            (Urgent::Hello { seq }, Urgent::Hello { seq: other })
            | (Urgent::Ping { seq, .. }, Urgent::Ping { seq: other, .. }) => seq == *other,
            _ => false,
        };
        if !self.outbox.urgent.iter().any(same) && self.outbox.urgent.push(urgent).is_err() {
            self.stats.count(Counter::RepliesDropped);
        }
    }

    /// Serves a request that is new in the session.
    fn serve<'f>(
        &mut self,
        now: Nanos,
        frame: &Frame<'f>,
        head: SessionHead<'f>,
        token: Token,
    ) -> Effect<'f, W> {
        let served = match frame.code {
            code::STATS => self.serve_stats(frame, token),
            code::ASKS => self.serve_asks(now, frame, token),
            code::ANSWER => self.serve_answer(frame, token),
            code::EVENTS => self.serve_events(frame, token),
            _ => Request::decode(frame.code, frame.payload).map(|request| {
                let body_max = self.window.body_max();
                let origin = Origin::Agent { session: Some(head.id) };
                let (code, payload) = (frame.code, frame.payload);
                Effect::Control(Control { token, origin, code, payload, request, body_max })
            }),
        };
        served.unwrap_or_else(|status| {
            self.finish(token, |_| Err(status));
            Effect::None
        })
    }

    fn serve_stats<'f>(&mut self, frame: &Frame<'_>, token: Token) -> Result<Effect<'f, W>, Status> {
        <()>::decode(frame.payload).map_err(malformed)?;
        let order = self.next_in_order();
        self.window.finish(token, order, |out| self.stats.encode(out));
        Ok(Effect::None)
    }

    fn serve_asks<'f>(
        &mut self,
        now: Nanos,
        frame: &Frame<'_>,
        token: Token,
    ) -> Result<Effect<'f, W>, Status> {
        let AsksRequest { start } = AsksRequest::decode(frame.payload).map_err(malformed)?;
        let order = self.next_in_order();
        self.window.finish(token, order, |out| self.asks.encode(now, start, out));
        Ok(Effect::None)
    }

    fn serve_events<'f>(&mut self, frame: &Frame<'_>, token: Token) -> Result<Effect<'f, W>, Status> {
        let EventsRequest { cursor } = EventsRequest::decode(frame.payload).map_err(malformed)?;
        let order = self.next_in_order();
        self.window.finish(token, order, |out| self.log.encode(cursor, out));
        Ok(Effect::None)
    }

    fn serve_answer<'f>(&mut self, frame: &Frame<'_>, token: Token) -> Result<Effect<'f, W>, Status> {
        let AnswerRequest { ask, decision } = AnswerRequest::decode(frame.payload).map_err(malformed)?;
        let (reply, effect) = match self.deliver(ask, None, decision, Decider::Agent) {
            Delivery::Accepted(waiter) => (AnswerReply::Accepted, Effect::Wake(waiter)),
            Delivery::Late => (AnswerReply::Late, Effect::None),
            Delivery::Unknown => (AnswerReply::Unknown, Effect::None),
            Delivery::NotAChoice => (AnswerReply::NotAChoice, Effect::None),
        };
        self.finish(token, message(reply));
        Ok(effect)
    }

    /// The answer to an ask in the manner of the base.
    pub(crate) fn decision_response<'f>(
        &mut self,
        now: Nanos,
        door: Door,
        frame: &Frame<'_>,
        head: Option<SessionHead<'_>>,
    ) -> Effect<'f, W> {
        match head {
            None => self.link.renew_base(now, door),
            Some(head) => {
                if self.link.renew(now, door, head.id).is_none() {
                    self.stats.count(Counter::Stale);
                    return Effect::None;
                }
            }
        }
        let decision = Decision::Answer(frame.payload);
        match self.deliver(frame.seq, Some(frame.code), decision, Decider::Agent) {
            Delivery::Accepted(waiter) => Effect::Wake(waiter),
            Delivery::Late | Delivery::Unknown | Delivery::NotAChoice => Effect::None,
        }
    }
}
