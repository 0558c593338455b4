//! The conversation with one guest as a state machine: what comes in, with the time, makes frames to send and
//! things to tell. It reads no clock and does no I/O.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use askr_wire::message::{GENERATION, HelloRequest, PingRequest};
use askr_wire::{FRAME_MAX, Frame, FrameType, Message, SESSION_PAYLOAD_MAX, code, encode};

use super::asks::Asks;
use super::calls::{Call, Calls, Done, SEQ_LAST};
use super::doors::Doors;
use super::events::Events;
use super::{Ask, AskEnd, AskId, CallError, Notice, Peer, Pong, State};
use crate::link::Door;

/// Requests we would like to have outstanding.
const WINDOW: u16 = 16;
/// Who we say we are.
const CLIENT: &str = concat!("askr-bridge ", env!("CARGO_PKG_VERSION"));
/// Bounds for the period of pings, whatever the guest says.
const PING_MIN: Duration = Duration::from_millis(50);
const PING_MAX: Duration = Duration::from_secs(10);
/// Shortest silence after which the guest is greeted anew.
const SILENCE_MIN: Duration = Duration::from_secs(2);
/// Longest, whatever lease the guest grants.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// A deadline that never comes.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Where the conversation stands.
#[derive(Debug)]
enum Phase {
    /// No connection.
    Down,
    /// HELLO is sent until it is answered.
    Greeting,
    /// In session. It is verified by a ping before anything else is sent: a guest that was set back would execute
    /// again what it had executed, and in a session that another host opened it would give answers to its requests.
    Ready { ping_at: Instant, verified: bool },
}

/// Whether a new HELLO may find the session that was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Greeting {
    /// The same nonce: a guest that still has the session goes on with it.
    Resume,
    /// A new nonce: the old session is over.
    Anew,
}

/// What the conversation counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionCounters {
    /// HELLO frames sent.
    pub hellos: u64,
    /// Sessions opened.
    pub sessions: u64,
    /// Requests sent again after silence.
    pub resends: u64,
    /// Frames that fit nothing: of another session, answering nothing outstanding, or malformed.
    pub stray_frames: u64,
}

/// What is to be done outside.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Encoded frames, in order, and the doors they go through.
    pub(super) frames: Vec<(Door, Vec<u8>)>,
    /// A door to connect to anew: nobody may ever read what lies in it.
    pub(super) reconnect: Option<Door>,
    /// Things to tell.
    pub(super) notices: Vec<Notice>,
}

pub(super) struct Machine {
    phase: Phase,
    doors: Doors,
    new_nonce: Box<dyn FnMut() -> [u8; 16] + Send>,
    pub(super) nonce: [u8; 16],
    /// `seq` of the HELLO with this nonce, see [`hello_seq`].
    pub(super) hello_seq: u32,
    pub(super) peer: Option<Peer>,
    /// Counter of the last ping answered in this session.
    pub(super) ping_counter: u32,
    /// Since when a ping is outstanding.
    pub(super) pinging: Option<Instant>,
    /// Who waits for the next answer to a ping, and until when.
    pub(super) pong_waiters: Vec<(Instant, Sender<Pong>)>,
    /// The guest was set back to an earlier state, and the next session is the first of that.
    pub(super) set_back: bool,
    closed: bool,
    pub(super) calls: Calls,
    pub(super) asks: Asks,
    pub(super) events: Events,
    pub(super) counters: SessionCounters,
    pub(super) output: Output,
}

impl Machine {
    pub(super) fn new(mut new_nonce: Box<dyn FnMut() -> [u8; 16] + Send>) -> Self {
        let nonce = new_nonce();
        Self {
            phase: Phase::Down,
            doors: Doors::new(),
            new_nonce,
            nonce,
            hello_seq: hello_seq(&nonce),
            peer: None,
            ping_counter: 0,
            pinging: None,
            pong_waiters: Vec::new(),
            set_back: false,
            closed: false,
            calls: Calls::new(),
            asks: Asks::default(),
            events: Events::default(),
            counters: SessionCounters::default(),
            output: Output::default(),
        }
    }

