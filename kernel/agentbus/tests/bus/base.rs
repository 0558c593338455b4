//! Peers that never say HELLO.

use crate::peer::{Bus, Did, SECOND, bytes_of};
use askr_agentbus::policy::Origin;
use askr_agentbus::{BASE_REPLIES_MAX, Counter, Request};
use askr_wire::message::{ReadRequest, WriteMode, WriteRequest};
use askr_wire::status::Status;
use askr_wire::{BASE_PAYLOAD_MAX, Frame, FrameType, code};

fn frame(code: u16, payload: &[u8]) -> Frame<'_> {
    Frame { kind: FrameType::Request, seq: 1, code, session: None, payload }
}

#[test]
fn a_request_is_handed_on_and_its_result_comes_back_in_a_base_frame() {
    let mut bus = Bus::new();
    let did = bus.put_with(&frame(code::STAT, b"/proc"), |control| {
        assert_eq!(control.request, Request::Stat { path: b"/proc" });
        assert_eq!(control.origin, Origin::Agent { session: None });
        assert_eq!(control.body_max, BASE_PAYLOAD_MAX - 1);
    });
    assert_eq!(bus.next(), None, "not before the result is there");
    bus.serve(did, b"body");
    let sent = bus.only();
    assert_eq!((sent.kind, sent.seq, sent.code, sent.session), (FrameType::Response, 1, code::STAT, None));
    assert_eq!(sent.payload, b"\0body");
}

#[test]
fn a_repeated_seq_is_a_new_request() {
    let mut bus = Bus::new();
    for _ in 0..3 {
        let did = bus.base(1, code::STAT, b"/");
        bus.serve(did, b"x");
    }
    assert_eq!(bus.drain().len(), 3);
    assert_eq!(bus.count(Counter::Requests), 3);
}

#[test]
fn statuses_are_folded_to_the_five_of_the_base() {
    let mut bus = Bus::new();
    for (&status, seq) in Status::ALL.iter().filter(|&&status| status != Status::Ok).zip(1..) {
        let Did::Control(token) = bus.base(seq, code::STAT, b"/x") else { panic!("not handed on") };
        bus.router.respond(token, Err(status));
        assert_eq!(bus.only().payload, [status.base() as u8]);
        assert!(status.base() as u8 <= 4);
    }
}

#[test]
fn whatever_is_no_request_of_the_base_is_einval() {
    let mut bus = Bus::new();
    let long = vec![b'/'; 1024];
    let cases: [(u16, &[u8]); 14] = [
        (code::STAT, b""),
        (code::STAT, b"proc"),
        (code::STAT, b"/a\0b"),
        (code::STAT, &long),
        (code::READ, b"\0\0\0"),
        (code::READ, b"\0\0\0\0\0\0\0\0\0\0\0\0"),
        (code::WRITE, b"\x02\x01\0/x"),
        (code::WRITE, b"\0\xff\xff/x"),
        (code::PS, b"\0\0\0\0\0"),
        (code::PING, b"\x01\0\0\0"),
        (code::STATS, b""),
        (code::ANSWER, b"\0\0\0\x80\0yes"),
        (code::HELLO, b"garbage"),
        (0xFFFF, b""),
    ];
    for (code, payload) in cases {
        assert_eq!(bus.base(9, code, payload), Did::Nothing, "{code} {payload:?}");
        let sent = bus.only();
        assert_eq!((sent.seq, sent.code, sent.payload), (9, code, vec![Status::Inval as u8]), "{payload:?}");
    }
    assert_eq!(bus.count(Counter::Refused), 14);
}

#[test]
fn absurd_numbers_reach_the_one_who_knows_what_they_mean() {
    for offset in [1 << 31, 1 << 32, 1 << 63, u64::MAX] {
        for len in [0, 1 << 31, u32::MAX] {
            let payload = bytes_of(&ReadRequest { offset, len, path: b"/f" });
            let did = Bus::new().put_with(&frame(code::READ, &payload), |control| {
                assert_eq!(control.request, Request::Read { offset, len, path: b"/f" });
            });
            assert!(matches!(did, Did::Control(_)));
        }
    }
    let payload = bytes_of(&WriteRequest { mode: WriteMode::Append, path: b"/f", data: &[0; 900] });
    Bus::new().put_with(&frame(code::WRITE, &payload), |control| {
        let data = &[0; 900];
        assert_eq!(control.request, Request::Write { mode: WriteMode::Append, path: b"/f", data });
    });
}

#[test]
fn a_flood_is_answered_as_far_as_there_is_room_and_the_rest_is_counted() {
    let mut bus = Bus::new();
    let mut tokens = Vec::new();
    for seq in 0..200 {
        if let Did::Control(token) = bus.base(seq, code::STAT, b"/") {
            tokens.push(token);
        }
    }
    assert_eq!(tokens.len(), BASE_REPLIES_MAX);
    for token in tokens {
        bus.router.respond(token, Ok(b""));
    }
    let frames = bus.drain();
    assert_eq!(frames.len() as u64 + bus.count(Counter::RepliesDropped), 200);
    assert_eq!(bus.count(Counter::Busy), 200 - BASE_REPLIES_MAX as u64);
    assert!(matches!(bus.base(1, code::STAT, b"/"), Did::Control(_)), "there is room again");
}

#[test]
fn it_is_attached_for_its_lease_and_then_its_unsent_response_is_given_up() {
    let mut bus = Bus::new();
    assert!(!bus.router.is_attached(bus.now));
    let did = bus.base(1, code::STAT, b"/");
    bus.serve(did, b"");
    let end = bus.now + 60 * SECOND;
    assert_eq!(bus.router.next_deadline(), Some(end));
    assert!(bus.router.is_attached(end - 1) && !bus.router.is_attached(end));
    bus.now = end;
    assert!(bus.tick().is_empty());
    assert_eq!(bus.next(), None);
    assert_eq!(bus.count(Counter::RepliesDropped), 1);
    assert_eq!(bus.router.next_deadline(), None);
}

#[test]
fn a_response_that_becomes_ready_after_everybody_has_gone_is_given_up() {
    let mut bus = Bus::new();
    let did = bus.base(1, code::STAT, b"/");
    bus.now += 60 * SECOND;
    assert!(bus.tick().is_empty());
    bus.serve(did, b"");
    assert_eq!(bus.next(), None);
    assert_eq!(bus.count(Counter::RepliesDropped), 1);
}

#[test]
fn frames_that_only_the_kernel_sends_are_counted_and_attach_nobody() {
    let mut bus = Bus::new();
    for kind in [FrameType::Response, FrameType::Event, FrameType::DecisionReq] {
        assert_eq!(bus.put(kind, 1, 1, None, b"\0"), Did::Nothing);
    }
    assert_eq!(bus.count(Counter::FramesUnexpected), 3);
    assert!(!bus.router.is_attached(bus.now));
    assert_eq!(bus.next(), None);
}
