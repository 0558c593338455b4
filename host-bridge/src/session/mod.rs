//! The conversation with the guest: HELLO, session frames, at-most-once requests, pings, asks.
//!
//! A state machine holds the rules and one thread drives it; [`Session`] is what everybody else calls.

mod asks;
mod calls;
mod doors;
mod driver;
mod error;
mod events;
mod incoming;
mod machine;
mod peer;
#[cfg(test)]
mod tests;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use askr_wire::message::{AnswerReply, AnswerRequest, Decision};
use askr_wire::{Message, SESSION_PAYLOAD_MAX, code};

use crate::link::Door;

pub use asks::{Answerer, Ask, AskEnd, AskId};
pub use calls::Reply;
pub use driver::{Observer, Session};
pub use error::CallError;
pub use events::{Event, Fault};
pub use machine::SessionCounters;
pub use peer::{BootId, Peer};

use calls::{Call, Done};

/// How long after its deadline a call waits for the session to settle it.
const SETTLE_GRACE: Duration = Duration::from_secs(10);

/// The guest's answer to a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pong {
    /// The boot that answered.
    pub boot: BootId,
    /// Time from ping to answer.
    pub round_trip: Duration,
    /// Asks that wait for an answer.
    pub pending_asks: u16,
    /// Number of events since boot.
    pub event_cursor: u64,
    /// Time since boot in nanoseconds.
    pub uptime_ns: u64,
}

/// How link and session stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// There is a connection to the guest, by any door.
    pub connected: bool,
    /// The door through which the guest is in session; `None` if it is not.
    pub door: Option<Door>,
    /// The boot in session, or the last one that was.
    pub boot: Option<BootId>,
}

/// What a session tells on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A new ask.
    Ask(Ask),
    /// An ask is no longer pending.
    AskEnded {
        /// Which.
        ask: AskId,
        /// How it ended.
        end: AskEnd,
    },
    /// Something happened in the guest. Events of a boot come in order and without a gap, but for
    /// [`Notice::EventsLost`].
    Event(Event),
    /// Events that the guest had no room to keep until they could be fetched.
    EventsLost {
        /// Of this boot.
        boot: BootId,
        /// Number of the first.
        from: u64,
        /// How many.
        count: u64,
    },
    /// The link or the session came or went.
    State(State),
}

/// One request to the guest.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The verb.
    pub code: u16,
    /// Its arguments, encoded.
    pub payload: &'a [u8],
    /// Whether executing it twice differs from executing it once.
    pub mutating: bool,
    /// The only boot that it is meant for, if any.
    pub boot: Option<BootId>,
    /// When to give up.
    pub deadline: Instant,
}

/// A request under way. Nobody is told of its answer once this is dropped.
#[derive(Debug)]
pub struct Pending {
    outcome: mpsc::Receiver<Result<Reply, CallError>>,
    deadline: Instant,
}

impl Pending {
    /// Waits for the answer.
    ///
    /// # Errors
    /// See [`CallError`]; at the latest at the deadline.
    pub fn wait(self) -> Result<Reply, CallError> {
        // The session settles every call at its deadline, or when it stops; this is for the case that its thread died.
        let patience = self.deadline.saturating_duration_since(Instant::now()) + SETTLE_GRACE;
        self.outcome.recv_timeout(patience).unwrap_or(Err(CallError::Closed))
    }
}

impl Session {
    /// Makes one request and waits for its answer.
    ///
    /// # Errors
    /// See [`CallError`]; at the latest at the deadline.
    pub fn call(&self, request: &Request<'_>) -> Result<Reply, CallError> {
        self.begin(request).wait()
    }

    /// Makes one request; others may be made before its answer is waited for.
    pub fn begin(&self, request: &Request<'_>) -> Pending {
        let (done, outcome) = mpsc::channel();
        self.submit(Call {
            code: request.code,
            payload: request.payload.to_vec(),
            mutating: request.mutating,
            pinned: request.boot,
            deadline: request.deadline,
            done: Done::Caller(done),
        });
        Pending { outcome, deadline: request.deadline }
    }

    /// Answers an ask for `by`; the first answer wins.
    ///
    /// # Errors
    /// As [`Session::call`]; an ask of an earlier boot is [`CallError::GuestRestarted`].
    pub fn answer(
        &self,
        ask: AskId,
        decision: Decision<'_>,
        by: Answerer,
        deadline: Instant,
    ) -> Result<AnswerReply, CallError> {
        let mut payload = [0; SESSION_PAYLOAD_MAX];
        let len = AnswerRequest { ask: ask.seq, decision }
            .encode(&mut payload)
            .map_err(|_| CallError::TooLarge { limit: SESSION_PAYLOAD_MAX })?;
        let request = Request {
            code: code::ANSWER,
            payload: &payload[..len],
            mutating: true,
            boot: Some(ask.boot),
            deadline,
        };
        let reply = self.call(&request)?;
        let verdict =
            AnswerReply::decode(&reply.body).map_err(|_| CallError::Protocol("the verdict is malformed"))?;
        match verdict {
            AnswerReply::Accepted => self.end_ask(ask, AskEnd::by(by, decision)),
            AnswerReply::Late | AnswerReply::Unknown => self.end_ask(ask, AskEnd::Gone),
            // It waits on.
            AnswerReply::NotAChoice => {}
        }
        Ok(verdict)
    }
}
