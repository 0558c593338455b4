use alloc::vec;
use alloc::vec::Vec;

use askr_abi::Decider;
use askr_wait::Ticket;
use askr_wire::message::{Decision, PendingAsk};
use askr_wire::{List, Message, code};

use super::{ASKS_MAX, Ask, AskError, AskOutcome, AskPoll, AskTable, Delivery, SEQ_RANGE};

const FIRST: u32 = code::ASK_SEQ_FIRST;
const AGENT: Decider = Decider::Agent;

fn ask(question: &[u8]) -> Ask<'_> {
    Ask {
        code: code::DECISION_GENERIC,
        question,
        deadline: 10_000_000_000,
        pid: 7,
        program: b"/bin/ask",
        extra: None,
    }
}

fn open(table: &mut AskTable<char>, waiter: char) -> Ticket {
    table.open(&ask(b"may I?"), waiter).unwrap()
}

fn list(table: &AskTable<char>, now: u64, start: u16, room: usize) -> Vec<u32> {
    let mut out = vec![0; room];
    let len = table.encode(now, start, &mut out).unwrap();
    let list = List::<PendingAsk<'_>>::decode(&out[..len]).unwrap();
    list.iter().map(|item| item.seq).collect()
}

#[test]
fn an_answer_goes_to_its_ask_and_a_second_one_to_nobody() {
    let mut table = AskTable::new();
    let (a, b) = (open(&mut table, 'a'), open(&mut table, 'b'));
    assert_eq!(table.deliver(FIRST + 1, None, Decision::Answer(b"yes"), AGENT), Delivery::Accepted('b'));
    assert_eq!(table.deliver(FIRST + 1, None, Decision::Answer(b"no"), AGENT), Delivery::Late);
    let mut into = [0; 8];
    assert_eq!(table.take(a, &mut into), AskPoll::Pending);
    let outcome = AskOutcome::Answered { decider: Decider::Agent, len: 3, total: 3 };
    assert_eq!(table.take(b, &mut into), AskPoll::Done(outcome));
    assert_eq!(&into[..3], b"yes");
    assert_eq!(table.take(b, &mut into), AskPoll::Stale);
    assert_eq!(table.deliver(FIRST + 1, None, Decision::Refuse, AGENT), Delivery::Late);
}

#[test]
fn numbers_never_given_are_unknown_and_so_is_another_intent() {
    let mut table = AskTable::new();
    let _ticket = open(&mut table, 'a');
    for seq in [0, 1, FIRST - 1, FIRST + 1, u32::MAX] {
        assert_eq!(table.deliver(seq, None, Decision::Refuse, AGENT), Delivery::Unknown);
    }
    let other = Some(code::DECISION_NATURAL);
    assert_eq!(table.deliver(FIRST, other, Decision::Answer(b"x"), AGENT), Delivery::Unknown);
    let same = Some(code::DECISION_GENERIC);
    assert_eq!(table.deliver(FIRST, same, Decision::Refuse, AGENT), Delivery::Accepted('a'));
}

#[test]
fn a_small_buffer_shows_how_much_is_missing() {
    let mut table = AskTable::new();
    let ticket = open(&mut table, 'a');
    assert_eq!(
        table.deliver(FIRST, None, Decision::Answer(b"a long answer"), AGENT),
        Delivery::Accepted('a')
    );
    let mut into = [0; 6];
    let outcome = AskOutcome::Answered { decider: Decider::Agent, len: 6, total: 13 };
    assert_eq!(table.take(ticket, &mut into), AskPoll::Done(outcome));
    assert_eq!(&into, b"a long");
}

