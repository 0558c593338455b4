//! Two doors to one guest: the conversation is at the better one that answers.

use super::*;

impl Bench {
    /// With both doors, in session through this one, with the housekeeping done.
    fn at(door: Door) -> Self {
        let mut bench = Self::new();
        bench.machine.on_up(bench.now, Door::Com2);
        if door == Door::Data {
            bench.machine.on_up(bench.now, Door::Data);
        }
        let hello = bench.sent().remove(0);
        bench.door = door;
        bench.answer_hello(&hello, BOOT);
        bench.answer_housekeeping(0);
        assert_eq!(bench.machine.door(), Some(door));
        if door == Door::Com2 {
            bench.machine.on_up(bench.now, Door::Data);
        }
        bench
    }

    /// The doors that HELLO goes through now, and one of them.
    #[track_caller]
    fn hellos(&mut self) -> (Vec<Door>, OwnedFrame) {
        let sent = self.sent_through();
        let mut hellos = sent.iter().filter(|(_, frame)| frame.code == code::HELLO);
        (hellos.clone().map(|(door, _)| *door).collect(), hellos.next_back().expect("a HELLO").1.clone())
    }
}

fn through(frames: &[(Door, OwnedFrame)], code: u16) -> Vec<Door> {
    frames.iter().filter(|(_, frame)| frame.code == code).map(|(door, _)| *door).collect()
}

#[test]
fn hello_goes_through_all_doors_and_the_best_that_answers_is_taken() {
    let mut bench = Bench::new();
    bench.machine.on_up(bench.now, Door::Com2);
    bench.machine.on_up(bench.now, Door::Data);
    let (doors, hello) = bench.hellos();
    assert_eq!(doors, Door::ALL);
    bench.answer_hello(&hello, BOOT);
    assert_eq!(bench.machine.door(), Some(Door::Com2));
    bench.door = Door::Data;
    bench.answer_hello(&hello, BOOT);
    assert_eq!(bench.machine.door(), Some(Door::Data));
    assert_eq!(through(&bench.sent_through(), code::PING), [Door::Data], "which moves the session");
    // The answer that comes late, through the worse one, changes nothing.
    bench.door = Door::Com2;
    bench.answer_hello(&hello, BOOT);
    assert_eq!((bench.machine.door(), bench.machine.counters().sessions), (Some(Door::Data), 1));
}

#[test]
fn requests_without_an_answer_are_sent_again_through_the_better_door() {
    let mut bench = Bench::at(Door::Com2);
    let outcome = bench.submit(true, None);
    let sent = bench.sent_through();
    assert_eq!(through(&sent, code::MKDIR), [Door::Com2]);
    assert_eq!(through(&sent, code::HELLO), [Door::Data]);
    let hello = sent.iter().find(|(_, frame)| frame.code == code::HELLO).unwrap().1.clone();
    bench.door = Door::Data;
    bench.answer_hello(&hello, BOOT);
    bench.verify(1);
    let again = bench.sent_through();
    assert_eq!(through(&again, code::MKDIR), [Door::Data]);
    let first = sent.iter().find(|(_, frame)| frame.code == code::MKDIR).unwrap();
    assert_eq!(again[0].1, first.1, "the same number in the same session");
    // Whatever way the answer takes, it is the answer.
    bench.door = Door::Com2;
    bench.answer(&first.1, Status::Ok, &[]);
    assert!(outcome.recv().unwrap().is_ok());
}

#[test]
fn when_the_door_goes_the_conversation_goes_on_at_the_other() {
    let mut bench = Bench::at(Door::Data);
    let outcome = bench.submit(true, None);
    let first = bench.sent();
    bench.machine.on_down(bench.now, Door::Data);
    let (doors, hello) = bench.hellos();
    assert_eq!(doors, [Door::Com2]);
    bench.door = Door::Com2;
    bench.answer_hello(&hello, BOOT);
    bench.verify(1);
    assert_eq!(bench.sent_through(), [(Door::Com2, first[0].clone())]);
    bench.answer(&first[0], Status::Ok, &[]);
    assert!(outcome.recv().unwrap().is_ok());
    bench.machine.on_down(bench.now, Door::Com2);
    assert!(!bench.machine.is_connected());
}

