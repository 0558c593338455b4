//! What happened, told as it happens and again when asked for.

use askr_agentbus::{Backtrace, Counter, EVENT_BURST, Event, Fault, LOG_MAX, PANIC_FRAME_MAX};
use askr_wire::message::{EventsReply, EventsRequest, FaultFacts, PingRequest, ProcessEvent};
use askr_wire::status::Status;
use askr_wire::{Deframer, FrameType, Message, code, ext, ext_items};
use proptest::prelude::*;

use crate::peer::{Bus, Did, MS, SECOND, Sent, bytes_of};

const EXIT: Event<'static> = Event::Exit { pid: 3, code: 1, name: b"sh" };
/// A kind that base peers do not know.
const FULL: Event<'static> = Event::DiskFull { mount: b"/disk" };
const FIRST: u32 = code::EVENT_SEQ_FIRST;

fn fault() -> Fault {
    let mut backtrace = Backtrace::default();
    backtrace.push(0x40_1234);
    let registers = core::array::from_fn(|n| n as u64);
    Fault { signal: 11, vector: 14, error: 6, address: 8, rip: 0x40_1000, registers, backtrace }
}

/// All events that go out when there is time for it.
fn drain(bus: &mut Bus) -> Vec<Sent> {
    let mut sent = bus.drain();
    for _ in 0..LOG_MAX {
        let Some(next) = bus.router.next_event(bus.door) else { break };
        assert!(next > bus.now, "it was held back and could go");
        bus.now = next;
        sent.extend(bus.drain());
    }
    sent
}

/// The answer to EVENTS: what was lost, and the kinds with their numbers.
fn replay(bus: &mut Bus, seq: u32, cursor: u64) -> (u64, u64, Vec<(u64, u16)>) {
    assert_eq!(bus.request(seq, code::EVENTS, &bytes_of(&EventsRequest { cursor })), Did::Nothing);
    let sent = bus.only();
    let reply = EventsReply::decode(sent.body()).unwrap();
    let codes = reply.events.iter().map(|logged| logged.code);
    (reply.lost, reply.count, (cursor + reply.lost..).zip(codes).collect())
}

#[test]
fn events_are_sent_while_somebody_is_attached_and_are_kept_at_all_times() {
    let mut bus = Bus::new();
    assert!(!bus.router.event(bus.now, &Event::Boot), "nobody is there to be told");
    bus.hello(1);
    assert_eq!(bus.next(), None, "it was before anybody came");
    assert!(bus.router.event(bus.now, &EXIT));
    assert!(!bus.router.event(bus.now, &EXIT), "the transmitter knows already");
    let frames = bus.drain();
    assert_eq!(frames.iter().map(|sent| sent.seq).collect::<Vec<_>>(), [FIRST + 1, FIRST + 2]);
    let event = ProcessEvent { pid: 3, aux: 0, info: 1, name: b"sh" };
    assert_eq!(ProcessEvent::decode(&frames[0].payload), Ok(event));
    assert_eq!((frames[0].kind, frames[0].session), (FrameType::Event, bus.session));
    let exit = code::EVENT_EXIT;
    assert_eq!(replay(&mut bus, 1, 0), (0, 3, vec![(0, code::EVENT_BOOT), (1, exit), (2, exit)]));
    assert_eq!(replay(&mut bus, 2, 2), (0, 3, vec![(2, exit)]));
    assert_eq!(replay(&mut bus, 3, 3), (0, 3, vec![]));
    bus.request(4, code::EVENTS, &bytes_of(&EventsRequest { cursor: 4 }));
    assert_eq!(bus.only().status(), Status::Inval, "not of this boot");
    bus.request(5, code::EVENTS, b"short");
    assert_eq!(bus.only().status(), Status::Inval);
    assert_eq!(bus.count(Counter::EventsLost), 0);
}

#[test]
fn the_ping_tells_how_many_there_were_also_when_none_was_sent() {
    let mut bus = Bus::in_session();
    bus.router.event(bus.now, &EXIT);
    bus.drain();
    bus.request(1, code::PING, &bytes_of(&PingRequest { counter: 1 }));
    let reply = askr_wire::message::PingReply::decode(bus.only().body()).unwrap().event_cursor;
    assert_eq!(reply, 1);
}

