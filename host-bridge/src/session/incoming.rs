//! What the guest's frames do to the conversation.

use std::time::{Duration, Instant};

use askr_wire::message::{AsksRequest, HelloReply, PendingAsk, PingReply, Response};
use askr_wire::status::Status;
use askr_wire::{FrameType, List, Message, SessionId, code};

use super::calls::{Call, Done, Settled};
use super::machine::{Greeting, Machine, payload_of};
use super::{Ask, AskEnd, AskId, CallError, Notice, Peer, Pong, Reply};
use crate::link::{Door, OwnedFrame};

/// Time for one page of the guest's asks.
const PULL_DEADLINE: Duration = Duration::from_secs(5);

impl Machine {
    pub(super) fn on_frame(&mut self, now: Instant, door: Door, frame: &OwnedFrame) {
        match &frame.session {
            None if frame.kind == FrameType::Response && frame.code == code::HELLO => {
                self.on_hello(now, door, frame);
            }
            // In our session yet answered as to a base peer: the guest has no session any more.
            None if frame.kind == FrameType::Response && self.calls.expects(frame.seq, frame.code) => {
                if self.is_ready() {
                    self.greet(now, Greeting::Resume);
                }
            }
            Some((id, items)) if self.is_ours(*id) => self.on_session_frame(now, frame, items),
            _ => self.counters.stray_frames += 1,
        }
        self.send_queued(now);
    }

    fn is_ours(&self, id: SessionId) -> bool {
        self.is_connected() && self.peer.as_ref().is_some_and(|peer| peer.session == id)
    }

    fn on_session_frame(&mut self, now: Instant, frame: &OwnedFrame, items: &[u8]) {
        match frame.kind {
            FrameType::Response => self.on_response(now, frame),
            FrameType::DecisionReq => self.on_ask(now, frame, items),
            FrameType::Event => self.on_event(now, frame, items),
            FrameType::Request | FrameType::DecisionResp => self.counters.stray_frames += 1,
        }
    }

    fn on_hello(&mut self, now: Instant, door: Door, frame: &OwnedFrame) {
        if !self.waits_for_hello(door) || frame.seq != self.hello_seq {
            return;
        }
        let response = Response::decode(&frame.payload);
        if response.is_ok_and(|response| response.status != Status::Ok) {
            // The session that this nonce stands for has ended, as by another host's HELLO meanwhile. If there was one of
            // ours up to now, the next ping is answered ESTALE.
            if !self.is_ready() {
                self.renew_nonce();
            }
            return;
        }
        let hello = response.ok().and_then(|response| HelloReply::decode(response.body).ok());
        let Some(peer) = hello.as_ref().and_then(Peer::from_hello) else {
            self.counters.stray_frames += 1;
            return;
        };
        let event_cursor = hello.map_or(0, |hello| hello.event_cursor);
        let same_boot = self.peer.as_ref().is_some_and(|old| old.boot == peer.boot);
        let same_session = same_boot && self.peer.as_ref().is_some_and(|old| old.session == peer.session);
        let had_peer = self.peer.replace(peer).is_some();
        self.become_ready(now, door);
        if same_session {
            self.calls.resend_all(now);
            return;
        }
        self.counters.sessions += 1;
        self.ping_counter = 0;
        let set_back = std::mem::take(&mut self.set_back);
        if had_peer && (set_back || !same_boot) {
            // What has the number of a known ask from here on is another one.
            let gone = self.asks.clear();
            self.tell_ended(gone, if same_boot { &AskEnd::Gone } else { &AskEnd::Restarted });
        }
        for settled in self.calls.end_session(had_peer && !same_boot) {
            self.settle(now, settled);
        }
        self.pull_asks(now);
        if !same_boot {
            // Of a boot that began before our time only what comes is told; of one that we saw begin, everything.
            self.events.begin(if had_peer { 0 } else { event_cursor });
        } else if set_back {
            // Numbers that were told come again, for other events.
            self.events.go_back(event_cursor);
        }
        self.expect_events(now, event_cursor);
    }

