//! Asks and events.

use askr_wire::message::{
    AnswerReply, AnswerRequest, AskFacts, AsksRequest, Choice, Context, Decision, EventsReply, EventsRequest,
    LoggedEvent, PendingAsk, ProcessEvent,
};
use askr_wire::{FrameType, List, code, ext};

use crate::jobs;
use crate::page::{Examples, SESSION, encoded, ext_of};

pub(crate) fn asks(page: &mut Examples) {
    let ask = page.take("ask", FrameType::DecisionReq, code::DECISION_GENERIC);
    assert_eq!((ask.seq, ask.payload.as_slice()), (code::ASK_SEQ_FIRST, b"may I?".as_slice()));
    let answer = page.take("answer", FrameType::DecisionResp, code::DECISION_GENERIC);
    assert_eq!((answer.seq, answer.payload.as_slice()), (ask.seq, b"yes".as_slice()));

    let ask = page.take("ask-in-session", FrameType::DecisionReq, code::DECISION_NATURAL);
    let facts = AskFacts { pid: 12, left_ms: 30_000, program: b"/bin/ai" };
    assert_eq!(ask.session, Some((SESSION, ext_of(&[(ext::ASK_FACTS, &encoded(&facts))]))));
    assert_eq!(ask.payload, b"open the door");
    let answer = page.take("answer-in-session", FrameType::DecisionResp, code::DECISION_NATURAL);
    assert_eq!((answer.seq, answer.payload.as_slice()), (ask.seq, b"it is open".as_slice()));

    let answer = AnswerRequest { ask: ask.seq, decision: Decision::Answer(b"it is open") };
    page.request("answer-request", code::ANSWER, &answer);
    page.response("answer-response", code::ANSWER, &AnswerReply::Accepted);
    let refusal = AnswerRequest { ask: ask.seq + 1, decision: Decision::Refuse };
    page.request("answer-refuse", code::ANSWER, &refusal);
    page.response("answer-not-a-choice", code::ANSWER, &AnswerReply::NotAChoice);
}

pub(crate) fn asks_with_choices(page: &mut Examples) {
    let ask = page.take("ask-with-choices", FrameType::DecisionReq, code::DECISION_GENERIC);
    let facts = |left_ms| AskFacts { pid: 12, left_ms, program: b"/bin/ask" };
    let choices = [encoded(&Choice(b"yes")), encoded(&Choice(b"no"))].concat();
    let context = encoded(&Context { key: b"path", value: b"/tmp/log" });
    let rest =
        ext_of(&[(ext::ASK_CHOICES, &choices), (ext::ASK_CONTEXT, &context), (ext::ASK_DEFAULT, b"no")]);
    let all = [ext_of(&[(ext::ASK_FACTS, &encoded(&facts(30_000)))]), rest.clone()].concat();
    assert_eq!(ask.session, Some((SESSION, all)));
    assert_eq!(ask.payload, b"delete it?");
    page.request("asks-request", code::ASKS, &AsksRequest { start: 0 });
    let (seq, code, question) = (ask.seq, ask.code, ask.payload.as_slice());
    let waiting = PendingAsk { seq, code, facts: facts(29_500), question, ext: &rest };
    page.response("asks-response", code::ASKS, &List::build([waiting], &mut [0; 128]).unwrap());
}

pub(crate) fn events(page: &mut Examples) {
    let event = |pid, aux, info, name| ProcessEvent { pid, aux, info, name };
    let fault = page.take("event-fault-in-session", FrameType::Event, code::EVENT_FAULT);
    assert_eq!(fault.payload, encoded(&event(10, 0, 14, b"crash".as_slice())));
    let facts = encoded(&jobs::fault(&mut [0; 64]));
    assert_eq!(fault.session, Some((SESSION, ext_of(&[(ext::FAULT_FACTS, &facts)]))));
    let mut is = |name, code, message| page.is(name, FrameType::Event, code, &message);
    is("event-oom", code::EVENT_OOM, event(14, 15, 30720, b"hog"));
    is("event-disk-full", code::EVENT_DISK_FULL, event(0, 0, 0, b"/disk"));
    is("event-boot", code::EVENT_BOOT, event(0, 0, 0, b""));
    is("event-link-lost", code::EVENT_LINK_LOST, event(0, 0, 0, b""));
    is("event-panic", code::EVENT_PANIC, event(0, 0, 0, b"kernel heap: corrupt"));

    page.request("events-request", code::EVENTS, &EventsRequest { cursor: 3 });
    let logged = |time_ns, code, event| LoggedEvent { time_ns, code, event, ext: b"" };
    let events = [
        logged(11_000_000_000, code::EVENT_SPAWN, event(7, 1, 0, b"hello")),
        logged(11_500_000_000, code::EVENT_EXIT, event(7, 0, 3, b"hello")),
    ];
    let scratch = &mut [0; 128];
    let reply = EventsReply { lost: 2, count: 7, events: List::build(events, scratch).unwrap() };
    page.response("events-response", code::EVENTS, &reply);
}