#[test]
fn what_the_ring_overwrote_before_it_was_sent_is_counted_and_no_more() {
    let mut bus = Bus::in_session();
    for _ in 0..LOG_MAX + 3 {
        bus.router.event(bus.now, &EXIT);
    }
    assert_eq!(bus.count(Counter::EventsLost), 3);
    let frames = drain(&mut bus);
    assert_eq!((frames.len(), frames[0].seq), (LOG_MAX, FIRST + 3));
    for _ in 0..10 {
        bus.router.event(bus.now, &EXIT);
        drain(&mut bus);
    }
    assert_eq!(bus.count(Counter::EventsLost), 3, "overwritten after they were sent");
    assert_eq!(bus.count(Counter::Events), LOG_MAX as u64 + 13);
    let (lost, count, events) = replay(&mut bus, 1, 1);
    assert_eq!((lost, count, events[0].0), (12, LOG_MAX as u64 + 13, 13));
}

#[test]
fn a_storm_goes_out_at_a_pace() {
    let mut bus = Bus::in_session();
    bus.drain();
    for _ in 0..500 {
        bus.router.event(bus.now, &EXIT);
    }
    assert_eq!(bus.drain().len() as u64, EVENT_BURST);
    assert_eq!(bus.router.next_event(bus.door), Some(bus.now + MS));
    bus.now += 10 * MS;
    assert_eq!(bus.drain().len(), 10);
    bus.now += 5 * SECOND;
    bus.request(1, code::PING, &bytes_of(&PingRequest { counter: 1 }));
    assert_eq!(bus.drain().len() as u64, EVENT_BURST + 1, "after a pause as many as before, and the ping");
    assert_eq!(drain(&mut bus).len() as u64, 500 - 10 - 2 * EVENT_BURST);
    assert_eq!((bus.router.next_event(bus.door), bus.count(Counter::EventsLost)), (None, 0));
}

#[test]
fn a_base_peer_is_told_of_three_kinds() {
    let mut bus = Bus::new();
    bus.base(1, 0xFFFF, b"");
    bus.drain();
    let fault = fault();
    for event in [
        Event::Spawn { pid: 3, parent: 1, name: b"sh" },
        FULL,
        Event::OutOfMemory { victim: 3, wanted_by: 1, kib: 5, name: b"sh" },
        Event::Fault { pid: 3, name: b"sh", fault: &fault },
        FULL,
        EXIT,
    ] {
        bus.router.event(bus.now, &event);
    }
    let codes: Vec<_> = bus.drain().iter().map(|sent| (sent.seq - FIRST, sent.code)).collect();
    assert_eq!(codes, [(0, code::EVENT_SPAWN), (3, code::EVENT_FAULT), (5, code::EVENT_EXIT)]);
    for _ in 0..2 * LOG_MAX {
        assert!(!bus.router.event(bus.now, &FULL));
    }
    assert_eq!((bus.next(), bus.count(Counter::EventsLost)), (None, 0), "not for this peer, so not lost");
}

#[test]
fn a_fault_is_told_with_its_facts_in_a_session() {
    let fault = fault();
    let event = Event::Fault { pid: 3, name: b"crash", fault: &fault };
    let mut bus = Bus::in_session();
    bus.router.event(bus.now, &event);
    let sent = bus.only();
    let items: Vec<_> = ext_items(&sent.ext).map(Result::unwrap).collect();
    assert_eq!((items.len(), items[0].0), (1, ext::FAULT_FACTS));
    let facts = FaultFacts::decode(items[0].1).unwrap();
    assert_eq!((facts.signal, facts.vector, facts.address, facts.registers[16]), (11, 14, 8, 16));
    assert_eq!(facts.backtrace.iter().map(|address| address.0).collect::<Vec<_>>(), [0x40_1234]);

    let mut base = Bus::new();
    base.base(1, 0xFFFF, b"");
    base.drain();
    base.router.event(base.now, &event);
    let plain = base.only();
    assert_eq!((plain.session, &plain.payload), (None, &sent.payload));
}

