//! HELLO, pings, and how a session begins, goes on and ends.

use super::*;

#[test]
fn hello_is_repeated_with_the_same_nonce_at_growing_pauses() {
    let mut bench = Bench::new();
    bench.machine.on_up(bench.now, Door::Com2);
    let first = bench.sent().remove(0);
    assert!(bench.sent_after(Duration::from_millis(199)).is_empty());
    assert_eq!(bench.sent_after(Duration::from_millis(1)), std::slice::from_ref(&first));
    assert!(bench.sent_after(Duration::from_millis(399)).is_empty());
    assert_eq!(bench.sent_after(Duration::from_millis(1)), std::slice::from_ref(&first));
    bench.answer_hello(&first, BOOT);
    assert!(bench.machine.is_ready());
    let session = bench.session;
    bench.answer_hello(&first, BOOT);
    assert_eq!(bench.machine.peer().unwrap().session, session, "a second copy of the answer changes nothing");
}

#[test]
fn a_reconnect_to_the_same_session_pings_before_it_sends_again() {
    let mut bench = Bench::ready();
    let outcome = bench.submit(true, None);
    let first = bench.sent();
    bench.machine.on_down(bench.now, Door::Com2);
    let _waiting = bench.submit(false, None);
    bench.machine.on_up(bench.now, Door::Com2);
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, BOOT);
    let ping = bench.sent_after(SECOND);
    assert_eq!(codes(&ping), [code::PING]);
    bench.answer_ping(&ping[0], 1, 0);
    let mut frames = bench.sent();
    frames.sort_by_key(|frame| frame.seq);
    assert_eq!(frames[0], first[0], "the same seq and session: the guest knows it if it has served it");
    assert_eq!(codes(&frames), [code::MKDIR, code::STAT]);
    bench.answer(&first[0], Status::Ok, &[]);
    assert!(outcome.recv().unwrap().is_ok());
}

#[test]
fn a_guest_set_back_to_an_earlier_state_gets_a_new_session_and_no_old_request() {
    let mut bench = Bench::ready();
    let outcome = bench.submit(true, None);
    bench.sent();
    let old = bench.session;
    bench.set_back();
    assert_ne!(bench.session, old, "a new nonce");
    assert!(matches!(outcome.recv().unwrap(), Err(CallError::OutcomeUnknown(_))));
    assert!(!codes(&bench.sent()).contains(&code::MKDIR));
}

#[test]
fn a_refused_hello_is_followed_by_one_with_a_new_nonce() {
    let mut bench = Bench::ready();
    bench.machine.on_down(bench.now, Door::Com2);
    bench.machine.on_up(bench.now, Door::Com2);
    let hello = bench.sent().remove(0);
    let refusal =
        OwnedFrame { kind: FrameType::Response, payload: vec![Status::Inval as u8], ..hello.clone() };
    bench.machine.on_frame(bench.now, Door::Com2, &refusal);
    let next = bench.sent_after(SECOND).remove(0);
    let nonce = |frame: &OwnedFrame| HelloRequest::decode(&frame.payload).unwrap().nonce;
    assert_ne!(nonce(&hello), nonce(&next));
    bench.answer_hello(&hello, BOOT);
    assert!(!bench.machine.is_ready(), "the answer to an older HELLO opens nothing");
    bench.answer_hello(&next, BOOT);
    assert!(bench.machine.is_ready());
}

#[test]
fn a_guest_that_forgot_the_session_is_greeted_again() {
    let mut bench = Bench::ready();
    let read = bench.submit(false, None);
    let frames = bench.sent();
    let frame =
        OwnedFrame { kind: FrameType::Response, session: None, payload: vec![2], ..frames[0].clone() };
    bench.machine.on_frame(bench.now, Door::Com2, &frame);
    let hello = bench.sent();
    assert_eq!(codes(&hello), [code::HELLO]);
    bench.answer_hello(&hello[0], OTHER_BOOT);
    assert_eq!(read.recv().unwrap(), Err(CallError::GuestRestarted));
}

#[test]
fn unanswered_pings_lead_to_a_new_hello() {
    let mut bench = Bench::ready();
    let ping = bench.sent_after(SECOND);
    assert_eq!(codes(&ping), [code::PING]);
    let later = bench.sent_after(3 * SECOND);
    assert!(later.is_empty() && !bench.machine.is_ready());
    assert_eq!(codes(&bench.sent()), [code::HELLO]);
}

#[test]
fn pings_carry_a_counter_that_the_next_answer_must_give_back() {
    let mut bench = Bench::ready();
    for counter in 2..5 {
        let ping = bench.sent_after(SECOND);
        assert_eq!(PingRequest::decode(&ping[0].payload), Ok(PingRequest { counter }));
        bench.answer_ping(&ping[0], counter - 1, 0);
        assert!(bench.machine.is_ready());
    }
}

#[test]
fn an_answer_to_the_hello_of_another_host_opens_nothing() {
    let nonce = |word: u32| [&word.to_le_bytes()[..], &[7; 12]].concat().try_into().unwrap();
    let mut seqs = Vec::new();
    for word in [0x1234_5678, 0xffff_ffff, 0, 0x4000_0000] {
        let mut bench = Bench::with_nonces(move || nonce(word));
        bench.machine.on_up(bench.now, Door::Com2);
        let hello = bench.sent().remove(0);
        seqs.push(hello.seq);
        // What is left of a host that counts from 1, as we do in a session, or of one with another nonce.
        for seq in [2, hello.seq ^ 2] {
            bench.open(seq, BOOT, SessionId([0xee; 8]));
            assert!(!bench.machine.is_ready());
        }
        bench.answer_hello(&hello, BOOT);
        assert!(bench.machine.is_ready());
    }
    assert_eq!(seqs, [0x1234_5678, 0x3fff_ffff, 1, 1], "a request's number, as random as the nonce");
}

#[test]
fn a_session_in_which_others_have_pinged_is_not_ours_and_gets_no_request() {
    let mut bench = Bench::new();
    let _waiting = bench.submit(true, None);
    bench.machine.on_up(bench.now, Door::Com2);
    let hello = bench.sent().remove(0);
    bench.open(hello.seq, BOOT, SessionId([0xee; 8]));
    bench.verify(4711);
    let again = bench.sent();
    assert_eq!(codes(&again), [code::HELLO]);
    assert_ne!(again[0].payload, hello.payload, "a new nonce");
    bench.answer_hello(&again[0], BOOT);
    bench.verify(0);
    assert!(codes(&bench.sent()).contains(&code::MKDIR));
}

#[test]
fn the_first_ping_of_a_session_is_as_random_as_its_nonce() {
    let mut bench = Bench::with_nonces(|| [0x5c; 16]);
    bench.machine.on_up(bench.now, Door::Com2);
    let hello = bench.sent().remove(0);
    bench.answer_hello(&hello, BOOT);
    let ping = bench.sent();
    assert_eq!(PingRequest::decode(&ping[0].payload), Ok(PingRequest { counter: 0x5c5c_5c5c }));
}
