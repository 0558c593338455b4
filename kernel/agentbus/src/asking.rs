//! The router's part in asks: a program, or the kernel, puts a question; a peer or a person answers it.

use askr_abi::Decider;
use askr_wait::{Nanos, Ticket};
use askr_wire::code;
use askr_wire::message::{Decision, PendingAsk};

use crate::asks::{Ask, AskError, AskPoll, AskView, Delivery};
use crate::policy::Origin;
use crate::router::Router;
use crate::session::Route;
use crate::stats::Counter;

/// What became of a person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "somebody waits for this"]
pub enum Human<W> {
    /// It is taken: wake this waiter.
    Accepted(W),
    /// The ask was settled before.
    Late,
    /// There was no such ask since boot.
    Unknown,
    /// The ask has choices, and this is none of them; it waits on.
    NotAChoice,
}

impl<W> Router<W> {
    /// Puts a question. The waiter then waits until [`take`](Self::take) gives the outcome; it is named by
    /// [`on_frame`](Self::on_frame), [`tick`](Self::tick) or [`cancel`](Self::cancel) once, when that is there.
    ///
    /// # Errors
    /// An [`AskError`]; nothing was recorded.
    pub fn ask(&mut self, now: Nanos, ask: &Ask<'_>, waiter: W) -> Result<Ticket, AskError> {
        self.reroute(now);
        let opened = match self.route {
            Route::Nobody => Err(AskError::NotAttached),
            Route::Base | Route::Session(_) => self.asks.open(ask, waiter),
        };
        match opened {
            Ok(_) => self.stats.count(Counter::AsksOpened),
            Err(AskError::NotAttached) => self.stats.count(Counter::AsksNotAttached),
            Err(AskError::TableFull) => self.stats.count(Counter::AsksTableFull),
            Err(AskError::TooLong) => {}
        }
        opened
    }

    /// Looks whether an ask is over. If it is, as much of the answer as fits goes to `into`, and its place is
    /// free again.
    pub fn take(&mut self, ticket: Ticket, into: &mut [u8]) -> AskPoll {
        self.asks.take(ticket, into)
    }

    /// Calls an ask off because of a signal. Returns the waiter to wake; its outcome is then
    /// [`Cancelled`](crate::AskOutcome::Cancelled). `None` if the ask was over: its outcome stands.
    pub fn cancel(&mut self, ticket: Ticket) -> Option<W> {
        let waiter = self.asks.cancel(ticket);
        self.stats.add(Counter::AsksCancelled, u64::from(waiter.is_some()));
        waiter
    }

    /// Drops an ask whose asker has died and takes nothing any more.
    pub fn forget(&mut self, ticket: Ticket) {
        let was_pending = self.asks.forget(ticket);
        self.stats.add(Counter::AsksCancelled, u64::from(was_pending));
    }

    /// Answers an ask for the person at the console, to whom its number counts from 0.
    pub fn answer_by_hand(&mut self, number: u32, answer: &[u8]) -> Human<W> {
        let Some(seq) = code::ASK_SEQ_FIRST.checked_add(number) else { return Human::Unknown };
        match self.deliver(seq, None, Decision::Answer(answer), Decider::Human) {
            Delivery::Accepted(waiter) => {
                self.stats.count(Counter::AsksHuman);
                Human::Accepted(waiter)
            }
            Delivery::Late => Human::Late,
            Delivery::Unknown => Human::Unknown,
            Delivery::NotAChoice => Human::NotAChoice,
        }
    }

    /// On whose behalf something happens that the peer whom asks go to has decided.
    #[must_use]
    pub const fn agent(&self) -> Origin {
        match self.route {
            Route::Session(id) => Origin::Agent { session: Some(id) },
            Route::Base | Route::Nobody => Origin::Agent { session: None },
        }
    }

    /// The asks that wait, the oldest first, with all that a session is told of them. The number that a person gives to
    /// one is its `seq` without the first bit.
    pub fn waiting(&self, now: Nanos) -> impl Iterator<Item = PendingAsk<'_>> {
        self.asks.waiting(now, 0).map(|AskView { seq, code, facts, question, extra }| PendingAsk {
            seq,
            code,
            facts,
            question,
            ext: extra,
        })
    }

    /// Gives an answer to the ask it is for.
    pub(crate) fn deliver(
        &mut self,
        seq: u32,
        code: Option<u16>,
        decision: Decision<'_>,
        decider: Decider,
    ) -> Delivery<W> {
        let delivery = self.asks.deliver(seq, code, decision, decider);
        match delivery {
            Delivery::Accepted(_) if decision == Decision::Refuse => self.stats.count(Counter::AsksRefused),
            Delivery::Accepted(_) => self.stats.count(Counter::AsksAnswered),
            Delivery::Late => self.stats.count(Counter::AnswersLate),
            Delivery::Unknown => self.stats.count(Counter::AnswersUnknown),
            Delivery::NotAChoice => self.stats.count(Counter::AnswersNotAChoice),
        }
        delivery
    }
}
