//! Events: each once and in order, fetched when lost, and what cannot be fetched is told.

use askr_wire::message::{EventsReply, EventsRequest, LoggedEvent, ProcessEvent};

use super::*;

fn process(pid: u32) -> ProcessEvent<'static> {
    ProcessEvent { pid, aux: 1, info: 0, name: b"sh" }
}

/// Event number `number` on the line; its pid is its number.
fn push(bench: &mut Bench, number: u32) {
    let frame = OwnedFrame {
        kind: FrameType::Event,
        seq: code::EVENT_SEQ_FIRST + number,
        code: code::EVENT_SPAWN,
        session: Some((bench.session, Vec::new())),
        payload: payload_of(&process(number)),
    };
    bench.machine.on_frame(bench.now, Door::Com2, &frame);
}

/// Answers a request for events with those from the cursor and `lost` on up to `end`, of `count`.
fn answer(bench: &mut Bench, request: &OwnedFrame, lost: u64, end: u64, count: u64) {
    let EventsRequest { cursor } = EventsRequest::decode(&request.payload).unwrap();
    let events = (cursor + lost..end).map(|number| LoggedEvent {
        time_ns: number * 10,
        code: code::EVENT_EXIT,
        event: process(u32::try_from(number).unwrap()),
        ext: &[],
    });
    let mut scratch = [0; 2048];
    let events = List::build(events, &mut scratch).unwrap();
    bench.answer(request, Status::Ok, &payload_of(&EventsReply { lost, count, events }));
}

/// The numbers of the events that were told, and what was told as lost.
fn told(bench: &mut Bench) -> (Vec<u64>, Vec<(u64, u64)>) {
    bench.sent();
    let (mut numbers, mut lost) = (Vec::new(), Vec::new());
    for notice in bench.notices.drain(..) {
        match notice {
            Notice::Event(event) => {
                assert_eq!(u64::from(event.pid), event.number);
                numbers.push(event.number);
            }
            Notice::EventsLost { from, count, .. } => lost.push((from, count)),
            _ => {}
        }
    }
    (numbers, lost)
}

#[test]
fn events_are_told_once_and_in_order() {
    let mut bench = Bench::ready();
    for number in [0, 1, 1, 0, 2] {
        push(&mut bench, number);
    }
    assert_eq!(told(&mut bench), (vec![0, 1, 2], vec![]));
}

#[test]
fn a_gap_is_fetched_and_nothing_is_told_out_of_turn_or_twice() {
    let mut bench = Bench::ready();
    push(&mut bench, 0);
    push(&mut bench, 3);
    let pull = bench.sent();
    assert_eq!(codes(&pull), [code::EVENTS]);
    push(&mut bench, 4);
    assert_eq!(told(&mut bench), (vec![0], vec![]));
    answer(&mut bench, &pull[0], 0, 4, 5);
    let pull = bench.sent();
    assert_eq!(codes(&pull), [code::EVENTS], "the guest said that there is one more");
    answer(&mut bench, &pull[0], 0, 5, 5);
    push(&mut bench, 4);
    push(&mut bench, 5);
    assert_eq!(told(&mut bench), (vec![1, 2, 3, 4, 5], vec![]));
}

#[test]
fn an_event_that_overtakes_the_answer_is_fetched_after_it() {
    let mut bench = Bench::ready();
    push(&mut bench, 1);
    let pull = bench.sent();
    // The answer was made before it happened, and events go out before answers.
    push(&mut bench, 2);
    answer(&mut bench, &pull[0], 0, 2, 2);
    let pull = bench.sent();
    assert_eq!(codes(&pull), [code::EVENTS], "not only after the next ping");
    answer(&mut bench, &pull[0], 0, 3, 3);
    assert_eq!(told(&mut bench), (vec![0, 1, 2], vec![]));
    assert!(bench.sent().is_empty());
}

#[test]
fn a_guest_that_has_no_more_is_not_asked_on_and_on() {
    let mut bench = Bench::ready();
    push(&mut bench, 9);
    let pull = bench.sent();
    answer(&mut bench, &pull[0], 0, 0, 0);
    assert!(bench.sent().is_empty());
    push(&mut bench, 0);
    assert_eq!(told(&mut bench), (vec![0], vec![]));
}

