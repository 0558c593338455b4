//! Who gets an ask: clients that wait or subscribe, and the built-in agent only when there are none.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::Client;
use crate::json::{self, Error, Problem, Subscription};
use crate::session::{Ask, AskId, BootId, Event, Notice, Session};

/// Most waits under way of one client.
const WAITS_MAX: usize = 16;
/// Longest time without a look at the clock.
const IDLE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Board {
    state: Mutex<State>,
    changed: Condvar,
    #[cfg(feature = "symbols")]
    pub(super) symbols: crate::symbols::Symbols,
}

#[derive(Default)]
struct State {
    waiters: Vec<Waiter>,
    subscribers: Vec<Subscriber>,
    /// Asks that a waiting client was given: they are its to answer, even after it has hung up.
    given: BTreeSet<AskId>,
    /// Counts what was changed, so that nobody waits for a change that has been.
    changes: u64,
    stopped: bool,
}

struct Waiter {
    client: Arc<Client>,
    id: Value,
    deadline: Instant,
}

struct Subscriber {
    client: Arc<Client>,
    wants: Subscription,
}

impl Subscriber {
    /// Whether it is there to answer asks.
    const fn takes_asks(&self) -> bool {
        self.wants.asks && !self.wants.watch
    }
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whom it concerns. Never waits: called on the session's thread.
    pub(super) fn notice(&self, mut notice: Notice) {
        // Before the lock is taken: the first fault of a program reads its file.
        if let Notice::Event(event) = &mut notice {
            self.locate(event);
        }
        let mut state = self.lock();
        if state.stopped {
            // What ends now ends with the hub; it says nothing of the guest.
            return;
        }
        match &notice {
            Notice::Ask(ask) => state.hand_out(ask),
            Notice::Event(event) => state.push(&json::event_pushed(event), |wants| wants.events),
            Notice::EventsLost { boot, from, count } => {
                state.push(&json::events_lost_pushed(*boot, *from, *count), |wants| wants.events);
            }
            Notice::AskEnded { ask, end } => {
                state.push(&json::ask_ended_pushed(*ask, end), |wants| wants.asks && wants.watch);
            }
            Notice::State(now) => state.push(&json::state_pushed(now), |wants| wants.watch),
        }
        self.announce(&mut state);
    }

    /// Gives an event the places of its fault, where they are known.
    #[cfg(feature = "symbols")]
    pub(super) fn locate(&self, event: &mut Event) {
        if let Some(fault) = &mut event.fault {
            fault.places = self.symbols.places(&event.name, fault.rip, &fault.backtrace);
        }
    }

    /// Without debug information no place is known.
    #[cfg(not(feature = "symbols"))]
    pub(super) const fn locate(&self, _: &mut Event) {}

    fn announce(&self, state: &mut State) {
        state.changes += 1;
        self.changed.notify_all();
    }

    /// Waits and subscriptions of clients that are there to answer asks.
    pub(super) fn takers(&self) -> usize {
        self.lock().takers()
    }

