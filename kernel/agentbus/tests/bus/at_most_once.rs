//! Within a session every request is done once, however often it comes.

use askr_agentbus::{Counter, WINDOW_MAX};
use askr_wire::message::{Decision, PingRequest};
use askr_wire::status::Status;
use askr_wire::{Frame, FrameType, SessionHead, code};

use crate::peer::{Bus, Did, SECOND, answer_request, bytes_of};

/// Every response is lost once: the host repeats each request, and each is done once.
#[test]
fn with_every_response_lost_once_every_request_is_done_once() {
    let mut bus = Bus::in_session();
    let mut done = Vec::new();
    for seq in 1..=40_u32 {
        let mut answers = Vec::new();
        for _attempt in 0..3 {
            if let Did::Control(token) = bus.request(seq, code::MKDIR, b"/tmp/d") {
                done.push(seq);
                assert_eq!(bus.request(seq, code::MKDIR, b"/tmp/d"), Did::Nothing, "it is being done");
                assert_eq!(bus.next(), None);
                bus.router.respond(token, Ok(&seq.to_le_bytes()));
            }
            answers.push(bus.only());
        }
        assert_eq!(answers[0].body(), seq.to_le_bytes());
        assert!(answers[0] == answers[1] && answers[1] == answers[2]);
    }
    assert_eq!(done, (1..=40).collect::<Vec<_>>());
    assert_eq!((bus.count(Counter::Replayed), bus.count(Counter::Repeated)), (80, 40));
}

/// The same with a full window: everything is sent, all responses are lost, everything is sent again.
#[test]
fn a_whole_window_of_lost_responses_is_given_again() {
    let mut bus = Bus::in_session();
    for round in 0..5_u32 {
        let seqs = round * 8 + 1..=round * 8 + 8;
        let dids: Vec<_> = seqs.clone().map(|seq| bus.request(seq, code::MKDIR, b"/d")).collect();
        // Later ones are ready first.
        dids.into_iter().rev().for_each(|did| bus.serve(did, b""));
        let lost = bus.drain();
        assert_eq!(lost.len(), 8);
        for seq in seqs {
            assert_eq!(bus.request(seq, code::MKDIR, b"/d"), Did::Nothing);
        }
        assert_eq!(bus.drain().len(), 8);
    }
    assert_eq!(bus.count(Counter::Requests), 40);
}

#[test]
fn a_used_seq_with_other_bytes_is_einval_and_an_old_one_estale() {
    let mut bus = Bus::in_session();
    for seq in 1..=20 {
        let did = bus.request(seq, code::MKDIR, b"/d");
        bus.serve(did, b"");
        bus.drain();
    }
    for (seq, code, path, status) in [
        (20, code::MKDIR, &b"/other"[..], Status::Inval),
        (20, code::REMOVE, b"/d", Status::Inval),
        (1, code::MKDIR, b"/d", Status::Stale),
        (12, code::MKDIR, b"/d", Status::Stale),
        (0, code::MKDIR, b"/d", Status::Stale),
    ] {
        assert_eq!(bus.request(seq, code, path), Did::Nothing);
        assert_eq!(bus.only().status(), status);
    }
}

#[test]
fn another_ext_is_other_bytes() {
    let mut bus = Bus::in_session();
    let head = SessionHead { id: bus.session.unwrap(), ext: b"" };
    let frame =
        Frame { kind: FrameType::Request, seq: 1, code: code::STAT, session: Some(head), payload: b"/" };
    assert!(matches!(bus.put_with(&frame, |_| ()), Did::Control(_)));
    let other = Frame { session: Some(SessionHead { ext: b"\x63\0\0", ..head }), ..frame };
    assert_eq!(bus.put_with(&other, |_| ()), Did::Nothing);
    assert_eq!(bus.only().status(), Status::Inval);
}

#[test]
fn beyond_the_window_it_is_busy_and_that_is_not_remembered() {
    let mut bus = Bus::in_session();
    let mut dids: Vec<_> = (1..).take(WINDOW_MAX).map(|seq| bus.request(seq, code::STAT, b"/")).collect();
    for _ in 0..2 {
        assert_eq!(bus.request(9, code::STAT, b"/"), Did::Nothing);
        assert_eq!(bus.only().status(), Status::Busy);
    }
    bus.serve(dids.remove(0), b"");
    bus.drain();
    assert!(matches!(bus.request(9, code::STAT, b"/"), Did::Control(_)), "the same request, done now");
    assert_eq!(bus.request(2, code::PING, &bytes_of(&PingRequest { counter: 1 })), Did::Nothing);
    assert_eq!(bus.only().code, code::PING, "a ping needs no place");
}

#[test]
fn a_request_that_found_the_kernel_busy_may_come_again() {
    let mut bus = Bus::in_session();
    for result in [Err(Status::Busy), Err(Status::Busy), Ok(&b""[..])] {
        let Did::Control(token) = bus.request(1, code::MKDIR, b"/d") else { panic!("it was remembered") };
        assert_eq!(bus.request(1, code::MKDIR, b"/d"), Did::Nothing, "it is being done");
        bus.router.respond(token, result);
        assert_eq!(bus.only().status(), result.err().unwrap_or(Status::Ok));
    }
    assert_eq!(bus.request(1, code::MKDIR, b"/d"), Did::Nothing, "now it was done");
    assert_eq!(bus.only().status(), Status::Ok);
}

#[test]
fn an_answer_verb_sent_twice_is_accepted_once_and_answered_twice_alike() {
    let mut bus = Bus::in_session();
    let _ticket = bus.ask(7);
    let seq = bus.only().seq;
    let payload = answer_request(seq, Decision::Answer(b"yes"));
    assert_eq!(bus.request(1, code::ANSWER, &payload), Did::Woke(7));
    let first = bus.only();
    assert_eq!(first.body(), [0]);
    assert_eq!(bus.request(1, code::ANSWER, &payload), Did::Nothing);
    assert_eq!(bus.only(), first);
    assert_eq!(bus.request(2, code::ANSWER, &payload), Did::Nothing);
    assert_eq!(bus.only().body(), [1], "late");
    assert_eq!(bus.request(3, code::ANSWER, &answer_request(seq + 1, Decision::Refuse)), Did::Nothing);
    assert_eq!(bus.only().body(), [2], "unknown");
    assert_eq!((bus.count(Counter::AnswersLate), bus.count(Counter::AnswersUnknown)), (1, 1));
}

#[test]
fn a_session_outlives_its_lease_and_so_does_what_it_remembers() {
    let mut bus = Bus::in_session();
    let did = bus.request(1, code::MKDIR, b"/a");
    bus.serve(did, b"done");
    bus.now += 10 * SECOND;
    assert!(!bus.router.is_attached(bus.now));
    assert!(bus.tick().is_empty());
    assert_eq!(bus.next(), None, "nothing is sent with nobody attached");
    bus.now += SECOND;
    assert_eq!(bus.request(1, code::MKDIR, b"/a"), Did::Nothing);
    assert_eq!(bus.only().body(), b"done");
    assert!(bus.router.is_attached(bus.now));
}
