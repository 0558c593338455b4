//! HELLO, session frames, at most once, and what happens when another peer takes over.

use crate::peer::{Bus, Did, SECOND, bytes_of};
use askr_agentbus::policy::Origin;
use askr_agentbus::{Counter, Event, Request};
use askr_wire::message::{
    Counter as WireCounter, HelloReply, HelloRequest, PingReply, PingRequest, WriteMode, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{
    Frame, FrameType, List, Message, SESSION_HEAD_LEN, SESSION_PAYLOAD_MAX, SessionHead, SessionId, code,
};

fn ping(counter: u32) -> Vec<u8> {
    bytes_of(&PingRequest { counter })
}

#[test]
fn hello_says_what_holds() {
    let mut bus = Bus::new();
    bus.router.event(bus.now, &Event::Exit { pid: 1, code: 0, name: b"" });
    let sent = bus.greet(1, |hello| HelloRequest { payload_limit: 2000, window: 3, ..hello });
    assert_eq!((sent.kind, sent.seq, sent.session), (FrameType::Response, 1, None));
    let reply = HelloReply::decode(sent.body()).unwrap();
    assert_eq!((reply.generation, reply.payload_limit, reply.window), (1, 2000, 3));
    assert_eq!((reply.lease_ms, reply.ping_ms, reply.event_cursor), (10_000, 2_000, 1));
    assert_eq!((reply.boot_id, reply.kernel, reply.version), ([7; 16], &b"askr"[..], &b"0.1.0"[..]));
    assert_eq!(reply.verbs.iter().map(|verb| (verb.code, verb.generation)).collect::<Vec<_>>(), code::VERBS);
}

#[test]
fn a_copy_of_the_hello_gets_the_same_answer_and_resets_nothing() {
    let mut bus = Bus::new();
    let first = bus.greet(1, |hello| hello);
    bus.session = Some(HelloReply::decode(first.body()).unwrap().session);
    let did = bus.request(1, code::MKDIR, b"/tmp/d");
    bus.serve(did, b"");
    let served = bus.only();
    bus.router.event(bus.now, &Event::Exit { pid: 1, code: 0, name: b"" });
    bus.drain();
    assert_eq!(bus.greet(1, |hello| hello), first);
    assert_eq!(bus.request(1, code::MKDIR, b"/tmp/d"), Did::Nothing);
    assert_eq!(bus.only(), served);
    assert_eq!((bus.count(Counter::Sessions), bus.count(Counter::HellosRepeated)), (1, 1));
}

#[test]
fn a_foreign_session_is_stale_and_nothing_is_done() {
    let mut bus = Bus::in_session();
    let foreign = SessionId([9; 8]);
    for code in [code::WRITE, code::PING, code::ANSWER, 0xFFFF] {
        assert_eq!(bus.put(FrameType::Request, 5, code, Some(foreign), b"/"), Did::Nothing);
        let sent = bus.only();
        assert_eq!(
            (sent.seq, sent.code, sent.session, sent.status()),
            (5, code, Some(foreign), Status::Stale)
        );
    }
    let ticket = bus.ask(1);
    let seq = bus.only().seq;
    assert_eq!(bus.put(FrameType::DecisionResp, seq, 0, Some(foreign), b"yes"), Did::Nothing);
    assert_eq!(bus.router.take(ticket, &mut []), askr_agentbus::AskPoll::Pending);
    assert_eq!(bus.count(Counter::Stale), 5);
}

#[test]
fn a_frame_of_a_session_from_before_the_boot_is_stale_even_with_nobody_attached() {
    let mut bus = Bus::new();
    assert_eq!(bus.put(FrameType::Request, 5, code::PING, Some(SessionId([9; 8])), &ping(3)), Did::Nothing);
    assert_eq!(bus.only().status(), Status::Stale);
    assert!(!bus.router.is_attached(bus.now), "it says nothing about who listens now");
}

#[test]
fn a_request_carries_its_origin_and_the_room_there_is() {
    let mut bus = Bus::new();
    bus.greet(1, |hello| HelloRequest { payload_limit: 2000, ..hello });
    let id = bus.hello(1);
    let payload = bytes_of(&WriteRequest { mode: WriteMode::Replace, path: b"/tmp/f", data: &[1; 1500] });
    let head = SessionHead { id, ext: b"\x63\x02\0xx" };
    let frame =
        Frame { kind: FrameType::Request, seq: 1, code: code::WRITE, session: Some(head), payload: &payload };
    let did = bus.put_with(&frame, |control| {
        assert_eq!(control.origin, Origin::Agent { session: Some(id) });
        assert_eq!(control.body_max, 2000 - SESSION_HEAD_LEN - 1);
        let data = &[1; 1500];
        assert_eq!(control.request, Request::Write { mode: WriteMode::Replace, path: b"/tmp/f", data });
    });
    bus.serve(did, &vec![b'x'; 2000 - SESSION_HEAD_LEN]);
    assert_eq!(bus.only().status(), Status::MsgSize, "one byte more than fits");
    let malformed = Frame { session: Some(SessionHead { id, ext: b"\x63\x03\0xx" }), seq: 2, ..frame };
    assert_eq!(bus.put_with(&malformed, |_| ()), Did::Nothing);
    assert_eq!(bus.only().status(), Status::Inval);
}

#[test]
fn a_session_gets_statuses_that_the_base_does_not_have() {
    let mut bus = Bus::in_session();
    let long = vec![b'/'; 1024];
    for (seq, (code, payload, status)) in (1..).zip([
        (code::STAT, &long[..], Status::NameTooLong),
        (code::STAT, b"tmp", Status::Inval),
        (0xFFFF, b"", Status::NoSys),
        (code::STATS, b"x", Status::Inval),
        (code::ASKS, b"", Status::Inval),
        (code::ANSWER, b"\0\0\0\x80\x07", Status::Inval),
        (code::HELLO, b"", Status::Inval),
    ]) {
        assert_eq!(bus.request(seq, code, payload), Did::Nothing);
        assert_eq!(bus.only().status(), status, "{code}");
    }
}

#[test]
fn a_ping_tells_what_the_peer_may_have_missed() {
    let mut bus = Bus::in_session();
    let _ticket = bus.ask(1);
    bus.router.event(bus.now, &Event::Exit { pid: 1, code: 0, name: b"" });
    bus.drain();
    for (seq, counter, previous_counter) in [(1, 11, 0), (2, 12, 11), (2, 12, 11), (3, 13, 12)] {
        assert_eq!(bus.request(seq, code::PING, &ping(counter)), Did::Nothing);
        let reply = PingReply { previous_counter, pending_asks: 1, event_cursor: 1, uptime_ns: bus.now };
        assert_eq!(PingReply::decode(bus.only().body()), Ok(reply));
    }
    assert_eq!(bus.request(1, code::PING, &ping(11)), Did::Nothing);
    assert_eq!(bus.next(), None, "a delayed copy");
    for _ in 0..20 {
        assert_eq!(bus.request(3, code::PING, &ping(13)), Did::Nothing);
    }
    assert_eq!(bus.only().code, code::PING, "answered once while the answer waits");
    assert_eq!(bus.request(4, code::PING, &ping(0)), Did::Nothing);
    assert_eq!(bus.only().status(), Status::Inval);
}

#[test]
fn stats_show_every_counter() {
    let mut bus = Bus::in_session();
    bus.router.on_frame_error(askr_wire::FrameError::Crc);
    bus.router.note(Counter::RxOverruns, 5);
    assert_eq!(bus.request(1, code::STATS, b""), Did::Nothing);
    let sent = bus.only();
    let list = List::<WireCounter<'_>>::decode(sent.body()).unwrap();
    let value = |name: &str| list.iter().find(|item| item.name == name.as_bytes()).map(|item| item.value);
    assert_eq!(
        (value("frame_error_crc"), value("rx_overruns"), value("frames_in")),
        (Some(1), Some(5), Some(2))
    );
    assert_eq!(usize::from(list.len()), Counter::ALL.len());
}

#[test]
fn a_new_hello_ends_the_session_before_it() {
    let mut bus = Bus::in_session();
    let old = bus.session;
    let running = bus.request(1, code::MKDIR, b"/a");
    let ready = bus.request(2, code::MKDIR, b"/b");
    bus.serve(ready, b"old");
    let ticket = bus.ask(42);
    assert_eq!(bus.next().unwrap().session, old);
    bus.request(3, 0xFFFF, b"");
    bus.request(2, code::MKDIR, b"/other");
    bus.hello(2);
    assert_ne!(bus.session, old);
    // The ask goes to the new peer; of the old requests it gets nothing, not even those still to end.
    let again = bus.only();
    assert_eq!((again.kind, again.session), (FrameType::DecisionReq, bus.session));
    bus.serve(running, b"old");
    assert_eq!(bus.next(), None);
    assert_eq!(bus.count(Counter::RepliesOrphaned), 1);
    // The same numbers are new requests now, and the old id is worth nothing.
    let did = bus.request(1, code::MKDIR, b"/c");
    bus.serve(did, b"new");
    assert_eq!(bus.only().body(), b"new");
    assert_eq!(bus.put(FrameType::Request, 3, code::MKDIR, old, b"/d"), Did::Nothing);
    assert_eq!(bus.only().status(), Status::Stale);
    // The program that asked has noticed nothing.
    assert_eq!(bus.put(FrameType::DecisionResp, again.seq, 0, old, b"no"), Did::Nothing);
    assert_eq!(bus.answer(again.seq, b"yes"), Did::Woke(42));
    let mut into = [0; 3];
    assert!(matches!(bus.router.take(ticket, &mut into), askr_agentbus::AskPoll::Done(_)));
    assert_eq!(&into, b"yes");
}

#[test]
fn numbers_begin_again_with_each_session() {
    let mut bus = Bus::in_session();
    for seq in 1..=20 {
        let did = bus.request(seq, code::MKDIR, b"/a");
        bus.serve(did, b"");
        bus.drain();
    }
    bus.hello(2);
    assert!(matches!(bus.request(1, code::MKDIR, b"/a"), Did::Control(_)));
}

#[test]
fn a_delayed_hello_of_an_ended_session_does_not_bring_it_back() {
    let mut bus = Bus::in_session();
    let did = bus.request(1, code::MKDIR, b"/a");
    bus.serve(did, b"");
    bus.hello(2);
    bus.drain();
    assert_eq!(bus.greet(1, |hello| hello).payload, [Status::Inval as u8]);
    let did = bus.request(1, code::MKDIR, b"/a");
    assert!(matches!(did, Did::Control(_)), "the second session goes on");
}

#[test]
fn a_base_peer_is_served_beside_a_session_and_after_it() {
    let mut bus = Bus::in_session();
    let did = bus.base(1, code::STAT, b"/");
    bus.serve(did, b"base");
    assert_eq!(bus.only().session, None);
    let _ticket = bus.ask(1);
    assert_eq!(bus.only().session, bus.session, "asks go to the session");
    bus.now += 10 * SECOND;
    assert_eq!(bus.tick(), [1], "its deadline was before");
    let _ticket = bus.ask(2);
    assert_eq!(bus.only().session, None, "the session has gone, the base peer is there");
    let did = bus.request(1, code::STAT, b"/");
    bus.serve(did, b"");
    let kinds: Vec<_> = bus.drain().into_iter().map(|sent| (sent.kind, sent.session)).collect();
    assert_eq!(kinds, [(FrameType::DecisionReq, bus.session), (FrameType::Response, bus.session)]);
}

#[test]
fn the_longest_response_fits_into_its_frame() {
    let mut bus = Bus::in_session();
    let did = bus.request(
        1,
        code::READ,
        &bytes_of(&askr_wire::message::ReadRequest { offset: 0, len: 1, path: b"/f" }),
    );
    let body = vec![0xA5; SESSION_PAYLOAD_MAX - SESSION_HEAD_LEN - 1];
    bus.serve(did, &body);
    assert_eq!(bus.only().body(), body);
}
