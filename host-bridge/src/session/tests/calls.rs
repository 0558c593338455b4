//! Requests: sent once or again, and what is said about those without an answer.

use super::*;

#[test]
fn a_call_before_the_session_is_sent_once_there_is_one() {
    let mut bench = Bench::new();
    let outcome = bench.submit(false, None);
    bench.machine.on_up(bench.now, Door::Com2);
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, BOOT);
    bench.verify(0);
    let frames = bench.sent();
    let stat = frames.iter().find(|frame| frame.code == code::STAT).unwrap();
    bench.answer(stat, Status::NoEnt, &[]);
    assert_eq!(outcome.recv().unwrap(), Err(CallError::Guest(Status::NoEnt)));
}

#[test]
fn silence_resends_the_same_frame_and_a_late_copy_of_the_answer_changes_nothing() {
    let mut bench = Bench::ready();
    let outcome = bench.submit(true, None);
    let first = bench.sent();
    assert_eq!(codes(&first), [code::MKDIR]);
    assert!(bench.sent_after(Duration::from_millis(299)).is_empty());
    let second = bench.sent_after(Duration::from_millis(1));
    assert_eq!(first, second);
    bench.answer(&second[0], Status::Ok, &[]);
    bench.answer(&second[0], Status::Exist, &[]);
    assert!(outcome.recv().unwrap().is_ok());
    assert_eq!(bench.machine.counters().stray_frames, 1);
}

#[test]
fn the_window_moves_on_with_the_oldest_answer() {
    let mut bench = Bench::ready();
    let _outcomes: Vec<_> = (0..6).map(|_| bench.submit(false, None)).collect();
    let frames = bench.sent();
    assert_eq!(frames.len(), 4, "a window of 4");
    // The guest remembers the last four answers only: while the oldest is open, later ones do not make room.
    bench.answer(&frames[1], Status::Ok, &[]);
    bench.answer(&frames[2], Status::Ok, &[]);
    assert_eq!(bench.sent(), frames[..1], "nothing new");
    bench.answer(&frames[0], Status::Ok, &[]);
    assert_eq!(bench.sent().len(), 2);
}

#[test]
fn pings_take_no_place_in_the_window() {
    let mut bench = Bench::ready();
    let _outcomes: Vec<_> = (0..4).map(|_| bench.submit(true, None)).collect();
    let frames = bench.sent();
    let mut previous = 1;
    // However long the oldest takes; and the guest is greeted anew, as after a silence, and shown to be the same.
    for round in 0..20 {
        if round == 10 {
            bench.machine.on_down(bench.now, Door::Com2);
            bench.machine.on_up(bench.now, Door::Com2);
            let hello = bench.sent();
            bench.answer_hello(&hello[0], BOOT);
        }
        let pings = bench.sent_after(SECOND);
        let ping = pings.iter().find(|frame| frame.code == code::PING).unwrap();
        bench.answer_ping(ping, previous, 0);
        previous = PingRequest::decode(&ping.payload).unwrap().counter;
    }
    bench.answer(&frames[0], Status::Ok, &[]);
    let _more: Vec<_> = (0..2).map(|_| bench.submit(true, None)).collect();
    let fresh = bench.sent().into_iter().filter(|frame| !frames.contains(frame));
    assert_eq!(codes(&fresh.collect::<Vec<_>>()), [code::MKDIR], "one answer, one place");
    assert_eq!(bench.machine.counters().sessions, 1);
}

#[test]
fn a_request_that_two_later_ones_overtook_is_sent_again_at_once_and_once() {
    let mut bench = Bench::ready();
    let _outcomes: Vec<_> = (0..3).map(|_| bench.submit(true, None)).collect();
    let frames = bench.sent();
    bench.answer(&frames[1], Status::Ok, &[]);
    assert!(bench.sent().is_empty(), "answers come in another order now and then");
    bench.answer(&frames[2], Status::Ok, &[]);
    assert_eq!(bench.sent(), frames[..1]);
    assert!(bench.sent_after(Duration::from_millis(400)).is_empty(), "then it has its time again");
    assert_eq!(bench.sent_after(Duration::from_millis(200)), frames[..1]);
}

#[test]
fn a_call_ends_at_its_deadline_and_says_what_is_known() {
    let mut bench = Bench::new();
    let unsent = bench.submit(true, None);
    bench.now += 30 * SECOND;
    assert!(bench.sent().is_empty());
    assert_eq!(unsent.recv().unwrap(), Err(CallError::NotReady));

    let mut bench = Bench::ready();
    let (read, write) = (bench.submit(false, None), bench.submit(true, None));
    bench.sent();
    bench.now += 30 * SECOND;
    bench.sent();
    assert_eq!(read.recv().unwrap(), Err(CallError::TimedOut));
    assert!(matches!(write.recv().unwrap(), Err(CallError::OutcomeUnknown(_))));
}

#[test]
fn a_reboot_ends_outstanding_calls() {
    let mut bench = Bench::ready();
    let (read, write) = (bench.submit(false, None), bench.submit(true, None));
    bench.sent();
    bench.machine.on_down(bench.now, Door::Com2);
    bench.machine.on_up(bench.now, Door::Com2);
    let pinned = bench.submit(true, Some(BootId(BOOT)));
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, OTHER_BOOT);
    assert_eq!(read.recv().unwrap(), Err(CallError::GuestRestarted));
    assert_eq!(write.recv().unwrap(), Err(CallError::GuestRestarted));
    bench.answer_housekeeping(0);
    assert_eq!(pinned.recv().unwrap(), Err(CallError::GuestRestarted), "never reaches another boot");
}

#[test]
fn a_stale_session_is_replaced_and_what_was_sent_once_goes_on_in_the_new_one() {
    let mut bench = Bench::ready();
    let (once, twice) = (bench.submit(true, None), bench.submit(true, None));
    let frames = bench.sent();
    bench.answer(&frames[0], Status::Stale, &[]);
    let hello = bench.sent();
    assert_eq!(codes(&hello), [code::HELLO]);
    bench.answer_hello(&hello[0], BOOT);
    assert!(matches!(twice.recv().unwrap(), Err(CallError::OutcomeUnknown(_))), "this one had no refusal");
    bench.verify(0);
    let frames = bench.sent();
    let mkdir = frames.iter().find(|frame| frame.code == code::MKDIR).unwrap();
    bench.answer(mkdir, Status::Ok, &[]);
    assert!(once.recv().unwrap().is_ok());
}

#[test]
fn what_a_rebooted_guest_refused_does_not_go_on_in_the_new_boot() {
    let mut bench = Bench::ready();
    let outcome = bench.submit(true, None);
    let frames = bench.sent();
    bench.answer(&frames[0], Status::Stale, &[]);
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, OTHER_BOOT);
    bench.answer_housekeeping(0);
    assert_eq!(outcome.recv().unwrap(), Err(CallError::GuestRestarted));
}

#[test]
fn a_stopping_bridge_settles_everything() {
    let mut bench = Bench::ready();
    let (read, write) = (bench.submit(false, None), bench.submit(true, None));
    bench.sent();
    bench.machine.close(bench.now);
    assert_eq!(read.recv().unwrap(), Err(CallError::Closed));
    assert!(matches!(write.recv().unwrap(), Err(CallError::OutcomeUnknown(_))));
    assert_eq!(bench.submit(false, None).recv().unwrap(), Err(CallError::Closed));
}
