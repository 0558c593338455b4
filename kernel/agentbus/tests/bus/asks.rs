//! Programs that ask, peers that answer or do not, and the order in which things are sent.

use crate::peer::{Bus, Did, MS, SECOND, answer_request, bytes_of};
use askr_abi::Decider;
use askr_agentbus::{ASKS_MAX, Ask, AskError, AskExtra, AskOutcome, AskPoll, Counter, Human};
use askr_wire::message::{AskFacts, AsksRequest, Decision, PendingAsk};
use askr_wire::{FrameType, List, Message, code, ext, ext_items};

fn answered(len: usize, total: usize) -> AskPoll {
    AskPoll::Done(AskOutcome::Answered { decider: Decider::Agent, len, total })
}

#[test]
fn a_base_peer_sees_the_question_and_its_answer_wakes_the_asker() {
    let mut bus = Bus::new();
    let did = bus.base(1, code::STAT, b"/");
    bus.serve(did, b"");
    bus.drain();
    let ticket = bus.ask(42);
    let sent = bus.only();
    assert_eq!(
        (sent.kind, sent.seq, sent.code, sent.session),
        (FrameType::DecisionReq, 0x8000_0000, 0, None)
    );
    assert_eq!(sent.payload, b"may I?");
    assert_eq!(bus.router.take(ticket, &mut []), AskPoll::Pending);
    let other_intent = code::DECISION_NATURAL;
    assert_eq!(bus.put(FrameType::DecisionResp, sent.seq, other_intent, None, b"yes"), Did::Nothing);
    assert_eq!(bus.answer(sent.seq, b"yes"), Did::Woke(42));
    let mut into = [0; 2];
    assert_eq!(bus.router.take(ticket, &mut into), answered(2, 3));
    assert_eq!(bus.answer(sent.seq, b"yes"), Did::Nothing);
    assert_eq!(bus.answer(sent.seq + 1, b"yes"), Did::Nothing);
    assert_eq!((bus.count(Counter::AnswersLate), bus.count(Counter::AnswersUnknown)), (1, 2));
}

#[test]
fn a_session_also_sees_who_asks_and_how_long_there_is() {
    let mut bus = Bus::in_session();
    let _ticket = bus.ask(1);
    bus.now += 1500 * MS;
    let sent = bus.only();
    let items: Vec<_> = ext_items(&sent.ext).map(Result::unwrap).collect();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].0, ext::ASK_FACTS);
    let facts = AskFacts { pid: 7, left_ms: 3500, program: b"/bin/ask" };
    assert_eq!(AskFacts::decode(items[0].1), Ok(facts));
    assert_eq!(sent.payload, b"may I?");
}

#[test]
fn an_answer_of_a_base_peer_shows_that_it_is_there() {
    let mut bus = Bus::new();
    bus.base(1, 0xFFFF, b"");
    bus.drain();
    bus.now += 59 * SECOND;
    bus.answer(0x8000_0000, b"yes");
    bus.now += 59 * SECOND;
    assert!(bus.router.is_attached(bus.now));
}

#[test]
fn with_nobody_attached_an_ask_fails_at_once() {
    let mut bus = Bus::new();
    let ask = bus.question(SECOND);
    assert_eq!(bus.router.ask(bus.now, &ask, 1), Err(AskError::NotAttached));
    bus.hello(1);
    bus.now += 10 * SECOND;
    let ask = bus.question(SECOND);
    assert_eq!(
        bus.router.ask(bus.now, &ask, 1),
        Err(AskError::NotAttached),
        "the lease is over to the nanosecond"
    );
    assert_eq!(bus.count(Counter::AsksNotAttached), 2);
}

#[test]
fn a_silent_peer_times_out_at_the_deadline_and_its_answer_is_late() {
    let mut bus = Bus::in_session();
    let ticket = bus.ask(1);
    let seq = bus.only().seq;
    assert_eq!(bus.router.next_deadline(), Some(bus.now + 5 * SECOND));
    bus.now += 5 * SECOND - 1;
    assert!(bus.tick().is_empty());
    bus.now += 1;
    assert_eq!(bus.tick(), [1]);
    assert_eq!(bus.request(1, code::ANSWER, &answer_request(seq, Decision::Answer(b"yes"))), Did::Nothing);
    assert_eq!(bus.only().body(), [1]);
    assert_eq!(bus.router.take(ticket, &mut [0; 8]), AskPoll::Done(AskOutcome::TimedOut));
}

