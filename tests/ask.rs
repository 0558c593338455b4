//! A program's question to the agent: it waits, and ends in the answer, a refusal, or an error that says why.

mod common;

use askr::Machine;
use askr_wire::message::{AnswerReply, AskFacts, AsksRequest, Decision, PendingAsk};
use askr_wire::{FrameType, List, Message, code, ext_items};
use common::peer::{Peer, bytes, counters};
use common::program::program;
use common::shell::{Askr, Shared, number_after};
use host_bridge::link::OwnedFrame;

static GUEST: Shared = Shared::new(|| Machine::new().with(program("room")));

/// Who asks, as told in an ask of a session.
fn facts(ask: &OwnedFrame) -> (u32, u32, String) {
    let (_, ext) = ask.session.as_ref().expect("an ask in a session");
    let (kind, item) = ext_items(ext).next().unwrap().unwrap();
    assert_eq!(kind, askr_wire::ext::ASK_FACTS);
    let AskFacts { pid, left_ms, program } = AskFacts::decode(item).unwrap();
    (pid, left_ms, String::from_utf8(program.to_vec()).unwrap())
}

/// The numbers of the asks that wait.
fn pending(peer: &mut Peer) -> Vec<u32> {
    let body = peer.ok(code::ASKS, &bytes(&AsksRequest { start: 0 }));
    List::<PendingAsk<'_>>::decode(&body).unwrap().iter().map(|ask| ask.seq).collect()
}

/// A counter of `/proc/bus`.
fn counter(askr: &mut Askr, name: &str) -> u64 {
    counters(&askr.run("cat /proc/bus"))[name]
}

#[test]
fn an_ask_waits_for_its_answer_while_others_run() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let pid = number_after(&askr.run("ask \"may I?\" &"), "] ");
    let ask = peer.ask();
    assert_eq!((ask.code, &ask.payload[..]), (code::DECISION_GENERIC, &b"may I?"[..]));
    assert!(ask.seq >= code::ASK_SEQ_FIRST);
    let (asker, left_ms, program) = facts(&ask);
    assert_eq!((u64::from(asker), program.as_str()), (pid, "ask"));
    assert!((30_000..=60_000).contains(&left_ms), "{left_ms} ms of 60 s are left");

    // It waits, and the processor is free.
    let ps = askr.run("ps");
    let row = ps.lines().find(|line| line.trim_end().ends_with(" ask")).unwrap();
    assert!(row.contains(" sleeping "), "{row}");
    assert!(askr.run("hello").starts_with("hello from pid "));
    assert_eq!(pending(&mut peer), [ask.seq]);

    assert_eq!(peer.answer(ask.seq, "yes, you may"), AnswerReply::Accepted);
    askr.expect("answer: yes, you may\r\ndecided by: agent\r\n");
    assert!(pending(&mut peer).is_empty());
    assert_eq!(askr.run("wait"), "[1] ask \"may I?\": exit code 0\r\n");
}

#[test]
fn a_base_peer_answers_with_a_decision_response() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    assert!(peer.read("/proc/version").starts_with(b"Askr "));
    askr.start("ask base");
    // While the lease of a session before this lasts, the ask is the session's; then it comes to the base peer.
    let is_base = |frame: &OwnedFrame| frame.kind == FrameType::DecisionReq && frame.session.is_none();
    let ask = peer.expect("ask in a base frame", is_base).frame;
    assert_eq!((ask.code, &ask.payload[..]), (code::DECISION_GENERIC, &b"base"[..]));
    peer.send_frame(FrameType::DecisionResp, ask.seq, ask.code + 1, b"to another question");
    peer.send_frame(FrameType::DecisionResp, ask.seq, ask.code, b"granted");
    assert_eq!(askr.finish(), "answer: granted\r\ndecided by: agent\r\n");
}

#[test]
fn a_refusal_is_an_error() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    askr.start("ask refuse me");
    let ask = peer.ask();
    assert_eq!(ask.payload, b"refuse me");
    assert_eq!(peer.decide(ask.seq, Decision::Refuse), AnswerReply::Accepted);
    assert_eq!(askr.finish(), "ask: the agent refused (EACCES)\r\n");
    assert_eq!(askr.status(), 1);
}

