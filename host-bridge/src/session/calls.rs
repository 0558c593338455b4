//! Requests that wait to be sent and requests that wait for their answer.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use askr_wire::{FRAME_MAX, Frame, FrameType, SessionHead, code, encode};

use super::{BootId, CallError, Peer};

/// Most calls that wait to be sent.
const QUEUE_MAX: usize = 256;
/// Silence after which a request is sent again, at first; doubled each time.
const RESEND_FIRST: Duration = Duration::from_millis(300);
/// So many answers to requests that were sent after it, and one without is taken for lost: a frame of it was broken. Answers
/// come in another order now and then, so it is not one.
const OVERTAKEN: u32 = 2;
/// Longest silence before a request is sent again.
const RESEND_MAX: Duration = Duration::from_secs(2);
/// Highest `seq` of a request.
pub(super) const SEQ_LAST: u32 = code::EVENT_SEQ_FIRST - 1;

/// A successful answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The boot that answered.
    pub boot: BootId,
    /// The body after the status.
    pub body: Vec<u8>,
}

/// Who gets the outcome of a call.
#[derive(Debug)]
pub(super) enum Done {
    /// A thread that waits. It may have given up: then nobody is told.
    Caller(Sender<Result<Reply, CallError>>),
    /// The session itself: a ping with this counter.
    Ping(u32),
    /// The session itself: a page of the guest's asks from this number on.
    Pull(u16),
    /// The session itself: a page of the guest's events.
    Events,
}

/// A request.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) code: u16,
    pub(super) payload: Vec<u8>,
    /// Whether executing it twice differs from executing it once.
    pub(super) mutating: bool,
    /// The only boot it is meant for.
    pub(super) pinned: Option<BootId>,
    pub(super) deadline: Instant,
    pub(super) done: Done,
}

impl Call {
    /// Why it failed, once it has been sent and its answer is lost.
    pub(super) fn lost(&self, because: &'static str, otherwise: CallError) -> CallError {
        if self.mutating { CallError::OutcomeUnknown(because) } else { otherwise }
    }

    const fn is_ping(&self) -> bool {
        matches!(self.done, Done::Ping(_))
    }

    fn misses(&self, boot: BootId) -> bool {
        self.pinned.is_some_and(|pinned| pinned != boot)
    }
}

#[derive(Debug)]
struct Outstanding {
    call: Call,
    /// How many requests of the session were sent before it, pings not counted.
    before: u64,
    bytes: Vec<u8>,
    resent: bool,
    resend_at: Instant,
    pause: Duration,
    /// Requests sent after it that were answered.
    overtaken: u32,
}

/// A call with its outcome, to be told outside.
pub(super) type Settled = (Done, Result<Reply, CallError>);

/// All calls. Those outstanding belong to one session.
#[derive(Debug)]
pub(super) struct Calls {
    queue: VecDeque<Call>,
    outstanding: BTreeMap<u32, Outstanding>,
    next_seq: u32,
    /// Requests sent in this session, pings not counted.
    sent: u64,
}

