//! Two doors and one session: what is for a peer goes out where its last frame came in.

use askr_agentbus::{BASE_REPLIES_MAX, Counter, Door, Event};
use askr_wire::message::PingRequest;
use askr_wire::status::Status;
use askr_wire::{FrameType, SessionId, code};

use crate::peer::{Bus, Did, SECOND, Sent, bytes_of};

const EXIT: Event<'static> = Event::Exit { pid: 3, code: 1, name: b"sh" };

impl Bus {
    fn at(&mut self, door: Door) -> &mut Self {
        self.door = door;
        self
    }

    fn drain_at(&mut self, door: Door) -> Vec<Sent> {
        self.at(door).drain()
    }
}

fn kinds(frames: &[Sent]) -> Vec<FrameType> {
    frames.iter().map(|sent| sent.kind).collect()
}

#[test]
fn a_repeated_hello_moves_the_session_and_resets_nothing() {
    let mut bus = Bus::in_session();
    let session = bus.session;
    let did = bus.request(1, code::MKDIR, b"/d");
    bus.serve(did, b"");
    assert_eq!(bus.only().status(), Status::Ok);
    assert_eq!(bus.at(Door::Data).hello(1), session.unwrap());
    assert_eq!((bus.count(Counter::Sessions), bus.count(Counter::HellosRepeated)), (1, 1));
    assert_eq!(bus.request(1, code::MKDIR, b"/d"), Did::Nothing, "it was done");
    assert_eq!(bus.only().status(), Status::Ok);
    assert_eq!(bus.at(Door::Com2).next(), None);
}

#[test]
fn any_frame_of_the_session_moves_it_and_one_of_another_does_not() {
    let mut bus = Bus::in_session();
    let ping = |counter| bytes_of(&PingRequest { counter });
    bus.at(Door::Data).request(1, code::PING, &ping(1));
    assert_eq!(bus.drain_at(Door::Com2), []);
    assert_eq!(bus.at(Door::Data).only().code, code::PING);
    // Of a session that never was, of a base peer, and a HELLO that is refused.
    bus.at(Door::Com2).put(FrameType::Request, 2, code::STAT, Some(SessionId([9; 8])), b"/");
    bus.base(3, code::UPTIME, b"");
    bus.put(FrameType::Request, 4, code::HELLO, None, b"short");
    assert_eq!(bus.drain().len(), 3, "refused where they came from");
    bus.router.event(bus.now, &EXIT);
    assert_eq!(bus.next(), None);
    assert_eq!(kinds(&bus.drain_at(Door::Data)), [FrameType::Event]);
}

#[test]
fn asks_events_and_answers_wait_for_the_session_and_go_where_it_turns_up() {
    let mut bus = Bus::new();
    bus.at(Door::Data).hello(1);
    let did = bus.request(1, code::STAT, b"/");
    bus.router.on_close(bus.now, Door::Data);
    bus.serve(did, b"");
    let _ticket = bus.ask(1);
    bus.router.event(bus.now, &EXIT);
    assert_eq!(bus.drain_at(Door::Com2), [], "nobody of the session is there");
    assert!(bus.router.is_attached(bus.now), "it may come back");
    assert_eq!(bus.at(Door::Com2).greet(1, |hello| hello).code, code::HELLO);
    let kinds = kinds(&bus.drain());
    assert_eq!(kinds, [FrameType::DecisionReq, FrameType::Event, FrameType::Response]);
}

/// Sent to a door that had died: asked for again through the other one it is given, and nothing is done twice.
#[test]
fn a_window_that_was_lost_in_one_door_is_given_again_through_the_other() {
    let mut bus = Bus::new();
    bus.at(Door::Data).hello(1);
    let dids: Vec<_> = (1..=8).map(|seq| bus.request(seq, code::MKDIR, b"/d")).collect();
    let (answered, working) = dids.split_at(5);
    answered.iter().for_each(|&did| bus.serve(did, b""));
    assert_eq!(bus.drain().len(), 5);
    bus.at(Door::Com2);
    for seq in 1..=8 {
        assert_eq!(bus.request(seq, code::MKDIR, b"/d"), Did::Nothing);
    }
    assert_eq!(bus.drain().len(), 5);
    working.iter().for_each(|&did| bus.serve(did, b""));
    assert_eq!(bus.drain().len(), 3);
    assert_eq!((bus.count(Counter::Requests), bus.drain_at(Door::Data).len()), (8, 0));
}