#[test]
fn a_silent_agent_costs_the_time_that_the_program_gave_and_no_more() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let timed_out = counter(&mut askr, "asks_timed_out");
    let shown = askr.run("cat /proc/uptime; ask -t 2 quiet; echo $?; cat /proc/uptime");
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[1..3], ["ask: nobody answered in time (ETIMEDOUT)", "124"], "{shown}");
    let time = |line: &str| line.split(' ').next().unwrap().parse::<f64>().unwrap();
    let took = time(lines[3]) - time(lines[0]);
    // The clock is shown in hundredths, and two programs start meanwhile.
    assert!((1.98..10.0).contains(&took), "it took {took} s");
    assert_eq!(peer.ask().payload, b"quiet");
    assert_eq!(counter(&mut askr, "asks_timed_out"), timed_out + 1);
}

#[test]
fn late_and_unknown_answers_are_told_and_counted_and_reach_nobody() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let before = counters(&askr.run("cat /proc/bus"));
    askr.run("ask -t 0.2 first");
    let first = peer.ask();
    askr.start("ask second");
    let second = peer.ask();
    assert_eq!(peer.answer(first.seq, "late"), AnswerReply::Late);
    assert_eq!(peer.answer(second.seq + 1, "unknown"), AnswerReply::Unknown);
    assert_eq!(peer.answer(7, "unknown"), AnswerReply::Unknown);
    peer.send_frame(FrameType::DecisionResp, first.seq, first.code, b"late in the manner of the base");
    peer.send_frame(FrameType::DecisionResp, second.seq + 1, 0, b"unknown in the manner of the base");
    assert_eq!(peer.answer(second.seq, "the right one"), AnswerReply::Accepted);
    assert_eq!(peer.answer(second.seq, "another one"), AnswerReply::Late);
    assert_eq!(askr.finish(), "answer: the right one\r\ndecided by: agent\r\n");
    let after = counters(&askr.run("cat /proc/bus"));
    let more = |name: &str| after[name] - before[name];
    assert_eq!((more("answers_late"), more("answers_unknown"), more("asks_answered")), (3, 3, 1));
}

#[test]
fn an_ask_ends_with_the_one_who_asked() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let cancelled = counter(&mut askr, "asks_cancelled");
    let pid = number_after(&askr.run("ask from the background &"), "] ");
    let killed = peer.ask();
    assert_eq!(
        askr.run(&format!("kill -9 {pid}; wait")),
        "[1] ask from the background: killed by signal 9 (Killed)\r\n"
    );
    assert!(pending(&mut peer).is_empty());
    assert_eq!(peer.answer(killed.seq, "too late"), AnswerReply::Late);

    for (line, code) in
        [("ask from the front", code::DECISION_GENERIC), ("ai from the front", code::DECISION_NATURAL)]
    {
        askr.start(line);
        let interrupted = peer.ask();
        assert_eq!((interrupted.code, &interrupted.payload[..]), (code, &b"from the front"[..]));
        askr.type_bytes(b"\x03").unwrap();
        assert_eq!(askr.finish().trim_end(), "^C");
        assert_eq!(peer.answer(interrupted.seq, "too late"), AnswerReply::Late);
    }
    assert_eq!(counter(&mut askr, "asks_cancelled"), cancelled + 3);
}

#[test]
fn a_default_is_used_and_named_when_nobody_decides() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let default = askr.run("ask -d no -t 0.2 quiet");
    assert_eq!(default, "answer: no\r\ndecided by: default (nobody answered in time)\r\n");
    assert_eq!(askr.status(), 0);
    peer.ask();
    askr.start("ask -d no refused");
    let ask = peer.ask();
    peer.decide(ask.seq, Decision::Refuse);
    assert_eq!(askr.finish(), "answer: no\r\ndecided by: default (the agent refused)\r\n");
    askr.start("ask -d no answered");
    let ask = peer.ask();
    peer.answer(ask.seq, "");
    assert_eq!(askr.finish(), "answer: \r\ndecided by: agent\r\n", "an empty answer is one");
}

#[test]
fn ai_says_what_the_agent_says_and_does_nothing_else() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    askr.start("ai what's \"up\" & why? ; ls");
    let ask = peer.ask();
    assert_eq!(ask.code, code::DECISION_NATURAL);
    assert_eq!(ask.payload, b"what's \"up\" & why? ; ls", "in the person's own words");
    peer.answer(ask.seq, "SAY all is well\nand quiet");
    assert_eq!(askr.finish(), "all is well\r\n  and quiet\r\n(decided by: agent)\r\n");
    askr.start("ai power off");
    let ask = peer.ask();
    peer.answer(ask.seq, "poweroff");
    let shown = askr.finish();
    assert_eq!(shown, "the agent proposes: poweroff (nothing was done)\r\n(decided by: agent)\r\n");
}

