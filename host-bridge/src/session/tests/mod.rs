//! The rules of the conversation, against a scripted guest and a clock of our own.

mod asks;
mod calls;
mod doors;
mod events;
mod props;
mod sessions;

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use askr_wire::message::{
    AskFacts, HelloReply, HelloRequest, PendingAsk, PingReply, PingRequest, VerbGeneration,
};
use askr_wire::status::Status;
use askr_wire::{Deframer, FrameType, List, Message, SessionId, Writer, code, ext};

use crate::link::{Door, OwnedFrame};
use crate::session::calls::{Call, Done};
use crate::session::machine::{Machine, payload_of};
use crate::session::{AskEnd, BootId, CallError, Notice, Reply};

const BOOT: [u8; 16] = [0xb0; 16];
const OTHER_BOOT: [u8; 16] = [0xb1; 16];
const SECOND: Duration = Duration::from_secs(1);

/// A machine, the time, and the guest's last session.
struct Bench {
    machine: Machine,
    now: Instant,
    session: SessionId,
    /// What the guest says comes through this door.
    door: Door,
    notices: Vec<Notice>,
}

impl Bench {
    fn new() -> Self {
        let mut nonce = 0;
        let new_nonce = move || {
            nonce += 1;
            small_nonce(nonce)
        };
        Self::with_nonces(new_nonce)
    }

    fn with_nonces(new_nonce: impl FnMut() -> [u8; 16] + Send + 'static) -> Self {
        let machine = Machine::new(Box::new(new_nonce));
        Self {
            machine,
            now: Instant::now(),
            session: SessionId([0; 8]),
            door: Door::Com2,
            notices: Vec::new(),
        }
    }

    /// In session, with the first ping and the first pull of asks answered.
    fn ready() -> Self {
        let mut bench = Self::new();
        bench.machine.on_up(bench.now, Door::Com2);
        let hello = bench.sent().remove(0);
        bench.answer_hello(&hello, BOOT);
        bench.answer_housekeeping(0);
        bench
    }

    /// Frames that the machine sends now.
    fn sent(&mut self) -> Vec<OwnedFrame> {
        self.sent_through().into_iter().map(|(_, frame)| frame).collect()
    }

    /// The same, and the doors that they go through.
    fn sent_through(&mut self) -> Vec<(Door, OwnedFrame)> {
        self.machine.tick(self.now);
        let output = self.machine.take_output();
        self.notices.extend(output.notices);
        let mut frames = Vec::new();
        for (door, bytes) in output.frames {
            let mut deframer = Deframer::new();
            for byte in bytes {
                if let Some(frame) = deframer.push(byte) {
                    frames.push((door, OwnedFrame::from(&frame.unwrap())));
                }
            }
        }
        frames
    }

    fn sent_after(&mut self, pause: Duration) -> Vec<OwnedFrame> {
        self.now += pause;
        self.sent()
    }

    fn answer_hello(&mut self, hello: &OwnedFrame, boot: [u8; 16]) {
        let nonce = HelloRequest::decode(&hello.payload).unwrap().nonce;
        self.session = SessionId([nonce[0] ^ boot[0]; 8]);
        self.open(hello.seq, boot, self.session);
    }

    /// An answer to HELLO number `seq`.
    fn open(&mut self, seq: u32, boot: [u8; 16], session: SessionId) {
        let mut verbs = [0; 16];
        let verbs = List::build([VerbGeneration { code: code::STAT, generation: 1 }], &mut verbs).unwrap();
        let reply = HelloReply {
            generation: 1,
            payload_limit: 4096,
            window: 4,
            lease_ms: 3000,
            ping_ms: 1000,
            boot_id: boot,
            session,
            event_cursor: 0,
            kernel: b"askr",
            version: b"0.1.0",
            verbs,
        };
        let payload = [&[0][..], &payload_of(&reply)].concat();
        let frame = OwnedFrame { kind: FrameType::Response, seq, code: code::HELLO, session: None, payload };
        self.machine.on_frame(self.now, self.door, &frame);
    }

    fn answer(&mut self, request: &OwnedFrame, status: Status, body: &[u8]) {
        let payload = [&[status as u8][..], body].concat();
        let session = request.session.clone();
        let frame = OwnedFrame { kind: FrameType::Response, payload, session, ..request.clone() };
        self.machine.on_frame(self.now, self.door, &frame);
    }

    fn answer_ping(&mut self, request: &OwnedFrame, previous_counter: u32, pending_asks: u16) {
        self.answer_ping_with(request, previous_counter, pending_asks, 0);
    }

    fn answer_ping_with(
        &mut self,
        request: &OwnedFrame,
        previous_counter: u32,
        pending_asks: u16,
        event_cursor: u64,
    ) {
        let pong = PingReply { previous_counter, pending_asks, event_cursor, uptime_ns: 0 };
        self.answer(request, Status::Ok, &payload_of(&pong));
    }

    /// Answers the ping that a session begins with.
    fn verify(&mut self, previous_counter: u32) {
        let ping = self.sent();
        assert_eq!(codes(&ping), [code::PING], "nothing else before the session is known to be ours");
        self.answer_ping(&ping[0], previous_counter, 0);
    }

    /// Answers the ping and the pull of asks that a new session begins with.
    fn answer_housekeeping(&mut self, previous_counter: u32) {
        self.verify(previous_counter);
        for frame in self.sent() {
            assert_eq!(frame.code, code::ASKS);
            self.answer(&frame, Status::Ok, &[0, 0]);
        }
    }

    /// The guest turns out to be set back, and the next session is open.
    fn set_back(&mut self) {
        let frames = self.sent_after(SECOND);
        let ping = frames.iter().find(|frame| frame.code == code::PING).unwrap();
        self.answer_ping(ping, 77, 0);
        let hello = self.sent();
        assert_eq!(codes(&hello), [code::HELLO]);
        self.answer_hello(&hello[0], BOOT);
    }

    fn submit(&mut self, mutating: bool, pinned: Option<BootId>) -> Receiver<Result<Reply, CallError>> {
        let (done, outcome) = channel();
        let (code, deadline) = (if mutating { code::MKDIR } else { code::STAT }, self.now + 30 * SECOND);
        let call =
            Call { code, payload: b"/x".to_vec(), mutating, pinned, deadline, done: Done::Caller(done) };
        self.machine.submit(self.now, call);
        outcome
    }
}

/// A nonce with this number in the `seq` of its HELLO; its pings count from 1.
fn small_nonce(number: u8) -> [u8; 16] {
    let mut nonce = [0; 16];
    nonce[0] = number;
    nonce
}

fn codes(frames: &[OwnedFrame]) -> Vec<u16> {
    frames.iter().map(|frame| frame.code).collect()
}
