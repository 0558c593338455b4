//! The next frame to send.

use askr_abi::ASK_EXTRA_MAX;
use askr_wait::Nanos;
use askr_wire::message::{AskFacts, GENERATION, HelloReply, ProcessEvent, VerbGeneration};
use askr_wire::status::Status;
use askr_wire::{
    BASE_PAYLOAD_MAX, FRAME_MAX, Frame, FrameType, List, Message, NoRoom, SESSION_HEAD_LEN, SessionHead,
    SessionId, Writer, code, encode, ext,
};

use crate::NANOS_PER_MS;
use crate::ask_ext::fitting;
use crate::asks::{AskView, PROGRAM_MAX};
use crate::event::seq_of;
use crate::event_log::{EVENT_EXT_MAX, Logged, NAME_MAX};
use crate::outbox::Urgent;
use crate::reply_slots::State;
use crate::router::{Config, Router};
use crate::session::{Route, Session};
use crate::stats::Counter;
use askr_wire::Door;

/// Most bytes of the ext of a DECISION_REQ: one item with the facts, and the others.
const ASK_EXT_MAX: usize = 3 + ASK_FACTS_MAX + ASK_EXTRA_MAX;
/// `[pid:4][left_ms:4][proglen:1][program]`.
const ASK_FACTS_MAX: usize = 9 + PROGRAM_MAX;

/// `[pid:4][aux:4][info:4][namelen:1]`.
const EVENT_HEAD_LEN: usize = 13;
/// Most bytes of the payload of an event.
const EVENT_PAYLOAD_MAX: usize = EVENT_HEAD_LEN + NAME_MAX;
/// Most bytes of a panic's message that are told.
const PANIC_MESSAGE_MAX: usize = 255;
/// Room for the frame that tells of a panic, in bytes: head, session head, payload and checksum in COBS, and delimiters.
pub const PANIC_FRAME_MAX: usize = 320;

/// Most bytes of the answer to a HELLO or a PING.
const URGENT_PAYLOAD_MAX: usize = 512;
// All of HELLO's answer but the version and the verbs is less than 64 bytes.
const _: () = assert!(64 + 255 + 4 * code::VERBS.len() <= URGENT_PAYLOAD_MAX);

impl<W> Router<W> {
    /// Writes the next frame to send through this door to `out` and returns its length in bytes; `None` if there is none
    /// now. Answers to HELLO and PING go first, then asks, events, refusals and all other responses.
    ///
    /// A frame that was written counts as sent: the caller has to send it or to give it up.
    pub fn next_frame(&mut self, now: Nanos, door: Door, out: &mut [u8; FRAME_MAX]) -> Option<usize> {
        self.reroute(now);
        let is_for_session = self.link.session_door() == Some(door);
        let is_for_peer = self.link.door(self.route) == Some(door);
        let urgent = if is_for_session { self.send_urgent(out) } else { None };
        let told =
            || if is_for_peer { self.send_ask(now, out).or_else(|| self.send_event(now, out)) } else { None };
        let sent = urgent
            .or_else(told)
            .or_else(|| self.send_refusal(door, out))
            .or_else(|| self.send_reply(door, is_for_session, out))?;
        self.stats.count(Counter::FramesOut);
        Some(sent)
    }

    fn send_urgent(&mut self, out: &mut [u8; FRAME_MAX]) -> Option<usize> {
        let session = self.link.session()?;
        let urgent = self.outbox.urgent.pop()?;
        self.stats.count(Counter::Replies);
        let mut payload = [0; URGENT_PAYLOAD_MAX];
        match urgent {
            Urgent::Hello { seq } => {
                let len = hello_reply(&self.config, session, &mut payload).ok()?;
                write(response(seq, code::HELLO, None, &payload[..len]), out)
            }
            Urgent::Ping { seq, reply } => {
                let len = ok_response(&reply, &mut payload).ok()?;
                write(response(seq, code::PING, Some(session.id), &payload[..len]), out)
            }
        }
    }

    fn send_ask(&mut self, now: Nanos, out: &mut [u8; FRAME_MAX]) -> Option<usize> {
        let session = session_of(self.route)?;
        let limit = self.link.session().map_or(BASE_PAYLOAD_MAX, |session| session.payload_limit);
        let AskView { seq, code, facts, question, extra } = self.asks.next_unsent(now)?;
        let mut ext = [0; ASK_EXT_MAX];
        let len = ask_ext(&facts, extra, limit - SESSION_HEAD_LEN - question.len(), &mut ext).ok()?;
        let head = session.map(|id| SessionHead { id, ext: &ext[..len] });
        write(Frame { kind: FrameType::DecisionReq, seq, code, session: head, payload: question }, out)
    }

    fn send_event(&mut self, now: Nanos, out: &mut [u8; FRAME_MAX]) -> Option<usize> {
        let session = session_of(self.route)?;
        let number = self.outbox.take_event(now, &self.log, self.route)?;
        let logged = self.log.get(number)?;
        let (mut payload, mut ext) = ([0; EVENT_PAYLOAD_MAX], [0; EVENT_EXT_MAX]);
        let len = logged.event.encode(&mut payload).ok()?;
        let ext_len = logged.ext(&mut ext);
        let Logged { number, code, .. } = logged;
        write(event(number, code, session, &ext[..ext_len], &payload[..len]), out)
    }