#[test]
fn a_refusal_of_the_moment_does_not_mean_that_the_guest_has_no_such_verb() {
    let mut bench = Bench::ready();
    push(&mut bench, 1);
    let pull = bench.sent();
    bench.answer(&pull[0], Status::Busy, &[]);
    push(&mut bench, 2);
    let pull = bench.sent();
    assert_eq!(codes(&pull), [code::EVENTS]);
    answer(&mut bench, &pull[0], 0, 3, 3);
    assert_eq!(told(&mut bench), (vec![0, 1, 2], vec![]));
}

#[test]
fn the_last_event_that_was_lost_is_noticed_by_the_next_ping() {
    let mut bench = Bench::ready();
    let ping = bench.sent_after(SECOND);
    bench.answer_ping_with(&ping[0], 1, 0, 2);
    let pull = bench.sent();
    assert_eq!(codes(&pull), [code::EVENTS]);
    answer(&mut bench, &pull[0], 0, 2, 2);
    assert_eq!(told(&mut bench), (vec![0, 1], vec![]));
}

#[test]
fn what_comes_on_the_line_while_it_is_fetched_is_told_once() {
    let mut bench = Bench::ready();
    let ping = bench.sent_after(SECOND);
    bench.answer_ping_with(&ping[0], 1, 0, 3);
    let pull = bench.sent();
    push(&mut bench, 0);
    push(&mut bench, 1);
    assert_eq!(told(&mut bench), (vec![0, 1], vec![]));
    answer(&mut bench, &pull[0], 1, 3, 3);
    push(&mut bench, 2);
    assert_eq!(told(&mut bench), (vec![2], vec![]), "the one that is not kept has come too");
}

#[test]
fn what_the_guest_does_not_keep_is_told_with_its_count() {
    let mut bench = Bench::ready();
    push(&mut bench, 9);
    let pull = bench.sent();
    answer(&mut bench, &pull[0], 7, 10, 10);
    assert_eq!(told(&mut bench), (vec![7, 8, 9], vec![(0, 7)]));
}

#[test]
fn a_guest_without_the_verb_still_has_its_events_told() {
    let mut bench = Bench::ready();
    push(&mut bench, 2);
    let pull = bench.sent();
    bench.answer(&pull[0], Status::NoSys, &[]);
    push(&mut bench, 3);
    push(&mut bench, 5);
    assert_eq!(told(&mut bench), (vec![3, 5], vec![(0, 3), (4, 1)]), "and what cannot be fetched is told");
    assert!(bench.sent().is_empty(), "it is not asked again");
}

#[test]
fn numbers_go_on_after_the_last_seq() {
    let mut bench = Bench::ready();
    let range = code::ASK_SEQ_FIRST - code::EVENT_SEQ_FIRST;
    bench.machine.events.begin(u64::from(range) - 1);
    push(&mut bench, range - 1);
    let frame = OwnedFrame {
        kind: FrameType::Event,
        seq: code::EVENT_SEQ_FIRST,
        code: code::EVENT_SPAWN,
        session: Some((bench.session, Vec::new())),
        payload: payload_of(&process(range)),
    };
    bench.machine.on_frame(bench.now, Door::Com2, &frame);
    bench.machine.on_frame(bench.now, Door::Com2, &frame);
    assert_eq!(told(&mut bench), (vec![u64::from(range) - 1, u64::from(range)], vec![]));
}

#[test]
fn a_new_boot_is_told_from_its_first_event_on() {
    let mut bench = Bench::ready();
    push(&mut bench, 0);
    bench.machine.on_down(bench.now, Door::Com2);
    bench.machine.on_up(bench.now, Door::Com2);
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, OTHER_BOOT);
    bench.verify(0);
    for frame in bench.sent() {
        bench.answer(&frame, Status::Ok, &[0, 0]);
    }
    told(&mut bench);
    push(&mut bench, 0);
    assert_eq!(told(&mut bench), (vec![0], vec![]));
}

#[test]
fn a_guest_that_was_set_back_has_what_happens_then_told_although_the_numbers_were() {
    let mut bench = Bench::ready();
    (0..3).for_each(|number| push(&mut bench, number));
    assert_eq!(told(&mut bench), (vec![0, 1, 2], vec![]));
    bench.set_back();
    bench.answer_housekeeping(0);
    push(&mut bench, 0);
    assert_eq!(told(&mut bench), (vec![0], vec![]));
}
