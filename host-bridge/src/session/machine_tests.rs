//! The rules of the conversation, against a scripted guest and a clock of our own.

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use askr_wire::message::{
    AskFacts, HelloReply, HelloRequest, PendingAsk, PingReply, PingRequest, VerbGeneration,
};
use askr_wire::status::Status;
use askr_wire::{Deframer, FrameType, List, Message, SessionId, Writer, code, ext};

use super::calls::{Call, Done};
use super::machine::{Machine, payload_of};
use super::{BootId, CallError, Notice, Reply};
use crate::link::OwnedFrame;

const BOOT: [u8; 16] = [0xb0; 16];
const OTHER_BOOT: [u8; 16] = [0xb1; 16];
const SECOND: Duration = Duration::from_secs(1);

/// A machine, the time, and the guest's last session.
struct Bench {
    machine: Machine,
    now: Instant,
    session: SessionId,
    notices: Vec<Notice>,
}

impl Bench {
    fn new() -> Self {
        let mut nonce = 0;
        let new_nonce = move || {
            nonce += 1;
            [nonce; 16]
        };
        let machine = Machine::new(Box::new(new_nonce));
        Self { machine, now: Instant::now(), session: SessionId([0; 8]), notices: Vec::new() }
    }

    /// In session, with the first ping and the first pull of asks answered.
    fn ready() -> Self {
        let mut bench = Self::new();
        bench.machine.on_up(bench.now);
        let hello = bench.sent().remove(0);
        bench.answer_hello(&hello, BOOT);
        bench.answer_housekeeping(0);
        bench
    }