#[test]
fn the_door_that_is_not_used_may_come_and_go() {
    let mut bench = Bench::at(Door::Data);
    for _ in 0..3 {
        bench.machine.on_down(bench.now, Door::Com2);
        assert_eq!((bench.machine.door(), bench.sent()), (Some(Door::Data), vec![]));
        bench.machine.on_up(bench.now, Door::Com2);
        assert_eq!((bench.machine.door(), bench.sent()), (Some(Door::Data), vec![]));
    }
}

#[test]
fn a_silent_door_is_left_sooner_than_the_only_one() {
    for (door, patience) in [(Door::Data, 2), (Door::Com2, 3)] {
        let mut bench = Bench::at(door);
        assert!(codes(&bench.sent_after(SECOND)).contains(&code::PING));
        bench.now += patience * SECOND - Duration::from_millis(1);
        bench.sent();
        assert!(bench.machine.is_ready(), "{door:?}");
        bench.now += Duration::from_millis(1);
        bench.sent();
        assert!(!bench.machine.is_ready(), "{door:?}");
        assert!(bench.hellos().0.contains(&Door::Com2), "{door:?}");
    }
}

#[test]
fn a_door_that_takes_nothing_is_left_and_tried_again_later() {
    let mut bench = Bench::at(Door::Data);
    bench.machine.on_blocked(bench.now, Door::Data);
    let (doors, hello) = bench.hellos();
    assert_eq!(doors, [Door::Com2]);
    bench.door = Door::Com2;
    bench.answer_hello(&hello, BOOT);
    bench.answer_housekeeping(1);
    assert_eq!(through(&bench.sent_through(), code::HELLO), []);
    bench.now += 2 * SECOND;
    assert_eq!(through(&bench.sent_through(), code::HELLO), [Door::Data]);
    // The only door is not left: there is no other.
    let mut bench = Bench::ready();
    bench.machine.on_blocked(bench.now, Door::Com2);
    assert!(bench.machine.is_ready());
}

#[test]
fn a_door_behind_which_nobody_answers_is_asked_more_and_more_rarely() {
    let count = hellos_in_an_hour(|_| {});
    assert!((60..80).contains(&count), "{count} in an hour");
}

/// Each try costs the time that a frame may take, which everybody waits for.
#[test]
fn a_door_that_nobody_reads_is_tried_more_and_more_rarely() {
    let count = hellos_in_an_hour(|bench| bench.machine.on_blocked(bench.now, Door::Data));
    assert!((50..80).contains(&count), "{count} in an hour");
}

/// How often HELLO is said through a data door that does not answer, while the session is at COM2. `then` follows each.
fn hellos_in_an_hour(then: impl Fn(&mut Bench)) -> usize {
    let mut bench = Bench::at(Door::Com2);
    let mut count = 0;
    for _ in 0..3600 {
        let sent = bench.sent_through();
        let hellos = through(&sent, code::HELLO).len();
        (0..hellos).for_each(|_| then(&mut bench));
        count += hellos;
        assert!(!through(&sent, code::HELLO).contains(&Door::Com2));
        for (counter, (_, ping)) in (1..).zip(sent.iter().filter(|(_, frame)| frame.code == code::PING)) {
            let PingRequest { counter: this } = PingRequest::decode(&ping.payload).unwrap();
            assert_eq!(counter, 1);
            bench.answer_ping(ping, this - 1, 0);
        }
        bench.now += SECOND;
    }
    assert!(bench.machine.is_ready());
    count
}

/// Behind a door that was never answered the old HELLO may lie; a guest that read it late would end the session of now.
#[test]
fn with_a_new_nonce_what_was_said_into_a_silent_door_is_taken_back() {
    let mut bench = Bench::at(Door::Com2);
    bench.sent();
    assert_eq!(bench.machine.take_output().reconnect, None);
    bench.now += SECOND;
    bench.machine.tick(bench.now);
    let output = bench.machine.take_output();
    let ping = output.frames.iter().flat_map(|(_, bytes)| frames_of(bytes)).find(|f| f.code == code::PING);
    bench.answer_ping(&ping.unwrap(), 77, 0);
    assert_eq!(bench.machine.take_output().reconnect, Some(Door::Data));
}

fn frames_of(bytes: &[u8]) -> Vec<OwnedFrame> {
    let mut deframer = Deframer::new();
    let frame = |&byte: &u8| deframer.push(byte).map(|frame| OwnedFrame::from(&frame.unwrap()));
    bytes.iter().filter_map(frame).collect()
}
