//! Ten thousand frames, half of them broken.

use std::collections::BTreeMap;
use std::time::Duration;

use askr_wire::message::{ReadReply, WriteReply};
use askr_wire::status::Status;
use askr_wire::{Deframer, FrameError, FrameType, SessionId, code};
use fastrand::Rng;

use crate::common::peer::{Peer, bytes, frame};
use crate::{GUEST, OUTSTANDING, read, write};

/// Frames, broken ones included.
const FRAMES: usize = 10_000;

/// A request that was sent, and its one right answer.
struct Good {
    seq: u32,
    code: u16,
    session: Option<SessionId>,
    answer: (Status, Vec<u8>),
}

/// A request and its answer. What it appends is appended to `log` too.
fn good(rng: &mut Rng, known: &[u8], log: &mut Vec<u8>) -> (u16, Vec<u8>, (Status, Vec<u8>)) {
    match rng.u8(..4) {
        0 => {
            let (offset, len) = (rng.usize(..known.len() - 300), rng.usize(..300));
            let reply = bytes(&ReadReply { data: &known[offset..offset + len] });
            (code::READ, read("/storm/known", offset, len), (Status::Ok, reply))
        }
        1 => {
            let line = format!("line {}\n", log.len());
            log.extend(line.bytes());
            let reply = bytes(&WriteReply { written: u32::try_from(line.len()).unwrap() });
            (code::WRITE, write("/storm/log", line.as_bytes()), (Status::Ok, reply))
        }
        2 => (code::MKDIR, b"/storm".to_vec(), (Status::Exist, Vec::new())),
        _ => (code::STAT, format!("/storm/{}", rng.u32(..)).into_bytes(), (Status::NoEnt, Vec::new())),
    }
}

/// What nobody may take for a frame, made of a frame that would do harm. It may lack the delimiter at its end.
fn broken(rng: &mut Rng, harm: &[u8]) -> Vec<u8> {
    let mut out = harm.to_vec();
    // Neither delimiter: without one of them it would still be whole.
    let inside = 1..harm.len() - 1;
    let at = rng.usize(inside.clone());
    let end = (at + rng.usize(1..9)).min(inside.end);
    // Each begins with a delimiter, so that each is broken for itself.
    match rng.u8(..9) {
        0 => out[at] ^= 1 << rng.u8(..8),
        1 => (0..3).for_each(|_| out[rng.usize(inside.clone())] ^= 1 << rng.u8(..8)),
        2 => out.truncate(at.max(2)),
        3 => drop(out.drain(1..=at.min(harm.len() - 3))),
        4 => drop(out.drain(at..end)),
        5 => drop(out.splice(at..at, harm[at..end].to_vec())),
        // A delimiter too many.
        6 => drop(out.splice(at.max(2)..at.max(2), vec![0; rng.usize(1..4)])),
        7 => drop(out.splice(1.., (0..rng.usize(20..200)).map(|_| rng.u8(..)))),
        _ => drop(out.splice(1.., vec![rng.u8(1..); rng.choice([1100, 1100, 1100, 6000]).unwrap()])),
    }
    if rng.bool() {
        out.push(0);
    }
    out
}

/// The answer to a request, which must be of the same session.
#[track_caller]
fn answer(peer: &mut Peer, good: &Good) -> (Status, Vec<u8>) {
    let received = peer.expect(&format!("answer to request {}", good.seq), |frame| {
        frame.kind == FrameType::Response && frame.seq == good.seq
    });
    let frame = received.frame;
    assert_eq!((frame.code, frame.session.map(|(id, _)| id)), (good.code, good.session));
    (Status::from_u8(frame.payload[0]).unwrap(), frame.payload[1..].to_vec())
}

#[test]
fn in_a_storm_of_broken_frames_each_good_request_gets_its_one_right_answer() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let session = Some(peer.hello().session);
    let mut rng = Rng::with_seed(0xa5c2);
    let known: Vec<u8> = (0..3000).map(|_| rng.u8(..)).collect();
    peer.ok(code::MKDIR, b"/storm");
    peer.ok(code::WRITE, &write("/storm/known", &known));
    let before = peer.stats();

    // What a receiver that loses nothing makes of the same bytes.
    let (mut deframer, mut whole, mut errors) = (Box::new(Deframer::new()), 0, BTreeMap::new());
    let (mut log, mut requests, mut bad) = (Vec::new(), 0, 0);
    while requests + bad < FRAMES {
        let (mut wire, mut awaited) = (Vec::new(), Vec::new());
        while awaited.len() < OUTSTANDING {
            let session = if rng.bool() { session } else { None };
            if rng.bool() {
                let harm = frame(FrameType::Request, rng.u32(..), code::MKDIR, session, b"/storm/harm");
                wire.extend(broken(&mut rng, &harm));
                bad += 1;
            } else {
                let (code, payload, answer) = good(&mut rng, &known, &mut log);
                let (seq, frame) = peer.make(session, code, &payload);
                wire.extend(
                    [&vec![0; rng.usize(..3)], &frame, &vec![0; rng.usize(..3)]].into_iter().flatten(),
                );
                awaited.push(Good { seq, code, session, answer });
            }
        }
        peer.send_raw(&wire);
        for byte in wire {
            match deframer.push(byte) {
                Some(Ok(_)) => whole += 1,
                Some(Err(error)) => *errors.entry(error.name()).or_default() += 1,
                None => {}
            }
        }
        requests += awaited.len();
        for good in awaited {
            assert_eq!(answer(&mut peer, &good), good.answer, "request {} ({:#06x})", good.seq, good.code);
        }
    }
    assert_eq!(whole, requests, "every good frame is whole, and no broken one");
    assert!(errors.values().sum::<u64>() >= bad as u64, "{errors:?} of {bad}");

    let after = peer.stats();
    let grown = |name: &str| after[name] - before[name];
    for kind in FrameError::ALL {
        let counted = grown(&format!("frame_error_{}", kind.name()));
        assert_eq!(counted, errors.get(kind.name()).copied().unwrap_or(0), "{kind:?}");
        assert!(counted > 0 || kind == FrameError::Type, "the storm has none of {kind:?}");
    }
    // One more: the second request for the counters, and the answer to the first.
    for name in ["frames_in", "requests", "replies"] {
        assert_eq!(grown(name), requests as u64 + 1, "{name}");
    }
    let nothing =
        ["stale", "busy", "refused", "replayed", "repeated", "frames_unexpected", "replies_dropped"];
    for name in nothing.into_iter().chain(["replies_orphaned", "rx_overruns", "rx_line_errors", "sessions"]) {
        assert_eq!(grown(name), 0, "{name}");
    }
    let second = peer.find(Duration::ZERO, |frame| frame.kind == FrameType::Response);
    assert!(second.is_none() && peer.errors.is_empty(), "{second:?}, broken: {:?}", peer.errors);
    assert_eq!(peer.path_status(code::STAT, b"/storm/harm"), Status::NoEnt, "no broken frame did anything");
    assert_eq!(askr.run("cat /storm/log").replace('\r', "").into_bytes(), log, "each line once, in order");
}