    /// Frames that the machine sends now.
    fn sent(&mut self) -> Vec<OwnedFrame> {
        self.machine.tick(self.now);
        let output = self.machine.take_output();
        self.notices.extend(output.notices);
        let mut deframer = Deframer::new();
        let mut frames = Vec::new();
        for byte in output.frames.concat() {
            if let Some(frame) = deframer.push(byte) {
                frames.push(OwnedFrame::from(&frame.unwrap()));
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
        let mut verbs = [0; 16];
        let verbs = List::build([VerbGeneration { code: code::STAT, generation: 1 }], &mut verbs).unwrap();
        let reply = HelloReply {
            generation: 1,
            payload_limit: 4096,
            window: 4,
            lease_ms: 3000,
            ping_ms: 1000,
            boot_id: boot,
            session: self.session,
            event_cursor: 0,
            kernel: b"askr",
            version: b"0.1.0",
            verbs,
        };
        let payload = [&[0][..], &payload_of(&reply)].concat();
        let frame = OwnedFrame {
            kind: FrameType::Response,
            seq: hello.seq,
            code: code::HELLO,
            session: None,
            payload,
        };
        self.machine.on_frame(self.now, &frame);
    }

    fn answer(&mut self, request: &OwnedFrame, status: Status, body: &[u8]) {
        let payload = [&[status as u8][..], body].concat();
        let session = request.session.clone();
        let frame = OwnedFrame { kind: FrameType::Response, payload, session, ..request.clone() };
        self.machine.on_frame(self.now, &frame);
    }

    fn answer_ping(&mut self, request: &OwnedFrame, previous_counter: u32, pending_asks: u16) {
        let pong = PingReply { previous_counter, pending_asks, event_cursor: 0, uptime_ns: 0 };
        self.answer(request, Status::Ok, &payload_of(&pong));
    }

    /// Answers the ping and the pull of asks that a new session begins with.
    fn answer_housekeeping(&mut self, previous_counter: u32) {
        for frame in self.sent() {
            match frame.code {
                code::PING => self.answer_ping(&frame, previous_counter, 0),
                code::ASKS => self.answer(&frame, Status::Ok, &[0, 0]),
                other => panic!("unexpected verb {other:#x}"),
            }
        }
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

fn codes(frames: &[OwnedFrame]) -> Vec<u16> {
    frames.iter().map(|frame| frame.code).collect()
}

#[test]
fn hello_is_repeated_with_the_same_nonce_at_growing_pauses() {
    let mut bench = Bench::new();
    bench.machine.on_up(bench.now);
    let first = bench.sent().remove(0);
    assert!(bench.sent_after(Duration::from_millis(199)).is_empty());
    assert_eq!(bench.sent_after(Duration::from_millis(1)), std::slice::from_ref(&first));
    assert!(bench.sent_after(Duration::from_millis(399)).is_empty());
    assert_eq!(bench.sent_after(Duration::from_millis(1)), std::slice::from_ref(&first));
    bench.answer_hello(&first, BOOT);
    assert!(bench.machine.is_ready());
    let session = bench.session;
    bench.answer_hello(&first, BOOT);
    assert_eq!(bench.machine.peer().unwrap().session, session, "a second copy of the answer changes nothing");
}

#[test]
fn a_call_before_the_session_is_sent_once_there_is_one() {
    let mut bench = Bench::new();
    let outcome = bench.submit(false, None);
    bench.machine.on_up(bench.now);
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, BOOT);
    let frames = bench.sent();
    let stat = frames.iter().find(|frame| frame.code == code::STAT).unwrap();
    bench.answer(stat, Status::NoEnt, &[]);
    assert_eq!(outcome.recv().unwrap(), Err(CallError::Guest(Status::NoEnt)));
}

#[test]
fn silence_resends_the_same_frame_and_a_late_copy_of_the_answer_changes_nothing() {
    let mut bench = Bench::ready();
    let outcome = bench.submit(true, None);
    let first = bench.sent();
    assert_eq!(codes(&first), [code::MKDIR]);
    assert!(bench.sent_after(Duration::from_millis(299)).is_empty());
    let second = bench.sent_after(Duration::from_millis(1));
    assert_eq!(first, second);
    bench.answer(&second[0], Status::Ok, &[]);
    bench.answer(&second[0], Status::Exist, &[]);
    assert!(outcome.recv().unwrap().is_ok());
    assert_eq!(bench.machine.counters().stray_frames, 1);
}

#[test]
fn the_window_keeps_a_place_for_pings() {
    let mut bench = Bench::ready();
    let _outcomes: Vec<_> = (0..5).map(|_| bench.submit(false, None)).collect();
    let frames = bench.sent();
    assert_eq!(frames.len(), 3, "a window of 4 less the place for a ping");
    // The guest remembers the last four answers only: while the oldest is open, later ones do not make room.
    bench.answer(&frames[1], Status::Ok, &[]);
    bench.answer(&frames[2], Status::Ok, &[]);
    assert!(bench.sent().is_empty());
    bench.answer(&frames[0], Status::Ok, &[]);
    assert_eq!(bench.sent().len(), 2);
}

#[test]
fn a_call_ends_at_its_deadline_and_says_what_is_known() {
    let mut bench = Bench::new();
    let unsent = bench.submit(true, None);
    bench.now += 30 * SECOND;
    assert!(bench.sent().is_empty());
    assert_eq!(unsent.recv().unwrap(), Err(CallError::NotReady));

    let mut bench = Bench::ready();
    let (read, write) = (bench.submit(false, None), bench.submit(true, None));
    bench.sent();
    bench.now += 30 * SECOND;
    bench.sent();
    assert_eq!(read.recv().unwrap(), Err(CallError::TimedOut));
    assert!(matches!(write.recv().unwrap(), Err(CallError::OutcomeUnknown(_))));
}

#[test]
fn a_reboot_ends_outstanding_calls() {
    let mut bench = Bench::ready();
    let (read, write) = (bench.submit(false, None), bench.submit(true, None));
    bench.sent();
    bench.machine.on_down();
    bench.machine.on_up(bench.now);
    let pinned = bench.submit(true, Some(BootId(BOOT)));
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, OTHER_BOOT);
    assert_eq!(read.recv().unwrap(), Err(CallError::GuestRestarted));
    assert_eq!(write.recv().unwrap(), Err(CallError::GuestRestarted));
    bench.answer_housekeeping(0);
    assert_eq!(pinned.recv().unwrap(), Err(CallError::GuestRestarted), "never reaches another boot");
}

#[test]
fn a_reconnect_to_the_same_session_pings_before_it_sends_again() {
    let mut bench = Bench::ready();
    let outcome = bench.submit(true, None);
    let first = bench.sent();
    bench.machine.on_down();
    let _waiting = bench.submit(false, None);
    bench.machine.on_up(bench.now);
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, BOOT);
    let ping = bench.sent_after(SECOND);
    assert_eq!(codes(&ping), [code::PING]);
    bench.answer_ping(&ping[0], 1, 0);
    let mut frames = bench.sent();
    frames.sort_by_key(|frame| frame.seq);
    assert_eq!(frames[0], first[0], "the same seq and session: the guest knows it if it has served it");
    assert_eq!(codes(&frames), [code::MKDIR, code::STAT]);
    bench.answer(&first[0], Status::Ok, &[]);
    assert!(outcome.recv().unwrap().is_ok());
}

#[test]
fn a_guest_set_back_to_an_earlier_state_gets_a_new_session_and_no_old_request() {
    let mut bench = Bench::ready();
    let outcome = bench.submit(true, None);
    bench.sent();
    let frames = bench.sent_after(SECOND);
    let ping = frames.iter().find(|frame| frame.code == code::PING).unwrap();
    let old = bench.session;
    bench.answer_ping(ping, 77, 0);
    let hello = bench.sent();
    assert_eq!(codes(&hello), [code::HELLO]);
    bench.answer_hello(&hello[0], BOOT);
    assert_ne!(bench.session, old, "a new nonce");
    assert!(matches!(outcome.recv().unwrap(), Err(CallError::OutcomeUnknown(_))));
    assert!(!codes(&bench.sent()).contains(&code::MKDIR));
}

#[test]
fn a_stale_session_is_replaced_and_what_was_sent_once_goes_on_in_the_new_one() {
    let mut bench = Bench::ready();
    let (once, twice) = (bench.submit(true, None), bench.submit(true, None));
    let frames = bench.sent();
    bench.answer(&frames[0], Status::Stale, &[]);
    let hello = bench.sent();
    assert_eq!(codes(&hello), [code::HELLO]);
    bench.answer_hello(&hello[0], BOOT);
    assert!(matches!(twice.recv().unwrap(), Err(CallError::OutcomeUnknown(_))), "this one had no refusal");
    let frames = bench.sent();
    let mkdir = frames.iter().find(|frame| frame.code == code::MKDIR).unwrap();
    bench.answer(mkdir, Status::Ok, &[]);
    assert!(once.recv().unwrap().is_ok());
}

#[test]
fn a_refused_hello_is_followed_by_one_with_a_new_nonce() {
    let mut bench = Bench::ready();
    bench.machine.on_down();
    bench.machine.on_up(bench.now);
    let hello = bench.sent().remove(0);
    let refusal =
        OwnedFrame { kind: FrameType::Response, payload: vec![Status::Inval as u8], ..hello.clone() };
    bench.machine.on_frame(bench.now, &refusal);
    let next = bench.sent_after(SECOND).remove(0);
    let nonce = |frame: &OwnedFrame| HelloRequest::decode(&frame.payload).unwrap().nonce;
    assert_ne!(nonce(&hello), nonce(&next));
    bench.answer_hello(&hello, BOOT);
    assert!(!bench.machine.is_ready(), "the answer to an older HELLO opens nothing");
    bench.answer_hello(&next, BOOT);
    assert!(bench.machine.is_ready());
}

#[test]
fn a_guest_that_forgot_the_session_is_greeted_again() {
    let mut bench = Bench::ready();
    let read = bench.submit(false, None);
    let frames = bench.sent();
    let frame =
        OwnedFrame { kind: FrameType::Response, session: None, payload: vec![2], ..frames[0].clone() };
    bench.machine.on_frame(bench.now, &frame);
    let hello = bench.sent();
    assert_eq!(codes(&hello), [code::HELLO]);
    bench.answer_hello(&hello[0], OTHER_BOOT);
    assert_eq!(read.recv().unwrap(), Err(CallError::GuestRestarted));
}

#[test]
fn unanswered_pings_lead_to_a_new_hello() {
    let mut bench = Bench::ready();
    let ping = bench.sent_after(SECOND);
    assert_eq!(codes(&ping), [code::PING]);
    let later = bench.sent_after(3 * SECOND);
    assert!(later.is_empty() && !bench.machine.is_ready());
    assert_eq!(codes(&bench.sent()), [code::HELLO]);
}

#[test]
fn pings_carry_a_counter_that_the_next_answer_must_give_back() {
    let mut bench = Bench::ready();
    for counter in 2..5 {
        let ping = bench.sent_after(SECOND);
        assert_eq!(PingRequest::decode(&ping[0].payload), Ok(PingRequest { counter }));
        bench.answer_ping(&ping[0], counter - 1, 0);
        assert!(bench.machine.is_ready());
    }
}

fn ask_frame(bench: &Bench, seq: u32) -> OwnedFrame {
    let facts = payload_of(&AskFacts { pid: 9, left_ms: 2000, program: b"ask" });
    let mut items = [0; 64];
    let mut writer = Writer::new(&mut items);
    ext::put_item(&mut writer, (200, b"from a later generation")).unwrap();
    ext::put_item(&mut writer, (ext::ASK_FACTS, &facts)).unwrap();
    let len = writer.len();
    OwnedFrame {
        kind: FrameType::DecisionReq,
        seq,
        code: code::DECISION_GENERIC,
        session: Some((bench.session, items[..len].to_vec())),
        payload: b"may I?".to_vec(),
    }
}

#[test]
fn an_ask_is_told_once_and_ends_with_its_time() {
    let mut bench = Bench::ready();
    let frame = ask_frame(&bench, code::ASK_SEQ_FIRST);
    bench.machine.on_frame(bench.now, &frame);
    bench.machine.on_frame(bench.now, &frame);
    bench.sent();
    let told = bench.notices.iter().filter(|notice| matches!(notice, Notice::Ask(_))).count();
    assert_eq!(told, 1);
    let asks = bench.machine.asks();
    assert_eq!(asks[0].question, b"may I?");
    assert_eq!(asks[0].asker, Some((9, b"ask".to_vec())));
    bench.sent_after(2 * SECOND);
    assert!(bench.machine.asks().is_empty());
    assert!(bench.notices.contains(&Notice::AsksGone));
}

#[test]
fn a_lost_ask_is_noticed_by_the_next_ping_and_fetched() {
    let mut bench = Bench::ready();
    let ping = bench.sent_after(SECOND);
    bench.answer_ping(&ping[0], 1, 1);
    let pull = bench.sent();
    assert_eq!(codes(&pull), [code::ASKS]);
    let facts = AskFacts { pid: 9, left_ms: 2000, program: b"ask" };
    let pending = PendingAsk { seq: code::ASK_SEQ_FIRST + 4, code: 0, facts, question: b"may I?" };
    let mut scratch = [0; 128];
    let page = payload_of(&List::build([pending], &mut scratch).unwrap());
    bench.answer(&pull[0], Status::Ok, &page);
    let next = bench.sent();
    assert_eq!((codes(&next), &next[0].payload[..]), (vec![code::ASKS], &[1, 0][..]));
    bench.answer(&next[0], Status::Ok, &[0, 0]);
    assert_eq!(bench.machine.asks()[0].id.seq, code::ASK_SEQ_FIRST + 4);
}

#[test]
fn a_stopping_bridge_settles_everything() {
    let mut bench = Bench::ready();
    let (read, write) = (bench.submit(false, None), bench.submit(true, None));
    bench.sent();
    bench.machine.close(bench.now);
    assert_eq!(read.recv().unwrap(), Err(CallError::Closed));
    assert!(matches!(write.recv().unwrap(), Err(CallError::OutcomeUnknown(_))));
    assert_eq!(bench.submit(false, None).recv().unwrap(), Err(CallError::Closed));
}
