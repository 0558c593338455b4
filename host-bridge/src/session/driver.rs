//! The thread that drives a [`Machine`] and writes its frames.

use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::calls::Call;
use super::machine::{Machine, Output};
use super::{Ask, AskEnd, AskId, CallError, Notice, Peer, Pong, SessionCounters, State};
use crate::link::{Delivery, Door, Doors, FrameWriter, Link, LinkCounters, LinkEvent};
use crate::tap::Tap;

/// Inputs that wait for the session's thread. More than a full window of answers and every event that the guest
/// sends in the time of one stalled write.
const INPUTS_MAX: usize = 1024;
/// Longest time without a look at the clock.
const IDLE: Duration = Duration::from_secs(1);

enum Input {
    Link(Door, LinkEvent),
    /// Look at the machine again.
    Poke,
    Stop,
}

/// Told of every [`Notice`], on the session's thread: must not wait.
pub type Observer = Box<dyn Fn(Notice) + Send>;

struct Shared {
    machine: Mutex<Machine>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The conversation with the guest, through the doors that there are. Dropping it settles all calls and ends its threads.
pub struct Session {
    shared: Arc<Shared>,
    inputs: SyncSender<Input>,
    links: Arc<Mutex<Vec<(Door, Link)>>>,
    counters: Arc<LinkCounters>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Session {
    /// Starts the links and the session's thread. `tap` is told of all that goes through the doors.
    ///
    /// # Errors
    /// When no thread can be started or the system gives no random bytes.
    pub fn start(doors: impl Into<Doors>, observer: Observer, tap: &Tap) -> io::Result<Self> {
        let mut random = File::open("/dev/urandom")?;
        let mut fallback = 0u128;
        let new_nonce = move || {
            let mut nonce = [0; 16];
            // A nonce must differ from the one before; if the system stops giving random bytes, count.
            if random.read_exact(&mut nonce).is_err() {
                fallback += 1;
                nonce = (u128::from(std::process::id()) << 64 | fallback).to_le_bytes();
            }
            nonce
        };
        let machine = Mutex::new(Machine::new(Box::new(new_nonce)));
        let shared = Arc::new(Shared { machine, changed: Condvar::new() });
        let (inputs, waiting) = mpsc::sync_channel(INPUTS_MAX);
        let links: Arc<Mutex<Vec<(Door, Link)>>> = Arc::default();
        let (theirs, their_links) = (Arc::clone(&shared), Arc::clone(&links));
        let thread = thread::Builder::new()
            .name("askr-session".into())
            .spawn(move || Driver::new(&theirs, &their_links, &observer).run(&waiting))?;
        let counters: Arc<LinkCounters> = Arc::default();
        let session = Self { shared, inputs, links, counters, thread: Mutex::new(Some(thread)) };
        for (door, connect) in doors.into().into_connects() {
            let to_us = session.inputs.clone();
            let counters = Arc::clone(&session.counters);
            let link = Link::start(
                door,
                connect,
                counters,
                move |event| deliver(&to_us, door, event),
                Arc::clone(tap),
            )?;
            session.links.lock().unwrap_or_else(PoisonError::into_inner).push((door, link));
        }
        Ok(session)
    }

    pub(super) fn submit(&self, call: Call) {
        self.shared.lock().submit(Instant::now(), call);
        self.poke();
    }

    pub(super) fn end_ask(&self, ask: AskId, end: AskEnd) {
        self.shared.lock().end_ask(ask, end);
        self.poke();
    }

    fn poke(&self) {
        // A full channel means that the thread has enough reason to look.
        let _ = self.inputs.try_send(Input::Poke);
    }

    /// Pings the guest now, or waits for the ping that is under way.
    ///
    /// # Errors
    /// [`CallError::NotReady`] or [`CallError::TimedOut`] at the deadline.
    pub fn ping(&self, deadline: Instant) -> Result<Pong, CallError> {
        let (pong, outcome) = mpsc::channel();
        self.shared.lock().want_ping(Instant::now(), deadline, pong);
        self.poke();
        outcome.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|_| {
            let machine = self.shared.lock();
            match (machine.is_closed(), machine.is_ready()) {
                (true, _) => CallError::Closed,
                (false, true) => CallError::TimedOut,
                (false, false) => CallError::NotReady,
            }
        })
    }