    /// How much was changed so far; for [`Board::wait_change`].
    pub(super) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// Waits until more was changed than the `seen` changes, or until `at`. `false` once stopped.
    pub(super) fn wait_change(&self, seen: u64, at: Instant) -> bool {
        let mut state = self.lock();
        while !state.stopped && state.changes == seen {
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        !state.stopped
    }

    /// Replies with the pending asks, at once if there are any, else when one comes or the wait is over.
    pub(super) fn wait_asks(&self, session: &Session, client: &Arc<Client>, id: &Value, wait: Duration) {
        let mut state = self.lock();
        let boot = session.peer().map(|peer| peer.boot);
        if state.stopped {
            drop(state);
            let error = Error::new(Problem::HubStopping, "the hub is stopping");
            return client.reply(json::reply_error(id, boot, &error));
        }
        // Under the lock: an ask that comes now is either in this list or handed to the waiter below.
        let pending = session.asks();
        state.given.retain(|given| pending.iter().any(|ask| ask.id == *given));
        if !pending.is_empty() || wait.is_zero() {
            state.given.extend(pending.iter().map(|ask| ask.id));
            drop(state);
            return client.reply(json::reply(id, boot, json::asks(&pending)));
        }
        if state.waiters.iter().filter(|waiter| waiter.client.id == client.id).count() >= WAITS_MAX {
            drop(state);
            let error = Error::new(Problem::TooManyWaits, format!("{WAITS_MAX} waits are under way already"));
            return client.reply(json::reply_error(id, boot, &error));
        }
        let deadline = Instant::now() + wait;
        state.waiters.push(Waiter { client: Arc::clone(client), id: id.clone(), deadline });
        self.announce(&mut state);
    }

    /// Pushes what it wants to this client from now on; the state and pending asks at once.
    pub(super) fn subscribe(&self, session: &Session, client: &Arc<Client>, id: &Value, wants: Subscription) {
        let mut state = self.lock();
        state.subscribers.retain(|one| one.client.id != client.id);
        if wants.asks || wants.events || wants.watch {
            state.subscribers.push(Subscriber { client: Arc::clone(client), wants });
        }
        let boot = session.peer().map(|peer| peer.boot);
        // Under the lock, so that the reply comes before the first pushed line. The queue may be full: then the
        // client does not read and is disconnected.
        client.push(&json::reply(id, boot, json::subscribed(wants)));
        if wants.watch {
            client.push(&json::state_pushed(&session.state()));
        }
        if wants.asks {
            session.asks().iter().for_each(|ask| client.push(&json::ask_pushed(ask)));
        }
        self.announce(&mut state);
    }

    /// Forgets a client that is gone; its waits end with no asks.
    pub(super) fn leave(&self, client: &Client, boot: Option<BootId>) {
        let mut state = self.lock();
        state.subscribers.retain(|one| one.client.id != client.id);
        let (gone, stay): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.waiters).into_iter().partition(|waiter| waiter.client.id == client.id);
        state.waiters = stay;
        gone.iter().for_each(|waiter| waiter.end(boot));
        self.announce(&mut state);
    }

    /// Ends waits whose time is over, until [`Board::stop`].
    pub(super) fn run_clock(&self, session: &Session) {
        let mut state = self.lock();
        while !state.stopped {
            let now = Instant::now();
            let (over, stay): (Vec<_>, Vec<_>) =
                std::mem::take(&mut state.waiters).into_iter().partition(|waiter| waiter.deadline <= now);
            state.waiters = stay;
            let boot = session.peer().map(|peer| peer.boot);
            over.iter().for_each(|waiter| waiter.end(boot));
            let next = state.waiters.iter().map(|waiter| waiter.deadline).min();
            let pause = next.map_or(IDLE, |at| at.saturating_duration_since(now)).min(IDLE);
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends all waits and loops.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.waiters.drain(..).for_each(|waiter| waiter.end(None));
        self.announce(&mut state);
    }

    /// Waits until there are other changes than the `seen` ones, which it updates, or until `at`. Gives the asks that no
    /// client has and might still take: none while a client waits or subscribes. `None` once stopped.
    #[cfg(feature = "agent")]
    pub(crate) fn next_unowned(
        &self,
        session: &Session,
        seen: &mut Option<u64>,
        at: Option<Instant>,
    ) -> Option<Vec<Ask>> {
        let pause = at.map_or(IDLE, |at| at.saturating_duration_since(Instant::now())).min(IDLE);
        let nothing_new = |state: &mut State| !state.stopped && *seen == Some(state.changes);
        let waited = self.changed.wait_timeout_while(self.lock(), pause, nothing_new);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        *seen = Some(state.changes);
        let has_takers = state.takers() > 0;
        let unowned = |ask: &Ask| !has_takers && !state.given.contains(&ask.id);
        (!state.stopped).then(|| session.asks().into_iter().filter(unowned).collect())
    }
}

impl State {
    /// Pushes a line to those subscribers that want it.
    fn push(&self, line: &str, is_wanted: impl Fn(Subscription) -> bool) {
        self.subscribers.iter().filter(|one| is_wanted(one.wants)).for_each(|one| one.client.push(line));
    }

    /// Waits and subscriptions of clients that are there to answer asks.
    fn takers(&self) -> usize {
        self.waiters.len() + self.subscribers.iter().filter(|one| one.takes_asks()).count()
    }

    fn hand_out(&mut self, ask: &Ask) {
        for waiter in self.waiters.drain(..) {
            let asks = json::asks(std::slice::from_ref(ask));
            waiter.client.push(&json::reply(&waiter.id, Some(ask.id.boot), asks));
            self.given.insert(ask.id);
        }
        self.push(&json::ask_pushed(ask), |wants| wants.asks);
    }
}

impl Waiter {
    fn end(&self, boot: Option<BootId>) {
        self.client.push(&json::reply(&self.id, boot, json::asks(&[])));
    }
}