    /// Writes the frame that tells the session's peer of a panic, whose words are `message`, and returns its length and
    /// where it is to go; `None` without a session. Of the message, what is over 255 bytes is cut. Nothing changes: nothing
    /// comes after.
    pub fn panic_frame(&self, message: &[u8], out: &mut [u8; PANIC_FRAME_MAX]) -> Option<(Door, usize)> {
        let Route::Session(session) = self.route else { return None };
        let message = &message[..message.len().min(PANIC_MESSAGE_MAX)];
        let mut payload = [0; EVENT_HEAD_LEN + PANIC_MESSAGE_MAX];
        let told = ProcessEvent { pid: 0, aux: 0, info: 0, name: message };
        let len = told.encode(&mut payload).ok()?;
        let frame = event(self.log.count(), code::EVENT_PANIC, Some(session), &[], &payload[..len]);
        Some((self.link.session_door()?, encode(&frame, out).ok()?))
    }

    fn send_refusal(&mut self, door: Door, out: &mut [u8; FRAME_MAX]) -> Option<usize> {
        let refusal = self.outbox.refusals.pop_where(|refusal| refusal.door == door)?;
        self.stats.count(Counter::Replies);
        write(response(refusal.seq, refusal.code, refusal.session, &[refusal.status as u8]), out)
    }

    /// The response that became ready first, of base peers at this door and of the session if it is there.
    fn send_reply(&mut self, door: Door, with_session: bool, out: &mut [u8; FRAME_MAX]) -> Option<usize> {
        let base = self.base[door.index()].first_ready();
        let window = if with_session { self.window.slots.first_ready() } else { None };
        let (slots, session, index, then) = match (base, window) {
            (Some((first, index)), other) if other.is_none_or(|(second, _)| first < second) => {
                (&mut self.base[door.index()], None, index, State::Free)
            }
            (_, Some((_, index))) => {
                // Nothing was done, so the same request may come again and be done then.
                let is_busy = self.window.slots.get(index).payload().first() == Some(&(Status::Busy as u8));
                let then = if is_busy { State::Free } else { State::Sent };
                (&mut self.window.slots, Some(self.link.session()?.id), index, then)
            }
            (_, None) => return None,
        };
        self.stats.count(Counter::Replies);
        slots.set_state(index, then);
        let slot = slots.get(index);
        write(response(slot.key.seq, slot.key.code, session, slot.payload()), out)
    }
}

/// The session that frames to whoever is attached belong to; `None` with nobody attached.
const fn session_of(route: Route) -> Option<Option<SessionId>> {
    match route {
        Route::Nobody => None,
        Route::Base => Some(None),
        Route::Session(id) => Some(Some(id)),
    }
}

fn event<'f>(
    number: u64,
    code: u16,
    session: Option<SessionId>,
    ext: &'f [u8],
    payload: &'f [u8],
) -> Frame<'f> {
    let session = session.map(|id| SessionHead { id, ext });
    Frame { kind: FrameType::Event, seq: seq_of(number), code, session, payload }
}

fn response(seq: u32, code: u16, session: Option<SessionId>, payload: &[u8]) -> Frame<'_> {
    let session = session.map(|id| SessionHead { id, ext: &[] });
    Frame { kind: FrameType::Response, seq, code, session, payload }
}

/// Encodes a frame. Every payload here is within the limit of its frame, so this cannot fail.
fn write(frame: Frame<'_>, out: &mut [u8; FRAME_MAX]) -> Option<usize> {
    let len = encode(&frame, out);
    debug_assert!(len.is_ok(), "{len:?}");
    len.ok()
}

fn ok_response<'a>(body: &impl Message<'a>, out: &mut [u8]) -> Result<usize, NoRoom> {
    let mut writer = Writer::new(out);
    writer.u8(Status::Ok as u8)?;
    body.put(&mut writer)?;
    Ok(writer.len())
}

fn hello_reply(config: &Config, session: &Session, out: &mut [u8]) -> Result<usize, NoRoom> {
    let mut scratch = [0; 4 * code::VERBS.len()];
    let verbs = code::VERBS.iter().map(|&(code, generation)| VerbGeneration { code, generation });
    let version = config.version.as_bytes();
    let reply = HelloReply {
        generation: GENERATION,
        payload_limit: u32::try_from(session.payload_limit).map_err(|_| NoRoom)?,
        window: u16::try_from(session.window).map_err(|_| NoRoom)?,
        lease_ms: u32::try_from(config.lease / NANOS_PER_MS).unwrap_or(u32::MAX),
        ping_ms: config.ping_ms,
        boot_id: config.boot_id,
        session: session.id,
        event_cursor: session.event_cursor,
        kernel: b"askr",
        version: &version[..version.len().min(255)],
        verbs: List::build(verbs, &mut scratch)?,
    };
    ok_response(&reply, out)
}

/// Writes the ext of a DECISION_REQ: the facts, and of the other items those that fit into `room` bytes with them.
fn ask_ext(
    facts: &AskFacts<'_>,
    extra: &[u8],
    room: usize,
    out: &mut [u8; ASK_EXT_MAX],
) -> Result<usize, NoRoom> {
    let mut item = [0; ASK_FACTS_MAX];
    let len = facts.encode(&mut item)?;
    let mut writer = Writer::new(out);
    ext::put_item(&mut writer, (ext::ASK_FACTS, &item[..len]))?;
    let left = room.saturating_sub(writer.len());
    writer.bytes(fitting(extra, left))?;
    Ok(writer.len())
}
