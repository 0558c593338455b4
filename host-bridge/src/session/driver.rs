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
use crate::link::{Connect, Delivery, FrameWriter, Link, LinkCounters, LinkEvent};
use crate::tap::Tap;

/// Inputs that wait for the session's thread. More than a full window of answers and every event that the guest
/// sends in the time of one stalled write.
const INPUTS_MAX: usize = 1024;
/// Longest time without a look at the clock.
const IDLE: Duration = Duration::from_secs(1);

enum Input {
    Link(LinkEvent),
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

/// The conversation with the guest on one link. Dropping it settles all calls and ends its threads.
pub struct Session {
    shared: Arc<Shared>,
    inputs: SyncSender<Input>,
    link: Mutex<Option<Link>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Session {
    /// Starts the link and the session's thread. `tap` is told of all that goes over the line.
    ///
    /// # Errors
    /// When no thread can be started or the system gives no random bytes.
    pub fn start(connect: Connect, observer: Observer, tap: Tap) -> io::Result<Self> {
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
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("askr-session".into())
            .spawn(move || drive(&theirs, &waiting, &observer))?;
        let to_us = inputs.clone();
        let link = Link::start(connect, move |event| deliver(&to_us, event), tap)?;
        Ok(Self { shared, inputs, link: Mutex::new(Some(link)), thread: Mutex::new(Some(thread)) })
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

    /// Looks at what the link counted.
    pub fn link_counters<T>(&self, look: impl FnOnce(&LinkCounters) -> T) -> Option<T> {
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.as_ref().map(|link| look(link.counters()))
    }

    /// Settles all calls and ends the threads; whoever waits gets [`CallError::Closed`].
    pub fn stop(&self) {
        self.shared.lock().close(Instant::now());
        self.shared.changed.notify_all();
        let link = self.link.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(link);
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

fn deliver(inputs: &SyncSender<Input>, event: LinkEvent) -> Delivery {
    let is_frame = matches!(event, LinkEvent::Frame(_));
    match inputs.try_send(Input::Link(event)) {
        Ok(()) => Delivery::Taken,
        Err(TrySendError::Full(_)) if is_frame => Delivery::Full,
        Err(TrySendError::Full(input)) => match inputs.send(input) {
            Ok(()) => Delivery::Taken,
            Err(_) => Delivery::Full,
        },
        Err(TrySendError::Disconnected(_)) => Delivery::Full,
    }
}

fn drive(shared: &Shared, inputs: &Receiver<Input>, observer: &Observer) {
    let mut writer = None;
    loop {
        let (output, wait) = {
            let mut machine = shared.lock();
            let now = Instant::now();
            machine.tick(now);
            let wait = machine.next_deadline().map_or(IDLE, |at| at.saturating_duration_since(now));
            (machine.take_output(), wait.min(IDLE))
        };
        emit(shared, &mut writer, output, observer);
        match inputs.recv_timeout(wait) {
            Ok(Input::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(input) => take(shared, &mut writer, input),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn take(shared: &Shared, writer: &mut Option<FrameWriter>, input: Input) {
    let now = Instant::now();
    match input {
        Input::Link(LinkEvent::Up(mut fresh)) => {
            // Ends whatever an earlier client may have left in the guest's receiver. If it cannot be written the
            // link is gone again, which its reader reports.
            let _ = fresh.write(&[0]);
            *writer = Some(fresh);
            shared.lock().on_up(now);
        }
        Input::Link(LinkEvent::Down) => {
            *writer = None;
            shared.lock().on_down();
        }
        Input::Link(LinkEvent::Frame(frame)) => shared.lock().on_frame(now, &frame),
        Input::Poke | Input::Stop => {}
    }
}

fn emit(shared: &Shared, writer: &mut Option<FrameWriter>, output: Output, observer: &Observer) {
    // A frame that could not be written is a frame lost on the way: the request is sent again. The rest would fare
    // no better, and each try takes time.
    if let Some(writer) = writer {
        let _ = output.frames.iter().try_for_each(|frame| writer.write(frame));
    }
    if !output.notices.is_empty() {
        shared.changed.notify_all();
    }
    for notice in output.notices {
        observer(notice);
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
        assert_eq!(deliver(&inputs, LinkEvent::Frame(frame())), Delivery::Taken);
        assert_eq!(deliver(&inputs, LinkEvent::Frame(frame())), Delivery::Full);
        drop(waiting);
        assert_eq!(deliver(&inputs, LinkEvent::Down), Delivery::Full, "nobody is left to tell");
    }
}