#[test]
fn an_answer_cannot_drive_the_terminal() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let from = askr.transcript().len();
    askr.start("ask hostile");
    let ask = peer.ask();
    peer.decide(ask.seq, Decision::Answer(b"a\x1b[2J\x07b\rc\n(decided by: human)\xff\x00\xc2\x9b31m"));
    let shown = askr.finish();
    assert_eq!(
        shown,
        "answer: a\\u{1b}[2J\\u{7}b\\rc\r\n  (decided by: human)\\xff\\u{0}\\u{9b}31m\r\ndecided by: agent\r\n"
    );
    let raw = &askr.transcript()[from..];
    assert!(raw.chars().all(|c| !c.is_control() || "\r\n".contains(c)), "{raw:?}");
}

#[test]
fn a_long_answer_comes_whole_and_is_cut_visibly_where_the_program_has_less_room() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let long = "long ".repeat(800);
    askr.start("ask long");
    let ask = peer.ask();
    peer.answer(ask.seq, &long);
    assert_eq!(askr.finish(), format!("answer: {long}\r\ndecided by: agent\r\n"));
    askr.start("room");
    let ask = peer.ask();
    peer.answer(ask.seq, &long);
    assert_eq!(askr.finish(), "result 0: 6 of 4000 bytes: long l\r\n");
    let question = "q".repeat(257);
    let refused = askr.run(&format!("ask {question}"));
    assert_eq!(refused, "ask: the question has 257 bytes; at most 256 are possible (E2BIG)\r\n");
}

#[test]
fn as_many_asks_as_the_table_holds_wait_at_once_and_the_next_fails() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    peer.keep_alive();
    for _ in 0..64 {
        askr.run("ask many &");
    }
    let asks: Vec<u32> = (0..64).map(|_| peer.ask().seq).collect();
    assert_eq!(
        askr.run("ask one more"),
        "ask: no agent is attached, or too many questions wait (EAGAIN)\r\n"
    );
    for &ask in asks.iter().rev() {
        assert_eq!(peer.answer(ask, "ok"), AnswerReply::Accepted);
    }
    // What is typed while they print would be shown in between.
    for _ in 0..64 {
        askr.expect("decided by: agent\r\n");
    }
    askr.run("wait");
    askr.start("ask again");
    let ask = peer.ask();
    peer.answer(ask.seq, "room again");
    assert!(askr.finish().starts_with("answer: room again\r\n"));
}

#[test]
fn an_agent_that_comes_back_gets_the_asks_again() {
    let mut askr = GUEST.take();
    let mut first = Peer::in_session(askr.vm());
    askr.start("ask again");
    let ask = first.ask();
    drop(first);
    let mut second = Peer::in_session(askr.vm());
    let same = second.ask();
    assert_eq!((same.seq, &same.payload), (ask.seq, &ask.payload));
    second.answer(same.seq, "from the second");
    assert!(askr.finish().starts_with("answer: from the second\r\n"));
}

/// Not on the shared guest: a base peer there would still count as attached.
#[test]
fn an_agent_that_goes_silent_ends_the_asks_with_its_lease() {
    let mut askr = Askr::boot(&Machine::new());
    let mut peer = Peer::connect(askr.vm());
    let lease_ms = peer.hello().lease_ms;
    let shown = askr.run("cat /proc/bus");
    assert!(shown.starts_with("attached true\r\n"), "{shown}");
    let before = askr.uptime();
    askr.start("ask lost");
    assert_eq!(peer.ask().payload, b"lost");
    drop(peer);
    assert_eq!(askr.finish(), "ask: no agent is attached, or too many questions wait (EAGAIN)\r\n");
    let took = askr.uptime() - before;
    assert!(took < 50.0, "its own patience was 60 s; it took {took} s");
    assert!(took > f64::from(lease_ms) / 1000.0 - 5.0, "the lease is {lease_ms} ms; it took {took} s");
    let after = askr.run("cat /proc/bus");
    assert!(after.starts_with("attached false\r\n"), "{after}");
    assert_eq!(counters(&after)["asks_link_lost"], 1);
    // From now on at once.
    assert_eq!(askr.run("ask anybody"), "ask: no agent is attached, or too many questions wait (EAGAIN)\r\n");
}
