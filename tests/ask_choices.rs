//! What an ask has beside its question, and the person who answers it.

mod common;

use askr::Machine;
use askr_agentbus::{choices, context, default_answer};
use askr_wire::message::{AnswerReply, AsksRequest, OutputStream, PendingAsk};
use askr_wire::{FrameType, List, Message, code, ext_items};
use common::peer::{Peer, bytes, counters};
use common::program::program;
use common::shell::{Askr, Shared, number_after};
use host_bridge::link::OwnedFrame;

static GUEST: Shared = Shared::new(|| Machine::new().with(program("choices")));

/// The numbers of the asks that wait.
fn pending(peer: &mut Peer) -> Vec<u32> {
    let body = peer.ok(code::ASKS, &bytes(&AsksRequest { start: 0 }));
    List::<PendingAsk<'_>>::decode(&body).unwrap().iter().map(|ask| ask.seq).collect()
}

/// A counter of `/proc/bus`.
fn counter(askr: &mut Askr, name: &str) -> u64 {
    counters(&askr.run("cat /proc/bus"))[name]
}

/// The items of an ask's ext, the facts aside.
fn extra(ask: &OwnedFrame) -> Vec<u8> {
    let (_, ext) = ask.session.as_ref().expect("an ask in a session");
    let facts = ext_items(ext).next().unwrap().unwrap().1.len();
    ext[3 + facts..].to_vec()
}

#[test]
fn with_choices_an_ask_takes_only_one_of_them() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let not_a_choice = counter(&mut askr, "answers_not_a_choice");
    askr.start("ask -c yes -c no -k path=/tmp/log -d no delete it?");
    let ask = peer.ask();
    let extra = extra(&ask);
    assert_eq!(choices(&extra).collect::<Vec<_>>(), [&b"yes"[..], b"no"]);
    assert_eq!(context(&extra).collect::<Vec<_>>(), [(&b"path"[..], &b"/tmp/log"[..])]);
    assert_eq!(default_answer(&extra), Some(&b"no"[..]));
    let body = peer.ok(code::ASKS, &bytes(&AsksRequest { start: 0 }));
    let listed = List::<PendingAsk<'_>>::decode(&body).unwrap().iter().next().unwrap();
    assert_eq!((listed.seq, listed.ext), (ask.seq, &extra[..]));
    for wrong in ["", "Yes", "yes ", "maybe"] {
        assert_eq!(peer.answer(ask.seq, wrong), AnswerReply::NotAChoice);
    }
    peer.send_frame(FrameType::DecisionResp, ask.seq, ask.code, b"perhaps");
    assert_eq!(peer.answer(ask.seq, "yes"), AnswerReply::Accepted);
    assert_eq!(askr.finish(), "answer: yes\r\ndecided by: agent\r\n");
    assert_eq!(counter(&mut askr, "answers_not_a_choice"), not_a_choice + 5);
    // The default need not be a choice, and is told with its reason.
    assert_eq!(
        askr.run("ask -t 0.2 -c yes -d later quiet?"),
        "answer: later\r\ndecided by: default (nobody answered in time)\r\n"
    );
}

#[test]
fn choices_and_context_are_checked_before_anybody_is_asked() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let asked = counter(&mut askr, "asks_opened");
    askr.start("choices");
    // A block that ends before the context.
    let ask = peer.ask();
    let between = extra(&ask);
    assert_eq!((choices(&between).count(), context(&between).count()), (2, 0));
    assert_eq!(peer.answer(ask.seq, "a"), AnswerReply::Accepted);
    let ask = peer.ask();
    let whole = extra(&ask);
    let pairs = [(&b"a"[..], &b"a"[..]), (b"note", b"two\nlines")];
    assert_eq!(context(&whole).collect::<Vec<_>>(), pairs);
    assert_eq!(default_answer(&whole), Some(&b"b"[..]));
    assert_eq!(peer.answer(ask.seq, "c"), AnswerReply::NotAChoice);
    assert_eq!(peer.answer(ask.seq, "b"), AnswerReply::Accepted);
    // The first version of the block knows no choices, so any answer is taken.
    let ask = peer.ask();
    assert_eq!(peer.answer(ask.seq, "anything"), AnswerReply::Accepted);
    let expected = "17 choices -7\r\nan empty one -22\r\none twice -22\r\na long one -7\r\none nowhere -14\r\n\
                    all nowhere -14\r\n17 pairs -7\r\na large pair -7\r\na key twice -22\r\na size between 0\r\n";
    let shown = askr.finish();
    assert_eq!(shown, format!("{expected}asked 0\r\nagent b\r\nthe first version 0\r\nanything\r\n"));
    assert_eq!(counter(&mut askr, "asks_opened"), asked + 3);
}

#[test]
fn the_person_at_the_console_sees_what_is_asked_and_answers() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    assert_eq!(askr.run("asks"), "");
    let pid = number_after(&askr.run("ask -c yes -c no -k 'why=a \"reason\"' -d no 'may I, é?' &"), "] ");
    let ask = peer.ask();
    let number = ask.seq - code::ASK_SEQ_FIRST;
    let shown = askr.run("asks");
    let (start, end) = shown.split_once(" left=").unwrap();
    assert_eq!(start, format!("{number} pid={pid}"));
    let (_, end) = end.split_once(' ').unwrap();
    let wanted = "program=\"ask\" question=\"may I, \\xc3\\xa9?\" choice=\"yes\" choice=\"no\" \
                  context=\"why\":\"a \\\"reason\\\"\" default=\"no\"\r\n";
    assert_eq!(end, wanted);
    let late = format!("answer: {number}: it has been settled (ESTALE)\r\n");
    assert_eq!(
        askr.run(&format!("answer {number} maybe; answer {} x", number + 1)),
        format!(
            "answer: {number}: this is none of its choices; it waits on (EINVAL)\r\n\
             answer: {}: nobody has asked that (ENOENT)\r\n",
            number + 1
        )
    );
    let none = askr.run(&format!("answer {number}"));
    assert!(none.contains(&format!("what is the answer to {number}?")), "{none}");
    askr.start(&format!("answer {number} yes"));
    askr.expect("answer: yes\r\ndecided by: human\r\n");
    askr.settle();
    askr.run("wait");
    assert_eq!(askr.run(&format!("answer {number} no")), late);
    assert_eq!(peer.answer(ask.seq, "no"), AnswerReply::Late, "the agent comes too late");
    assert_eq!(askr.run("asks"), "");
}

#[test]
fn only_the_person_answers_for_the_person() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    askr.run("ask 'may I?' &");
    let ask = peer.ask();
    let number = ask.seq - code::ASK_SEQ_FIRST;
    // In the background of the console.
    let refused = "only the person at the console may, in the foreground (EPERM)";
    askr.start(&format!("answer {number} yes &"));
    askr.expect(&format!("answer: {number}: {refused}\r\n"));
    askr.settle();
    // A program that the agent has started, even if what it runs is the console's own shell.
    let (job, _) = peer.spawn_line(&format!("answer {number} yes"));
    peer.wait(job);
    let said = peer.all_output(job, OutputStream::Stderr).0;
    assert_eq!(String::from_utf8(said).unwrap(), format!("answer: {number}: {refused}\n"));
    assert_eq!(pending(&mut peer), [ask.seq], "it waits on");
    assert_eq!(askr.run(&format!("answer {number} yes; wait")).matches("decided by: human").count(), 1);
}