#[test]
fn the_loss_of_the_last_peer_is_an_event_and_what_was_in_line_is_lost() {
    let mut bus = Bus::in_session();
    bus.router.event(bus.now, &EXIT);
    bus.now += 10 * SECOND;
    assert!(bus.tick().is_empty());
    assert_eq!((bus.next(), bus.count(Counter::EventsLost)), (None, 1));
    bus.hello(2);
    let codes = [code::EVENT_EXIT, code::EVENT_LINK_LOST];
    assert_eq!(replay(&mut bus, 1, 0), (0, 2, (0..).zip(codes).collect()));
    // A lease that only the next frame shows to be over.
    bus.now += 11 * SECOND;
    bus.hello(3);
    assert_eq!(replay(&mut bus, 1, 2), (0, 3, vec![(2, code::EVENT_LINK_LOST)]));
}

#[test]
fn a_new_session_begins_with_the_events_after_it() {
    let mut bus = Bus::in_session();
    bus.router.event(bus.now, &EXIT);
    assert_eq!(bus.greet(2, |hello| hello).code, code::HELLO);
    assert_eq!((bus.next(), bus.count(Counter::EventsLost)), (None, 1));
    bus.router.event(bus.now, &EXIT);
    assert_eq!(bus.only().seq, FIRST + 1);
}

#[test]
fn a_panic_is_told_in_one_frame_and_only_in_a_session() {
    let mut bus = Bus::in_session();
    bus.router.event(bus.now, &EXIT);
    let mut out = [0; PANIC_FRAME_MAX];
    let long = [b'!'; 300];
    let (door, len) = bus.router.panic_frame(&long, &mut out).unwrap();
    assert_eq!(door, bus.door);
    let (mut deframer, mut seen) = (Deframer::new(), 0);
    for &byte in &out[..len] {
        let Some(frame) = deframer.push(byte) else { continue };
        let frame = frame.unwrap();
        assert_eq!((frame.kind, frame.seq, frame.code), (FrameType::Event, FIRST + 1, code::EVENT_PANIC));
        assert_eq!(ProcessEvent::decode(frame.payload).unwrap().name, &long[..255]);
        seen += 1;
    }
    assert_eq!(seen, 1);
    bus.now += 20 * SECOND;
    bus.tick();
    assert_eq!(bus.router.panic_frame(b"nobody is there", &mut out), None);
}

proptest! {
    /// Whatever comes when: each event is sent, lost or waits, the numbers sent rise, and the log has no gap.
    #[test]
    fn every_event_is_accounted_for(
        steps in prop::collection::vec((0..5_u8, 1..600_usize), 0..40),
        base in any::<bool>(),
    ) {
        let mut bus = Bus::new();
        if base { bus.base(1, 0xFFFF, b""); bus.drain(); } else { bus.hello(1); }
        let (mut told, mut sent) = (0, Vec::new());
        for (what, count) in steps {
            match what {
                0 => (0..count).for_each(|_| { bus.router.event(bus.now, &EXIT); told += 1; }),
                1 => (0..count).for_each(|_| {
                    bus.router.event(bus.now, &FULL);
                    told += u64::from(!base);
                }),
                2 => bus.now += count as u64 * MS / 10,
                _ => sent.extend((0..count).map_while(|_| bus.next()).map(|sent| sent.seq)),
            }
            prop_assert!(bus.router.is_attached(bus.now), "2.4 s at most");
        }
        sent.extend(drain(&mut bus).iter().map(|sent| sent.seq));
        prop_assert!(sent.is_sorted_by(|one, next| one < next));
        prop_assert_eq!(sent.len() as u64 + bus.count(Counter::EventsLost), told);
        let log = bus.router.events();
        let kept: Vec<_> = log.from(0).map(|logged| logged.number).collect();
        prop_assert_eq!(kept, (log.first()..log.count()).collect::<Vec<_>>());
    }
}