    /// Waits until the guest is in session.
    ///
    /// # Errors
    /// [`CallError::NotReady`] at the deadline.
    pub fn wait_ready(&self, deadline: Instant) -> Result<Peer, CallError> {
        let mut machine = self.shared.lock();
        loop {
            if let Some(peer) = machine.peer().filter(|_| machine.is_ready()) {
                return Ok(peer.clone());
            }
            if machine.is_closed() {
                return Err(CallError::Closed);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(CallError::NotReady);
            }
            machine =
                self.shared.changed.wait_timeout(machine, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Pending asks, oldest first.
    #[must_use]
    pub fn asks(&self) -> Vec<Ask> {
        self.shared.lock().asks()
    }

    /// The guest in session, or the last one that was.
    #[must_use]
    pub fn peer(&self) -> Option<Peer> {
        self.shared.lock().peer().cloned()
    }

    /// How link and session stand.
    #[must_use]
    pub fn state(&self) -> State {
        self.shared.lock().state()
    }

    /// What the session counted, and how many requests are outstanding.
    #[must_use]
    pub fn counters(&self) -> (SessionCounters, usize) {
        let machine = self.shared.lock();
        (machine.counters(), machine.outstanding())
    }

    /// What the links counted, all doors together.
    #[must_use]
    pub fn link_counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// Settles all calls and ends the threads; whoever waits gets [`CallError::Closed`].
    pub fn stop(&self) {
        self.shared.lock().close(Instant::now());
        self.shared.changed.notify_all();
        let links = std::mem::take(&mut *self.links.lock().unwrap_or_else(PoisonError::into_inner));
        drop(links);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // The thread always takes from its channel, so this waits no longer than one write.
            let _ = self.inputs.send(Input::Stop);
            // A panic of the thread was already printed; there is nothing left to clean up here.
            let _ = thread.join();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop();
    }
}

fn deliver(inputs: &SyncSender<Input>, door: Door, event: LinkEvent) -> Delivery {
    let is_frame = matches!(event, LinkEvent::Frame(_));
    match inputs.try_send(Input::Link(door, event)) {
        Ok(()) => Delivery::Taken,
        Err(TrySendError::Full(_)) if is_frame => Delivery::Full,
        Err(TrySendError::Full(input)) => match inputs.send(input) {
            Ok(()) => Delivery::Taken,
            Err(_) => Delivery::Full,
        },
        Err(TrySendError::Disconnected(_)) => Delivery::Full,
    }
}

/// What the session's thread has.
struct Driver<'a> {
    shared: &'a Shared,
    links: &'a Mutex<Vec<(Door, Link)>>,
    observer: &'a Observer,
    writers: [Option<FrameWriter>; Door::ALL.len()],
}

impl<'a> Driver<'a> {
    const fn new(shared: &'a Shared, links: &'a Mutex<Vec<(Door, Link)>>, observer: &'a Observer) -> Self {
        Self { shared, links, observer, writers: [const { None }; Door::ALL.len()] }
    }

    fn run(&mut self, inputs: &Receiver<Input>) {
        loop {
            let (output, wait) = {
                let mut machine = self.shared.lock();
                let now = Instant::now();
                machine.tick(now);
                let wait = machine.next_deadline().map_or(IDLE, |at| at.saturating_duration_since(now));
                (machine.take_output(), wait.min(IDLE))
            };
            if self.emit(output) {
                continue; // a door was blocked, and there may be something to send through the other
            }
            match inputs.recv_timeout(wait) {
                Ok(Input::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(input) => self.take(input),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn take(&mut self, input: Input) {
        let now = Instant::now();
        match input {
            Input::Link(door, LinkEvent::Up(mut fresh)) => {
                // Ends whatever an earlier client may have left in the guest's receiver. If it cannot be written the
                // link is gone again, which its reader reports.
                let _ = fresh.write(&[0]);
                self.writers[door.index()] = Some(fresh);
                self.shared.lock().on_up(now, door);
            }
            Input::Link(door, LinkEvent::Down) => {
                self.writers[door.index()] = None;
                self.shared.lock().on_down(now, door);
            }
            Input::Link(door, LinkEvent::Frame(frame)) => self.shared.lock().on_frame(now, door, &frame),
            Input::Poke | Input::Stop => {}
        }
    }

    /// Returns whether a door took too long.
    fn emit(&mut self, output: Output) -> bool {
        let mut blocked = [false; Door::ALL.len()];
        for (door, frame) in output.frames {
            // A frame that could not be written is a frame lost on the way: the request is sent again. The rest would
            // fare no better, and each try takes time.
            if let Some(writer) = self.writers[door.index()].as_mut().filter(|_| !blocked[door.index()]) {
                blocked[door.index()] = writer.write(&frame).is_err();
            }
        }
        for door in Door::ALL.into_iter().filter(|door| blocked[door.index()]) {
            self.shared.lock().on_blocked(Instant::now(), door);
        }
        if let Some(door) = output.reconnect {
            let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
            links.iter().filter(|(of, _)| *of == door).for_each(|(_, link)| link.reconnect());
        }
        if !output.notices.is_empty() {
            self.shared.changed.notify_all();
        }
        for notice in output.notices {
            (self.observer)(notice);
        }
        blocked.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use askr_wire::FrameType;

    use super::*;
    use crate::link::OwnedFrame;

    #[test]
    fn a_session_that_is_behind_never_stops_the_link_from_reading() {
        let (inputs, waiting) = mpsc::sync_channel(1);
        let frame =
            || OwnedFrame { kind: FrameType::Event, seq: 1, code: 1, session: None, payload: Vec::new() };
        assert_eq!(deliver(&inputs, Door::Data, LinkEvent::Frame(frame())), Delivery::Taken);
        assert_eq!(deliver(&inputs, Door::Data, LinkEvent::Frame(frame())), Delivery::Full);
        drop(waiting);
        assert_eq!(deliver(&inputs, Door::Data, LinkEvent::Down), Delivery::Full, "nobody is left to tell");
    }
}
