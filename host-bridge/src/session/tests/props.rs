//! What holds of the conversation whatever the guest sends and whenever the link comes and goes.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use askr_wire::message::{HelloReply, PingReply};
use askr_wire::{FrameType, List, SessionId, code};
use proptest::prelude::*;

use super::small_nonce;
use crate::link::{Door, OwnedFrame};
use crate::session::calls::{Call, Done};
use crate::session::machine::{Machine, payload_of};
use crate::session::{BootId, CallError, Reply};

const DEADLINE: Duration = Duration::from_secs(20);
const SESSION: SessionId = SessionId([5; 8]);

#[derive(Clone, Debug)]
enum Step {
    Up(Door),
    Down(Door),
    Later(u64),
    Call { mutating: bool, pinned: bool },
    Frame(Door, OwnedFrame),
}

fn hello(boot: u8, window: u16) -> Vec<u8> {
    let reply = HelloReply {
        generation: 1,
        payload_limit: 4096,
        window,
        lease_ms: 3000,
        ping_ms: 1000,
        boot_id: [boot; 16],
        session: SESSION,
        event_cursor: 0,
        kernel: b"askr",
        version: b"",
        verbs: List::EMPTY,
    };
    [&[0][..], &payload_of(&reply)].concat()
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    let pong = (any::<u8>(), 0u16..3).prop_map(|(previous, pending_asks)| {
        let previous_counter = u32::from(previous % 4);
        [&[0][..], &payload_of(&PingReply { previous_counter, pending_asks, event_cursor: 0, uptime_ns: 0 })]
            .concat()
    });
    prop_oneof![
        (1u8..3, 1u16..5).prop_map(|(boot, window)| hello(boot, window)),
        pong,
        any::<u8>().prop_map(|status| vec![status]),
        prop::collection::vec(any::<u8>(), 0..40),
    ]
}

fn frame() -> impl Strategy<Value = OwnedFrame> {
    let kind = prop::sample::select(vec![
        FrameType::Response,
        FrameType::Response,
        FrameType::Response,
        FrameType::Event,
        FrameType::DecisionReq,
        FrameType::Request,
    ]);
    let code = prop::sample::select(vec![
        code::HELLO,
        code::HELLO,
        code::PING,
        code::ASKS,
        code::STAT,
        code::EVENT_EXIT,
    ]);
    let session = prop::option::of(prop::collection::vec(any::<u8>(), 0..8));
    (kind, 1u32..12, code, session, payload()).prop_map(|(kind, seq, code, ext, payload)| OwnedFrame {
        kind,
        seq,
        code,
        session: ext.map(|ext| (SESSION, ext)),
        payload,
    })
}

fn door() -> impl Strategy<Value = Door> {
    prop::sample::select(&Door::ALL[..])
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => door().prop_map(Step::Up),
        1 => door().prop_map(Step::Down),
        4 => (0u64..3000).prop_map(Step::Later),
        3 => any::<(bool, bool)>().prop_map(|(mutating, pinned)| Step::Call { mutating, pinned }),
        12 => (door(), frame()).prop_map(|(door, frame)| Step::Frame(door, frame)),
    ]
}

fn submit(
    machine: &mut Machine,
    now: Instant,
    mutating: bool,
    pinned: bool,
) -> Receiver<Result<Reply, CallError>> {
    let (done, outcome) = channel();
    let pinned = pinned.then_some(BootId([1; 16]));
    let done = Done::Caller(done);
    let call =
        Call { code: code::STAT, payload: vec![b'/'], mutating, pinned, deadline: now + DEADLINE, done };
    machine.submit(now, call);
    outcome
}

proptest! {
    #[test]
    fn every_call_ends_once_by_its_deadline_and_time_always_moves_on(steps in prop::collection::vec(step(), 0..80)) {
        let mut nonce = 0u8;
        let mut machine = Machine::new(Box::new(move || { nonce = nonce.wrapping_add(1); small_nonce(nonce) }));
        let mut now = Instant::now();
        let mut outcomes = Vec::new();
        for step in steps {
            match step {
                Step::Up(door) => machine.on_up(now, door),
                Step::Down(door) => machine.on_down(now, door),
                Step::Later(ms) => now += Duration::from_millis(ms),
                Step::Call { mutating, pinned } => outcomes.push(submit(&mut machine, now, mutating, pinned)),
                Step::Frame(door, frame) => machine.on_frame(now, door, &frame),
            }
            // As the driver does; a state whose deadline never moves on would make it spin.
            machine.tick(now);
            if machine.next_deadline().is_some_and(|at| at <= now) {
                machine.tick(now);
                prop_assert!(machine.next_deadline().is_none_or(|at| at > now));
            }
            prop_assert!(machine.take_output().frames.len() <= 32);
        }
        machine.tick(now + DEADLINE);
        for outcome in outcomes {
            prop_assert!(outcome.try_recv().is_ok(), "a call without an outcome");
            prop_assert_eq!(outcome.try_recv().unwrap_err(), TryRecvError::Disconnected);
        }
    }
}