#[test]
fn at_the_deadline_an_answer_wins() {
    let mut bus = Bus::in_session();
    let ticket = bus.ask(1);
    let seq = bus.only().seq;
    bus.now += 5 * SECOND;
    assert_eq!(bus.answer(seq, b"yes"), Did::Woke(1));
    assert!(bus.tick().is_empty());
    assert_eq!(bus.router.take(ticket, &mut [0; 8]), answered(3, 3));
}

#[test]
fn a_refusal_is_not_an_answer() {
    let mut bus = Bus::in_session();
    let ticket = bus.ask(1);
    let seq = bus.only().seq;
    assert_eq!(bus.request(1, code::ANSWER, &answer_request(seq, Decision::Refuse)), Did::Woke(1));
    assert_eq!(bus.router.take(ticket, &mut [0; 8]), AskPoll::Done(AskOutcome::Refused));
}

#[test]
fn when_the_last_peer_goes_all_asks_end_one_by_one() {
    let mut bus = Bus::in_session();
    let wait = bus.question(100 * SECOND);
    let tickets: Vec<_> = (0..3).map(|waiter| bus.router.ask(bus.now, &wait, waiter).unwrap()).collect();
    let end = bus.now + 10 * SECOND;
    assert_eq!(bus.router.next_deadline(), Some(end));
    bus.now = end;
    assert_eq!(bus.tick(), [0, 1, 2]);
    for ticket in tickets {
        assert_eq!(bus.router.take(ticket, &mut []), AskPoll::Done(AskOutcome::LinkLost));
    }
    assert_eq!(bus.next(), None);
    assert_eq!(bus.router.next_deadline(), None);
}

#[test]
fn an_end_of_the_lease_that_only_the_next_ask_notices_is_due_at_once() {
    let mut bus = Bus::in_session();
    let wait = bus.question(100 * SECOND);
    let _ticket = bus.router.ask(bus.now, &wait, 1).unwrap();
    bus.now += 11 * SECOND;
    assert_eq!(bus.router.ask(bus.now, &wait, 2), Err(AskError::NotAttached));
    assert!(bus.router.next_deadline().is_some_and(|deadline| deadline <= bus.now));
    assert_eq!(bus.tick(), [1]);
}

#[test]
fn a_signal_or_a_death_ends_an_ask() {
    let mut bus = Bus::in_session();
    let (signalled, dead) = (bus.ask(1), bus.ask(2));
    assert_eq!(bus.router.cancel(signalled), Some(1));
    assert_eq!(bus.router.cancel(signalled), None);
    bus.router.forget(dead);
    assert_eq!(bus.next(), None, "a question that nobody waits for is not put");
    assert_eq!(bus.router.take(signalled, &mut []), AskPoll::Done(AskOutcome::Cancelled));
    assert_eq!(bus.router.take(dead, &mut []), AskPoll::Stale);
    assert_eq!(bus.count(Counter::AsksCancelled), 2);
}

#[test]
fn the_table_is_bounded_and_a_peer_can_page_through_it() {
    let mut bus = Bus::in_session();
    let question = [b'q'; 256];
    for (waiter, _) in (0..).zip(0..ASKS_MAX) {
        let ask = askr_agentbus::Ask { question: &question, ..bus.question(5 * SECOND) };
        bus.router.ask(bus.now, &ask, waiter).unwrap();
    }
    let ask = bus.question(SECOND);
    assert_eq!(bus.router.ask(bus.now, &ask, 99), Err(AskError::TableFull));
    let pushed: Vec<_> = bus.drain().iter().map(|sent| sent.seq).collect();
    let (mut pulled, mut seq) = (Vec::new(), 0);
    loop {
        seq += 1;
        let start = u16::try_from(pulled.len()).unwrap();
        assert_eq!(bus.request(seq, code::ASKS, &bytes_of(&AsksRequest { start })), Did::Nothing);
        let sent = bus.only();
        let page = List::<PendingAsk<'_>>::decode(sent.body()).unwrap();
        if page.is_empty() {
            break;
        }
        pulled.extend(page.iter().map(|item| item.seq));
    }
    assert_eq!(pulled.len(), ASKS_MAX);
    assert_eq!(pulled, pushed);
    assert!(seq > 2, "more than one page");
}

/// Choices, context and default.
fn extra() -> AskExtra {
    let mut extra = AskExtra::default();
    [&b"yes"[..], b"no"].into_iter().for_each(|choice| extra.choice(choice).unwrap());
    extra.context(b"path", b"/tmp/log").unwrap();
    extra.default_answer(b"no");
    extra
}