impl Calls {
    pub(super) const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            outstanding: BTreeMap::new(),
            next_seq: code::REQUEST_SEQ_FIRST,
            sent: 0,
        }
    }

    pub(super) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Keeps a call until it can be sent.
    pub(super) fn enqueue(&mut self, call: Call) -> Result<(), Settled> {
        if self.queue.len() >= QUEUE_MAX {
            return Err((call.done, Err(CallError::QueueFull)));
        }
        self.queue.push_back(call);
        Ok(())
    }

    /// Whether another request may be sent. The guest remembers the answers to the last `window` requests, so
    /// what counts is how many were sent since the oldest unanswered one. Pings take no place in the guest's window.
    fn has_room(&self, window: u32) -> bool {
        let oldest = self.outstanding.values().find(|waiting| !waiting.call.is_ping());
        let since = oldest.map_or(0, |waiting| self.sent - waiting.before);
        since < u64::from(window) && self.next_seq <= SEQ_LAST
    }

    /// Whether the session has run out of sequence numbers and nothing is outstanding any more.
    pub(super) fn is_used_up(&self) -> bool {
        self.next_seq > SEQ_LAST && self.outstanding.is_empty()
    }

    /// Sends what the window allows; calls that cannot be sent at all are settled.
    pub(super) fn send_queued(&mut self, now: Instant, peer: &Peer) -> (Vec<Vec<u8>>, Vec<Settled>) {
        let (mut frames, mut settled) = (Vec::new(), Vec::new());
        while self.has_room(peer.window) {
            let Some(call) = self.queue.pop_front() else { break };
            if call.misses(peer.boot) {
                settled.push((call.done, Err(CallError::GuestRestarted)));
                continue;
            }
            match self.send(now, peer, call) {
                Ok(bytes) => frames.push(bytes),
                Err(error) => settled.push(error),
            }
        }
        (frames, settled)
    }

    /// Sends a ping past the queue. `None` when the session has no number left for it.
    pub(super) fn send_ping(&mut self, now: Instant, peer: &Peer, call: Call) -> Option<Vec<u8>> {
        if self.next_seq <= SEQ_LAST { self.send(now, peer, call).ok() } else { None }
    }

    fn send(&mut self, now: Instant, peer: &Peer, call: Call) -> Result<Vec<u8>, Settled> {
        let frame = Frame {
            kind: FrameType::Request,
            seq: self.next_seq,
            code: call.code,
            session: Some(SessionHead { id: peer.session, ext: &[] }),
            payload: &call.payload,
        };
        let mut bytes = vec![0; FRAME_MAX];
        match encode(&frame, &mut bytes) {
            Ok(len) if call.payload.len() <= peer.room() => bytes.truncate(len),
            _ => return Err((call.done, Err(CallError::TooLarge { limit: peer.room() }))),
        }
        let copy = bytes.clone();
        let pause = RESEND_FIRST;
        let waiting = Outstanding {
            call,
            before: self.sent,
            bytes,
            resent: false,
            resend_at: now + pause,
            pause,
            overtaken: 0,
        };
        self.sent += u64::from(!waiting.call.is_ping());
        self.outstanding.insert(self.next_seq, waiting);
        self.next_seq += 1;
        Ok(copy)
    }

    /// Frames whose answer is overdue, to be sent again; or only pings among them.
    pub(super) fn resend(&mut self, now: Instant, only_pings: bool) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        let is_due =
            |waiting: &Outstanding| waiting.resend_at <= now && (!only_pings || waiting.call.is_ping());
        for waiting in self.outstanding.values_mut().filter(|waiting| is_due(waiting)) {
            waiting.pause = (waiting.pause * 2).min(RESEND_MAX);
            waiting.resend_at = now + waiting.pause;
            waiting.resent = true;
            frames.push(waiting.bytes.clone());
        }
        frames
    }

    /// Makes everything outstanding due to be sent again, as after a reconnect.
    pub(super) fn resend_all(&mut self, now: Instant) {
        for waiting in self.outstanding.values_mut() {
            waiting.pause = RESEND_FIRST;
            waiting.resend_at = now;
        }
    }

    /// Whether this request is outstanding.
    pub(super) fn expects(&self, seq: u32, code: u16) -> bool {
        self.outstanding.get(&seq).is_some_and(|waiting| waiting.call.code == code)
    }

    /// Request `seq` was answered: those before it may be lost, and are then due to be sent again. Once: one that takes long
    /// is overtaken by many.
    pub(super) fn overtake(&mut self, now: Instant, seq: u32) {
        for (_, waiting) in self.outstanding.range_mut(..seq) {
            waiting.overtaken += 1;
            if waiting.overtaken == OVERTAKEN {
                waiting.resend_at = waiting.resend_at.min(now);
            }
        }
    }

    /// Takes the outstanding call that this response answers.
    pub(super) fn answered(&mut self, seq: u32) -> Option<Call> {
        self.outstanding.remove(&seq).map(|waiting| waiting.call)
    }

    /// The guest refused to execute this request as being of a session that is over. If it was sent only once,
    /// nothing happened, and it waits for the next session of the same boot.
    pub(super) fn refused_as_stale(&mut self, seq: u32, boot: BootId) {
        let is_unsent =
            |waiting: &Outstanding| !waiting.resent && matches!(waiting.call.done, Done::Caller(_));
        if self.outstanding.get(&seq).is_some_and(is_unsent)
            && let Some(mut call) = self.answered(seq)
        {
            call.pinned = Some(boot);
            self.queue.push_front(call);
        }
    }

    /// Settles what is past its deadline.
    pub(super) fn expire(&mut self, now: Instant, attached: bool) -> Vec<Settled> {
        let unsent = if attached { CallError::TimedOut } else { CallError::NotReady };
        let (late, early) =
            std::mem::take(&mut self.queue).into_iter().partition(|call| call.deadline <= now);
        self.queue = early;
        let late: VecDeque<Call> = late;
        let mut settled: Vec<Settled> =
            late.into_iter().map(|call| (call.done, Err(unsent.clone()))).collect();
        let late: Vec<u32> =
            self.outstanding.iter().filter(|(_, w)| w.call.deadline <= now).map(|(&seq, _)| seq).collect();
        for call in late.into_iter().filter_map(|seq| self.answered(seq)) {
            let error = call.lost("the guest did not answer in time", CallError::TimedOut);
            settled.push((call.done, Err(error)));
        }
        settled
    }

    /// Ends the session: nothing outstanding can be answered any more, and numbers begin anew.
    pub(super) fn end_session(&mut self, restarted: bool) -> Vec<Settled> {
        (self.next_seq, self.sent) = (code::REQUEST_SEQ_FIRST, 0);
        let all = std::mem::take(&mut self.outstanding);
        let settle = |waiting: Outstanding| {
            let error = if restarted {
                CallError::GuestRestarted
            } else {
                waiting.call.lost("the session with the guest ended", CallError::SessionLost)
            };
            (waiting.call.done, Err(error))
        };
        all.into_values().map(settle).collect()
    }

    /// Settles everything, as the bridge stops.
    pub(super) fn close(&mut self) -> Vec<Settled> {
        let queued =
            std::mem::take(&mut self.queue).into_iter().map(|call| (call.done, Err(CallError::Closed)));
        let sent = std::mem::take(&mut self.outstanding).into_values().map(|waiting| {
            let error = waiting.call.lost("the bridge is stopping", CallError::Closed);
            (waiting.call.done, Err(error))
        });
        queued.chain(sent).collect()
    }

    /// When the next call ends.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let queued = self.queue.iter().map(|call| call.deadline);
        let sent = self.outstanding.values().map(|waiting| waiting.call.deadline);
        queued.chain(sent).min()
    }

    /// When the next request is to be sent again.
    pub(super) fn next_resend(&self, only_pings: bool) -> Option<Instant> {
        let counts = |waiting: &&Outstanding| !only_pings || waiting.call.is_ping();
        self.outstanding.values().filter(counts).map(|waiting| waiting.resend_at).min()
    }
}