    /// The guest in session, or the last one that was.
    pub(super) fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready { .. })
    }

    pub(super) fn is_connected(&self) -> bool {
        !matches!(self.phase, Phase::Down)
    }

    /// Where the conversation is, while there is one.
    pub(super) fn door(&self) -> Option<Door> {
        self.is_ready().then_some(self.doors.current())
    }

    pub(super) fn counters(&self) -> SessionCounters {
        self.counters
    }

    pub(super) fn outstanding(&self) -> usize {
        self.calls.outstanding()
    }

    pub(super) fn asks(&self) -> Vec<Ask> {
        self.asks.list()
    }

    /// Forgets an ask that has ended so.
    pub(super) fn end_ask(&mut self, id: AskId, end: AskEnd) {
        if self.peer.as_ref().is_some_and(|peer| peer.boot == id.boot) && self.asks.remove(id.seq) {
            self.output.notices.push(Notice::AskEnded { ask: id, end });
        }
    }

    /// Tells that these, which are forgotten, have all ended so.
    pub(super) fn tell_ended(&mut self, asks: Vec<AskId>, end: &AskEnd) {
        let notice = |ask| Notice::AskEnded { ask, end: end.clone() };
        self.output.notices.extend(asks.into_iter().map(notice));
    }

    /// How link and session stand.
    pub(super) fn state(&self) -> State {
        let boot = self.peer.as_ref().map(|peer| peer.boot);
        State { connected: self.is_connected(), door: self.door(), boot }
    }

    fn tell_state(&mut self) {
        self.output.notices.push(Notice::State(self.state()));
    }

    pub(super) fn take_output(&mut self) -> Output {
        std::mem::take(&mut self.output)
    }

    /// A door is connected.
    pub(super) fn on_up(&mut self, now: Instant, door: Door) {
        self.doors.open(now, door);
        if !self.is_ready() || door == self.doors.current() {
            self.greet(now, Greeting::Resume);
        }
    }

    /// A door is not connected any more. The conversation goes on at another, if there is one.
    pub(super) fn on_down(&mut self, now: Instant, door: Door) {
        self.doors.close(door);
        if !self.doors.is_any_open() {
            self.phase = Phase::Down;
            self.tell_state();
        } else if !self.is_ready() || door == self.doors.current() {
            self.greet(now, Greeting::Resume);
        }
    }

    /// A door took no frame for as long as one may take.
    pub(super) fn on_blocked(&mut self, now: Instant, door: Door) {
        if door == self.doors.current() && self.is_ready() && self.doors.has_other() {
            self.greet(now, Greeting::Resume);
        }
        if door == Door::Data {
            self.doors.defer(now, door);
        }
    }

    /// Keeps a call until it can be sent, and settles it by its deadline.
    pub(super) fn submit(&mut self, now: Instant, call: Call) {
        if self.closed {
            return self.settle(now, (call.done, Err(CallError::Closed)));
        }
        if let Err(settled) = self.calls.enqueue(call) {
            self.settle(now, settled);
        }
        self.send_queued(now);
    }

    /// Makes a ping due now and tells `waiter` what is answered.
    pub(super) fn want_ping(&mut self, now: Instant, until: Instant, waiter: Sender<Pong>) {
        if self.closed {
            return;
        }
        // Whoever has given up is forgotten here, so that these never pile up while there is no guest.
        self.pong_waiters.retain(|(until, _)| *until > now);
        self.pong_waiters.push((until, waiter));
        if let Phase::Ready { ping_at, .. } = &mut self.phase {
            *ping_at = now;
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Settles all calls, and those that still come.
    pub(super) fn close(&mut self, now: Instant) {
        self.closed = true;
        self.pong_waiters.clear();
        for settled in self.calls.close() {
            self.settle(now, settled);
        }
    }

    /// What the clock alone brings: HELLO, pings, resends, ends of calls and asks.
    pub(super) fn tick(&mut self, now: Instant) {
        let attached = self.is_ready();
        for settled in self.calls.expire(now, attached) {
            self.settle(now, settled);
        }
        let expired = self.asks.expire(now);
        self.tell_ended(expired, &AskEnd::TimedOut);
        match self.phase {
            Phase::Down => {}
            Phase::Greeting => self.send_hellos(now),
            Phase::Ready { verified, .. } if !self.is_silent(now) => {
                self.send_hellos(now);
                let frames = self.calls.resend(now, !verified);
                self.counters.resends += frames.len() as u64;
                self.send(frames);
                self.send_ping(now);
                self.send_queued(now);
            }
            Phase::Ready { .. } => self.greet(now, Greeting::Resume),
        }
    }

    /// Sends frames to where the conversation is.
    fn send(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) {
        let door = self.doors.current();
        self.output.frames.extend(frames.into_iter().map(|frame| (door, frame)));
    }

    /// Whether the guest has not answered a ping for so long that it may not be the one we knew.
    fn is_silent(&self, now: Instant) -> bool {
        self.silent_at().is_some_and(|at| at <= now)
    }

    fn silent_at(&self) -> Option<Instant> {
        let lease = self.peer.as_ref().map_or(SILENCE_MIN, |peer| peer.lease.clamp(SILENCE_MIN, SILENCE_MAX));
        // Where there is another door, looking there costs a frame.
        let patience = if self.doors.has_other() { SILENCE_MIN } else { lease };
        self.pinging.map(|since| since + patience)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let (phase, resend) = match self.phase {
            Phase::Down => (None, None),
            Phase::Greeting => (self.doors.next_due(false), None),
            Phase::Ready { ping_at, verified } => {
                let hello = self.doors.next_due(true);
                let phase = self.silent_at().or(Some(ping_at)).into_iter().chain(hello).min();
                (phase, self.calls.next_resend(!verified))
            }
        };
        [phase, resend, self.calls.next_deadline(), self.asks.next_deadline()].into_iter().flatten().min()
    }

    /// Says HELLO from now on until it is answered.
    pub(super) fn greet(&mut self, now: Instant, greeting: Greeting) {
        if greeting == Greeting::Anew {
            self.renew_nonce();
        }
        self.phase = Phase::Greeting;
        self.doors.greet(now);
        self.tell_state();
    }

    /// The next HELLO opens a new session.
    pub(super) fn renew_nonce(&mut self) {
        self.nonce = (self.new_nonce)();
        self.hello_seq = hello_seq(&self.nonce);
        if self.doors.is_unanswered(Door::Data) {
            // A guest that comes to know that door later would take the old HELLO for one of another host.
            self.output.reconnect = Some(Door::Data);
        }
    }

    /// Whether an answer to HELLO that comes through this door changes anything.
    pub(super) fn waits_for_hello(&self, door: Door) -> bool {
        !self.is_ready() || door > self.doors.current()
    }

    /// The answer to HELLO came through this door: pings begin, the first at once.
    pub(super) fn become_ready(&mut self, now: Instant, door: Door) {
        self.doors.settle(now, door);
        self.pinging = self.pinging.map(|_| now);
        self.phase = Phase::Ready { ping_at: now, verified: false };
        self.tell_state();
    }

    /// A ping showed that the guest's session is the one we know.
    pub(super) fn become_verified(&mut self) {
        if let Phase::Ready { verified, .. } = &mut self.phase {
            *verified = true;
        }
    }

    /// Says HELLO through the doors where it is due.
    fn send_hellos(&mut self, now: Instant) {
        for door in self.doors.due(now, self.is_ready()) {
            self.send_hello(door);
        }
    }

    fn send_hello(&mut self, door: Door) {
        let hello = HelloRequest {
            generation: GENERATION,
            payload_limit: u32::try_from(SESSION_PAYLOAD_MAX).unwrap_or(u32::MAX),
            window: WINDOW,
            nonce: self.nonce,
            client: CLIENT.as_bytes(),
        };
        let payload = payload_of(&hello);
        let frame = Frame {
            kind: FrameType::Request,
            seq: self.hello_seq,
            code: code::HELLO,
            session: None,
            payload: &payload,
        };
        let mut bytes = vec![0; FRAME_MAX];
        if let Ok(len) = encode(&frame, &mut bytes) {
            bytes.truncate(len);
            self.output.frames.push((door, bytes));
            self.counters.hellos += 1;
        }
    }

    /// Sends a ping if it is time and none is outstanding.
    fn send_ping(&mut self, now: Instant) {
        let (Phase::Ready { ping_at, verified }, Some(peer)) = (&mut self.phase, &self.peer) else { return };
        if *ping_at > now || self.pinging.is_some() {
            return;
        }
        *ping_at = now + peer.ping.clamp(PING_MIN, PING_MAX);
        let counter = match self.ping_counter {
            0 => first_counter(&self.nonce),
            last => last.wrapping_add(1).max(1),
        };
        let call = Call {
            code: code::PING,
            payload: payload_of(&PingRequest { counter }),
            mutating: false,
            pinned: None,
            // Kept until the session ends: whether the guest saw it decides what the next one is answered.
            deadline: now + FOREVER,
            done: Done::Ping(counter),
        };
        match self.calls.send_ping(now, peer, call) {
            Some(frame) => {
                self.pinging = Some(now);
                self.send([frame]);
            }
            None if !*verified => self.greet(now, Greeting::Anew),
            None => {}
        }
    }

    /// Sends the calls that wait, as far as the window allows.
    pub(super) fn send_queued(&mut self, now: Instant) {
        let (Phase::Ready { verified: true, .. }, Some(peer)) = (&self.phase, &self.peer) else { return };
        if self.calls.is_used_up() {
            return self.greet(now, Greeting::Anew);
        }
        let (frames, settled) = self.calls.send_queued(now, peer);
        self.send(frames);
        for settled in settled {
            self.settle(now, settled);
        }
    }
}

/// `seq` of the HELLO with this nonce. It is as random as the nonce: the answer to another host's HELLO, which may still
/// be on the line, is not taken for ours, nor is one to an older HELLO of our own.
fn hello_seq(nonce: &[u8; 16]) -> u32 {
    (word(nonce, 0) & SEQ_LAST).max(code::REQUEST_SEQ_FIRST)
}

/// Counter of the first ping after the HELLO with this nonce. In a session of another host a ping that is new would give
/// away that there were others before; one that repeats theirs would not.
fn first_counter(nonce: &[u8; 16]) -> u32 {
    word(nonce, 1).max(1)
}

fn word(nonce: &[u8; 16], index: usize) -> u32 {
    nonce.as_chunks::<4>().0.get(index).copied().map_or(0, u32::from_le_bytes)
}

/// The payload that `message` is. Those of this module are all far below the limit.
pub(super) fn payload_of<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut payload = vec![0; SESSION_PAYLOAD_MAX];
    let len = message.encode(&mut payload).unwrap_or(0);
    payload.truncate(len);
    payload
}