    fn on_response(&mut self, now: Instant, frame: &OwnedFrame) {
        let Some(boot) = self.peer.as_ref().map(|peer| peer.boot) else { return };
        if !self.calls.expects(frame.seq, frame.code) {
            self.counters.stray_frames += 1;
            return;
        }
        let response = Response::decode(&frame.payload);
        if response.is_ok_and(|response| response.status == Status::Stale) {
            self.calls.refused_as_stale(frame.seq, boot);
            if self.is_ready() {
                self.greet(now, Greeting::Anew);
            }
            return;
        }
        let Some(call) = self.calls.answered(frame.seq) else { return };
        self.calls.overtake(now, frame.seq);
        let result = match response {
            Err(_) => Err(CallError::Protocol("the response is malformed")),
            Ok(Response { status: Status::Ok, body }) => Ok(Reply { boot, body: body.to_vec() }),
            Ok(Response { status, .. }) => Err(CallError::Guest(status)),
        };
        self.settle(now, (call.done, result));
    }

    /// Tells whoever made the call, or does what the session itself made it for.
    pub(super) fn settle(&mut self, now: Instant, (done, result): Settled) {
        match done {
            // The caller may have given up by its own clock; then nobody wants to know.
            Done::Caller(caller) => drop(caller.send(result)),
            Done::Ping(counter) => {
                let since = self.pinging.take().unwrap_or(now);
                if let Ok(reply) = result {
                    self.on_pong(now, since, counter, &reply);
                }
            }
            Done::Pull(start) => match result {
                Ok(reply) => self.on_asks_page(now, start, &reply),
                Err(_) => self.asks.abandon_pull(),
            },
            Done::Events => self.on_events_page(now, result),
        }
    }

    fn on_pong(&mut self, now: Instant, since: Instant, counter: u32, reply: &Reply) {
        let Ok(pong) = PingReply::decode(&reply.body) else {
            self.counters.stray_frames += 1;
            return;
        };
        let expected = std::mem::replace(&mut self.ping_counter, counter);
        if pong.previous_counter != expected {
            // The guest was set back to an earlier state: what it remembers of this session is not what we do.
            self.set_back = true;
            return self.greet(now, Greeting::Anew);
        }
        self.become_verified();
        for (_, waiter) in self.pong_waiters.drain(..) {
            // Whoever gave up waiting does not want to know.
            let _ = waiter.send(Pong {
                boot: reply.boot,
                round_trip: now.saturating_duration_since(since),
                pending_asks: pong.pending_asks,
                event_cursor: pong.event_cursor,
                uptime_ns: pong.uptime_ns,
            });
        }
        if usize::from(pong.pending_asks) != self.asks.len() {
            self.pull_asks(now);
        }
        self.expect_events(now, pong.event_cursor);
    }

    fn pull_asks(&mut self, now: Instant) {
        if !self.asks.pulling() {
            self.asks.begin_pull();
            self.pull_page(now, 0);
        }
    }

    fn pull_page(&mut self, now: Instant, start: u16) {
        self.submit(
            now,
            Call {
                code: code::ASKS,
                payload: payload_of(&AsksRequest { start }),
                mutating: false,
                pinned: self.peer.as_ref().map(|peer| peer.boot),
                deadline: now + PULL_DEADLINE,
                done: Done::Pull(start),
            },
        );
    }

    fn on_asks_page(&mut self, now: Instant, start: u16, reply: &Reply) {
        let Ok(page) = List::<PendingAsk<'_>>::decode(&reply.body) else {
            self.counters.stray_frames += 1;
            return self.asks.abandon_pull();
        };
        for pending in page {
            let id = AskId { boot: reply.boot, seq: pending.seq };
            self.add_ask(Ask::new(
                now,
                id,
                pending.code,
                pending.question,
                (Some(pending.facts), pending.ext),
            ));
        }
        match start.checked_add(page.len()) {
            Some(next) if !page.is_empty() => self.pull_page(now, next),
            _ => {
                let gone = self.asks.end_pull();
                self.tell_ended(gone, &AskEnd::Gone);
            }
        }
    }

    fn on_ask(&mut self, now: Instant, frame: &OwnedFrame, items: &[u8]) {
        let Some(boot) = self.peer.as_ref().map(|peer| peer.boot) else { return };
        let id = AskId { boot, seq: frame.seq };
        self.add_ask(Ask::new(now, id, frame.code, &frame.payload, (None, items)));
    }

    fn add_ask(&mut self, ask: Ask) {
        if self.asks.add(ask.clone()) {
            self.output.notices.push(Notice::Ask(ask));
        }
    }
}
