//! A peer over the real bytes of a router.

use askr_agentbus::{Ask, Config, Control, Counter, Door, Effect, Router, Ticket};
use askr_wire::message::{Decision, HelloReply, HelloRequest, Response};
use askr_wire::status::Status;
use askr_wire::{
    Deframer, FRAME_MAX, Frame, FrameType, Message, SESSION_PAYLOAD_MAX, SessionHead, SessionId, code, encode,
};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

/// A frame that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) kind: FrameType,
    pub(crate) seq: u32,
    pub(crate) code: u16,
    pub(crate) session: Option<SessionId>,
    pub(crate) ext: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

impl Sent {
    pub(crate) fn status(&self) -> Status {
        Response::decode(&self.payload).unwrap().status
    }

    /// The body of a success.
    pub(crate) fn body(&self) -> &[u8] {
        let response = Response::decode(&self.payload).unwrap();
        assert_eq!(response.status, Status::Ok);
        response.body
    }
}

/// What [`Effect`] says, without borrowing the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    Nothing,
    Woke(u32),
    Control(askr_agentbus::Token),
}

pub(crate) struct Bus {
    pub(crate) router: Router<u32>,
    pub(crate) now: u64,
    pub(crate) session: Option<SessionId>,
    /// Where the peer is: its frames come through this door, and it reads what goes out there.
    pub(crate) door: Door,
}

pub(crate) fn bytes_of<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut out = vec![0; SESSION_PAYLOAD_MAX];
    let len = message.encode(&mut out).unwrap();
    out.truncate(len);
    out
}

impl Bus {
    pub(crate) fn new() -> Self {
        Self {
            router: Router::new(Config::new([7; 16], "0.1.0")),
            now: SECOND,
            session: None,
            door: Door::Com2,
        }
    }

    /// With an open session, whose HELLO has been answered.
    pub(crate) fn in_session() -> Self {
        let mut bus = Self::new();
        bus.hello(1);
        bus
    }

    /// Opens the session of this nonce and returns its id.
    pub(crate) fn hello(&mut self, nonce: u8) -> SessionId {
        let reply = self.greet(nonce, |hello| hello);
        let reply = HelloReply::decode(reply.body()).unwrap();
        self.session = Some(reply.session);
        reply.session
    }

    /// Sends a HELLO, changed by `change`, and returns the answer. It is the only frame in line.
    pub(crate) fn greet(
        &mut self,
        nonce: u8,
        change: impl FnOnce(HelloRequest<'_>) -> HelloRequest<'_>,
    ) -> Sent {
        let hello = HelloRequest {
            generation: 1,
            payload_limit: 4096,
            window: 8,
            nonce: [nonce; 16],
            client: b"test",
        };
        let payload = bytes_of(&change(hello));
        assert_eq!(self.put(FrameType::Request, 1, code::HELLO, None, &payload), Did::Nothing);
        self.next().unwrap()
    }

    /// Sends a frame to the router, as bytes.
    pub(crate) fn put(
        &mut self,
        kind: FrameType,
        seq: u32,
        code: u16,
        session: Option<SessionId>,
        payload: &[u8],
    ) -> Did {
        let session = session.map(|id| SessionHead { id, ext: &[] });
        self.put_with(&Frame { kind, seq, code, session, payload }, |_| ())
    }

    /// Sends a frame, and looks at the request it becomes.
    pub(crate) fn put_with(&mut self, frame: &Frame<'_>, look: impl FnOnce(&Control<'_>)) -> Did {
        let mut out = vec![0; FRAME_MAX];
        let len = encode(frame, &mut out).unwrap();
        let mut deframer = Deframer::new();
        let mut look = Some(look);
        let mut did = None;
        for &byte in &out[..len] {
            let Some(frame) = deframer.push(byte) else { continue };
            did = Some(match self.router.on_frame(self.now, self.door, &frame.unwrap()) {
                Effect::None => Did::Nothing,
                Effect::Wake(waiter) => Did::Woke(waiter),
                Effect::Control(control) => {
                    look.take().unwrap()(&control);
                    Did::Control(control.token)
                }
            });
        }
        did.unwrap()
    }

    pub(crate) fn base(&mut self, seq: u32, code: u16, payload: &[u8]) -> Did {
        self.put(FrameType::Request, seq, code, None, payload)
    }

    /// A request in the open session.
    pub(crate) fn request(&mut self, seq: u32, code: u16, payload: &[u8]) -> Did {
        self.put(FrameType::Request, seq, code, self.session, payload)
    }

    pub(crate) fn answer(&mut self, seq: u32, answer: &[u8]) -> Did {
        self.put(FrameType::DecisionResp, seq, code::DECISION_GENERIC, self.session, answer)
    }

    /// Does a request of the session and answers it with `body`.
    pub(crate) fn serve(&mut self, did: Did, body: &[u8]) {
        let Did::Control(token) = did else { panic!("{did:?}") };
        self.router.respond(token, Ok(body));
    }

    /// The next frame the router sends.
    pub(crate) fn next(&mut self) -> Option<Sent> {
        let mut out = Box::new([0; FRAME_MAX]);
        let len = self.router.next_frame(self.now, self.door, &mut out)?;
        let mut deframer = Deframer::new();
        let mut found = None;
        for &byte in &out[..len] {
            if let Some(frame) = deframer.push(byte) {
                let frame = frame.unwrap();
                assert!(found.is_none(), "two frames at once");
                found = Some(Sent {
                    kind: frame.kind,
                    seq: frame.seq,
                    code: frame.code,
                    session: frame.session.map(|head| head.id),
                    ext: frame.session.map_or(Vec::new(), |head| head.ext.to_vec()),
                    payload: frame.payload.to_vec(),
                });
            }
        }
        Some(found.unwrap())
    }

    /// Everything the router has to send, in order.
    pub(crate) fn drain(&mut self) -> Vec<Sent> {
        let frames: Vec<_> = core::iter::from_fn(|| self.next()).take(1_000).collect();
        assert!(frames.len() < 1_000, "it never ends");
        frames
    }

    /// The only frame the router has to send.
    pub(crate) fn only(&mut self) -> Sent {
        let mut frames = self.drain();
        assert_eq!(frames.len(), 1, "{frames:?}");
        frames.remove(0)
    }

    pub(crate) fn ask(&mut self, waiter: u32) -> Ticket {
        let ask = self.question(5 * SECOND);
        self.router.ask(self.now, &ask, waiter).unwrap()
    }

    pub(crate) fn question(&self, wait: u64) -> Ask<'static> {
        Ask {
            code: 0,
            question: b"may I?",
            deadline: self.now + wait,
            pid: 7,
            program: b"/bin/ask",
            extra: None,
        }
    }

    /// All that the clock wakes now.
    pub(crate) fn tick(&mut self) -> Vec<u32> {
        let woken: Vec<_> = core::iter::from_fn(|| self.router.tick(self.now)).take(1_000).collect();
        assert!(woken.len() < 1_000, "it never ends");
        woken
    }

    pub(crate) fn count(&self, counter: Counter) -> u64 {
        self.router.stats().get(counter)
    }
}

/// The payload of ANSWER.
pub(crate) fn answer_request(ask: u32, decision: Decision<'_>) -> Vec<u8> {
    bytes_of(&askr_wire::message::AnswerRequest { ask, decision })
}
