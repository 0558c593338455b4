//! What is sent, and before what.

use askr_agentbus::{Counter, Door, Event};
use askr_wire::message::PingRequest;
use askr_wire::{FrameType, code};

use crate::peer::{Bus, bytes_of};

const EXIT: Event<'static> = Event::Exit { pid: 3, code: 1, name: b"sh" };

#[test]
fn pings_go_before_asks_before_events_before_all_else() {
    let mut bus = Bus::in_session();
    let did = bus.request(1, code::STAT, b"/");
    bus.serve(did, &[0; 3000]);
    let did = bus.base(1, code::STAT, b"/");
    bus.serve(did, b"");
    bus.base(2, 0xFFFF, b"");
    bus.router.event(bus.now, &EXIT);
    let _ticket = bus.ask(1);
    bus.request(2, code::PING, &bytes_of(&PingRequest { counter: 1 }));
    let order: Vec<_> = bus.drain().iter().map(|sent| (sent.kind, sent.code)).collect();
    assert_eq!(
        order,
        [
            (FrameType::Response, code::PING),
            (FrameType::DecisionReq, 0),
            (FrameType::Event, code::EVENT_EXIT),
            (FrameType::Response, 0xFFFF),
            (FrameType::Response, code::STAT),
            (FrameType::Response, code::STAT),
        ]
    );
}

#[test]
fn responses_go_in_the_order_in_which_they_became_ready_whoever_asked() {
    for session_first in [true, false] {
        let mut bus = Bus::in_session();
        let (base, session) = (bus.base(1, code::STAT, b"/"), bus.request(1, code::STAT, b"/"));
        for did in if session_first { [session, base] } else { [base, session] } {
            bus.serve(did, b"");
        }
        let order: Vec<_> = bus.drain().iter().map(|sent| sent.session.is_some()).collect();
        assert_eq!(order, [session_first, !session_first]);
    }
}

#[test]
fn the_answer_to_hello_goes_before_the_asks_of_its_session() {
    let mut bus = Bus::in_session();
    let _ticket = bus.ask(1);
    assert_eq!(bus.greet(2, |hello| hello).code, code::HELLO);
    assert_eq!(bus.only().kind, FrameType::DecisionReq);
}

#[test]
fn after_a_stall_all_asks_that_wait_are_sent_again() {
    let mut bus = Bus::in_session();
    let over = bus.ask(1);
    let _waiting = bus.ask(2);
    assert_eq!(bus.drain().len(), 2);
    bus.router.forget(over);
    bus.router.on_stall(Door::Data);
    assert_eq!(bus.next(), None, "they went through the other door");
    bus.router.on_stall(Door::Com2);
    let again = bus.only();
    assert_eq!((again.kind, again.seq), (FrameType::DecisionReq, 0x8000_0001));
    assert_eq!(bus.count(Counter::LinkStalls), 2);
}