#[test]
fn a_session_sees_choices_context_and_default_and_so_does_asks() {
    let mut bus = Bus::in_session();
    let extra = extra();
    let ask = Ask { extra: Some(&extra), ..bus.question(5 * SECOND) };
    bus.router.ask(bus.now, &ask, 1).unwrap();
    let sent = bus.only();
    let (facts, rest) = sent.ext.split_at(sent.ext.len() - extra.bytes().len());
    assert_eq!((facts[0], rest), (ext::ASK_FACTS, extra.bytes()));
    bus.request(1, code::ASKS, &bytes_of(&AsksRequest { start: 0 }));
    let page = bus.only();
    let list = List::<PendingAsk<'_>>::decode(page.body()).unwrap();
    assert_eq!(list.iter().next().unwrap().ext, extra.bytes());
    assert_eq!(bus.router.waiting(bus.now).next().unwrap().ext, extra.bytes());
}

#[test]
fn what_has_no_room_in_the_smallest_frame_is_left_out_and_the_ask_goes_out_all_the_same() {
    let mut bus = Bus::new();
    bus.greet(1, |hello| askr_wire::message::HelloRequest { payload_limit: 1024, ..hello });
    let mut extra = AskExtra::default();
    extra.choice(b"yes").unwrap();
    extra.context(b"long", &[b'x'; 900]).unwrap();
    let question = [b'q'; 256];
    let ask = Ask { extra: Some(&extra), question: &question, ..bus.question(5 * SECOND) };
    bus.router.ask(bus.now, &ask, 1).unwrap();
    let sent = bus.only();
    let kinds: Vec<u8> = ext_items(&sent.ext).map(|item| item.unwrap().0).collect();
    assert_eq!((kinds, sent.payload.len()), (vec![ext::ASK_FACTS, ext::ASK_CHOICES], 256));
    bus.put(FrameType::Request, 2, code::ASKS, sent.session, &bytes_of(&AsksRequest { start: 0 }));
    let page = bus.only();
    let list = List::<PendingAsk<'_>>::decode(page.body()).unwrap();
    assert_eq!(list.iter().next().map(|ask| ext_items(ask.ext).count()), Some(1));
}

#[test]
fn with_choices_only_one_of_them_is_an_answer() {
    let mut bus = Bus::in_session();
    let extra = extra();
    let ask = Ask { extra: Some(&extra), ..bus.question(5 * SECOND) };
    let ticket = bus.router.ask(bus.now, &ask, 1).unwrap();
    let seq = bus.only().seq;
    assert_eq!(bus.answer(seq, b"maybe"), Did::Nothing);
    assert_eq!(bus.request(1, code::ANSWER, &answer_request(seq, Decision::Answer(b""))), Did::Nothing);
    assert_eq!(bus.only().body(), [3]);
    assert_eq!(bus.router.answer_by_hand(0, b"maybe"), Human::NotAChoice);
    assert_eq!(bus.count(Counter::AnswersNotAChoice), 3);
    assert_eq!(bus.router.take(ticket, &mut []), AskPoll::Pending);
    assert_eq!(bus.request(2, code::ANSWER, &answer_request(seq, Decision::Answer(b"yes"))), Did::Woke(1));
    assert_eq!(bus.only().body(), [0]);
    assert_eq!(bus.router.take(ticket, &mut [0; 8]), answered(3, 3));
    // To refuse is always possible.
    bus.router.ask(bus.now, &ask, 2).unwrap();
    let seq = bus.only().seq;
    assert_eq!(bus.request(3, code::ANSWER, &answer_request(seq, Decision::Refuse)), Did::Woke(2));
}

#[test]
fn a_person_answers_and_the_asker_is_told_that_it_was_one() {
    let mut bus = Bus::in_session();
    let ticket = bus.ask(42);
    let seq = bus.only().seq;
    assert_eq!(bus.router.answer_by_hand(1, b"yes"), Human::Unknown);
    assert_eq!(bus.router.answer_by_hand(u32::MAX, b"yes"), Human::Unknown);
    assert_eq!(bus.router.answer_by_hand(0, b"yes"), Human::Accepted(42));
    assert_eq!(bus.router.answer_by_hand(0, b"no"), Human::Late);
    assert_eq!(bus.answer(seq, b"no"), Did::Nothing, "the agent comes too late");
    let outcome = AskOutcome::Answered { decider: Decider::Human, len: 3, total: 3 };
    assert_eq!(bus.router.take(ticket, &mut [0; 8]), AskPoll::Done(outcome));
    assert_eq!((bus.count(Counter::AsksHuman), bus.count(Counter::AsksAnswered)), (1, 1));
}