#[test]
fn a_base_peer_is_answered_where_it_asked_and_does_not_use_up_the_places_of_the_other_door() {
    let mut bus = Bus::new();
    let fill = |bus: &mut Bus| {
        let seqs = 1..=u32::try_from(BASE_REPLIES_MAX).unwrap() + 1;
        let dids: Vec<_> = seqs.map(|seq| bus.base(seq, code::STAT, b"/")).collect();
        assert_eq!(dids.iter().filter(|did| **did == Did::Nothing).count(), 1, "one too many");
        dids
    };
    let data = fill(bus.at(Door::Data));
    let com2 = fill(bus.at(Door::Com2));
    for did in data.into_iter().chain(com2).filter(|did| *did != Did::Nothing) {
        bus.serve(did, b"");
    }
    for door in Door::ALL {
        assert_eq!(bus.drain_at(door).len(), BASE_REPLIES_MAX + 1);
    }
}

#[test]
fn with_its_door_a_base_peer_is_gone_and_what_is_for_it_dropped() {
    let mut bus = Bus::new();
    let did = bus.at(Door::Data).base(1, code::STAT, b"/");
    bus.serve(did, b"");
    bus.base(2, code::UPTIME, b"");
    let _ticket = bus.ask(1);
    bus.router.on_close(bus.now, Door::Data);
    assert!(!bus.router.is_attached(bus.now));
    assert_eq!(bus.tick(), [1], "whoever asked is told");
    assert_eq!((bus.drain(), bus.count(Counter::RepliesDropped)), (vec![], 2));
}

#[test]
fn asks_go_to_the_base_peer_that_spoke_last_while_it_is_there() {
    let mut bus = Bus::new();
    bus.at(Door::Com2).base(1, 0xFFFF, b"");
    bus.now += SECOND;
    bus.at(Door::Data).base(1, 0xFFFF, b"");
    let _ticket = bus.ask(1);
    assert_eq!(bus.drain_at(Door::Com2).len(), 1, "its own answer");
    assert_eq!(kinds(&bus.drain_at(Door::Data)), [FrameType::DecisionReq, FrameType::Response]);
    let did = bus.base(2, code::STAT, b"/");
    bus.serve(did, b"");
    bus.router.on_close(bus.now, Door::Data);
    assert!(bus.router.is_attached(bus.now), "the other one is there");
    assert_eq!((bus.drain_at(Door::Data), bus.count(Counter::RepliesDropped)), (vec![], 1));
    bus.router.event(bus.now, &EXIT);
    let kinds = kinds(&bus.drain_at(Door::Com2));
    assert_eq!(
        kinds,
        [FrameType::DecisionReq, FrameType::Event],
        "the ask, which the other one may never have read"
    );
}

#[test]
fn what_is_ready_after_its_door_has_closed_is_for_nobody() {
    let mut bus = Bus::new();
    bus.at(Door::Com2).base(1, 0xFFFF, b"");
    bus.drain_at(Door::Com2);
    let slow = bus.at(Door::Data).base(1, code::STAT, b"/");
    bus.router.on_close(bus.now, Door::Data);
    let did = bus.base(1, code::STAT, b"/bin");
    bus.serve(slow, b"of the one that has gone");
    bus.serve(did, b"");
    assert_eq!(bus.drain_at(Door::Data).len(), 1, "the new one's own answer");
    assert_eq!(bus.count(Counter::RepliesOrphaned), 1);
}

#[test]
fn a_stalled_door_does_not_hold_up_the_other() {
    let mut bus = Bus::in_session();
    let did = bus.at(Door::Data).base(1, code::STAT, b"/");
    bus.serve(did, b"");
    // Nobody takes what is for the data door.
    for seq in 1..=20 {
        let did = bus.at(Door::Com2).request(seq, code::STAT, b"/");
        bus.serve(did, b"");
        assert_eq!(bus.only().seq, seq);
    }
    assert_eq!(bus.drain_at(Door::Data).len(), 1);
}