#[test]
fn every_way_to_end_an_ask_has_its_outcome() {
    let mut table = AskTable::new();
    let tickets: [_; 4] = core::array::from_fn(|_| open(&mut table, 'a'));
    assert_eq!(table.deliver(FIRST, None, Decision::Refuse, AGENT), Delivery::Accepted('a'));
    assert_eq!(table.cancel(tickets[1]), Some('a'));
    assert_eq!(table.lose(), Some('a'));
    assert_eq!(table.expire(10_000_000_000), Some('a'));
    assert_eq!((table.expire(u64::MAX), table.lose(), table.cancel(tickets[0])), (None, None, None));
    let outcomes = tickets.map(|ticket| table.take(ticket, &mut []));
    let expected = [AskOutcome::Refused, AskOutcome::Cancelled, AskOutcome::LinkLost, AskOutcome::TimedOut]
        .map(AskPoll::Done);
    assert_eq!(outcomes, expected);
}

#[test]
fn a_dead_asker_leaves_nothing_behind() {
    let mut table = AskTable::new();
    let ticket = open(&mut table, 'a');
    assert!(table.forget(ticket));
    assert!(!table.forget(ticket));
    assert_eq!(table.deliver(FIRST, None, Decision::Answer(b"x"), AGENT), Delivery::Late);
    assert_eq!((table.pending(), table.next_deadline()), (0, None));
}

#[test]
fn limits_hold_to_the_byte() {
    let mut table = AskTable::new();
    let long = [b'x'; 257];
    assert_eq!(table.open(&ask(&long), 'a'), Err(AskError::TooLong));
    assert_eq!(table.open(&Ask { program: &long, ..ask(b"") }, 'a'), Err(AskError::TooLong));
    assert!(table.open(&Ask { program: &long[..255], ..ask(&long[..256]) }, 'a').is_ok());
    for _ in 1..ASKS_MAX {
        let _ticket = open(&mut table, 'a');
    }
    assert_eq!(table.open(&ask(b""), 'a'), Err(AskError::TableFull));
    assert_eq!(table.pending(), ASKS_MAX);
}

#[test]
fn asks_are_sent_once_in_their_order_and_again_when_told() {
    let mut table = AskTable::new();
    let first = open(&mut table, 'a');
    let _second = open(&mut table, 'b');
    table.forget(first);
    // The third takes the slot of the first but comes after the second.
    let _third = open(&mut table, 'c');
    let send = |table: &mut AskTable<char>| table.next_unsent(9_000_000_000).map(|view| view.seq);
    assert_eq!(
        [send(&mut table), send(&mut table), send(&mut table)],
        [Some(FIRST + 1), Some(FIRST + 2), None]
    );
    table.resend();
    let view = table.next_unsent(9_000_000_000).unwrap();
    assert_eq!((view.seq, view.facts.pid, view.facts.left_ms), (FIRST + 1, 7, 1_000));
    assert_eq!((view.facts.program, view.question), (&b"/bin/ask"[..], &b"may I?"[..]));
}

#[test]
fn the_list_pages_in_order_and_stops_where_the_frame_is_full() {
    let mut table = AskTable::new();
    let first = open(&mut table, 'a');
    let _rest: [_; 4] = core::array::from_fn(|_| open(&mut table, 'a'));
    table.forget(first);
    let _last = open(&mut table, 'a');
    let all: Vec<_> = (FIRST + 1..=FIRST + 5).collect();
    assert_eq!(list(&table, 0, 0, 1000), all);
    assert_eq!(list(&table, 0, 2, 1000), all[2..]);
    assert!(list(&table, 0, 5, 1000).is_empty() && list(&table, 0, u16::MAX, 1000).is_empty());
    assert_eq!(list(&table, 0, 0, 110), all[..3]);
}

#[test]
fn numbers_begin_again_without_meeting_one_in_use() {
    let mut table = AskTable::new();
    let _first = open(&mut table, 'a');
    table.opened = SEQ_RANGE - 1;
    let _last = open(&mut table, 'b');
    let _next = open(&mut table, 'c');
    assert_eq!(list(&table, 0, 0, 1000), [FIRST, FIRST + 1, u32::MAX]);
}
