//! Asks: told, waited for, answered once; and the built-in agent.

use std::time::Duration;

use askr_abi::Decider;
use askr_agentbus::AskOutcome;
use askr_wire::code::{DECISION_GENERIC, DECISION_NATURAL, EVENT_EXIT, EVENT_FAULT, EVENT_SPAWN};
use host_bridge::client::HubClient;
use serde_json::{Value, json};

use crate::bench::{Bench, ask, line};
use crate::guest::{Guest, PATIENCE};

fn answer(name: &Value, text: &str) -> Value {
    json!({ "op": "ask.answer", "ask": name, "answer": text })
}

/// Waits for an ask and gives its name.
fn wait(client: &mut HubClient) -> Value {
    ask(client, json!({ "op": "asks.wait" })).unwrap()["asks"][0]["ask"].clone()
}

fn answered(outcome: &AskOutcome) -> bool {
    matches!(outcome, AskOutcome::Answered { decider: Decider::Agent, .. })
}

#[test]
fn a_waiting_client_gets_the_ask_and_its_answer_gets_to_the_program() {
    let bench = Bench::new();
    let mut client = bench.client();
    client.send(br#"{"id":1,"op":"asks.wait"}"#).unwrap();
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let reply = line(&mut client);
    let one = &reply["ok"]["asks"][0];
    assert_eq!(
        (&one["question"], &one["intent"], &one["code"]),
        (&json!("may I?"), &json!("generic"), &json!(0))
    );
    assert_eq!((&one["pid"], &one["program"]), (&json!(7), &json!("/bin/ask")));
    assert!(one["left_ms"].as_u64().unwrap() > 20_000);
    assert_eq!(reply["boot"], "01".repeat(16));
    assert_eq!(one["ask"], "01010101:0");
    let verdict = ask(&mut client, answer(&one["ask"], "yes"));
    assert_eq!(verdict, Ok(json!({ "verdict": "accepted" })));
    let (outcome, text) = asked.outcome();
    assert!(answered(&outcome), "{outcome:?}");
    assert_eq!(text, b"yes");
    assert_eq!(bench.call(json!({ "op": "asks.list" })), Ok(json!({ "asks": [] })));
}

#[test]
fn a_pending_ask_is_given_at_once_and_an_empty_wait_ends_in_time() {
    let bench = Bench::new();
    let empty = bench.call(json!({ "op": "asks.wait", "wait_ms": 50 }));
    assert_eq!(empty, Ok(json!({ "asks": [] })));
    let asked = bench.guest.ask(DECISION_GENERIC, b"\xff", PATIENCE);
    let mut client = bench.client();
    let name = wait(&mut client);
    let again = bench.call(json!({ "op": "asks.wait" })).unwrap();
    assert_eq!(again["asks"][0]["ask"], name, "as long as nobody has answered");
    assert_eq!(again["asks"][0]["question_base64"], "/w==");
    let refuse = json!({ "op": "ask.answer", "ask": name, "refuse": true });
    assert!(ask(&mut client, refuse).is_ok());
    assert_eq!(asked.outcome().0, AskOutcome::Refused);
}

#[test]
fn the_first_answer_wins_and_the_others_are_late() {
    let bench = Bench::new();
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let name = wait(&mut bench.client());
    let verdicts: Vec<_> = std::thread::scope(|scope| {
        let answers: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn({
                    let (bench, name) = (&bench, &name);
                    move || (n, bench.call(answer(name, &n.to_string())))
                })
            })
            .collect();
        answers.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    let (accepted, late): (Vec<_>, Vec<_>) = verdicts.into_iter().partition(|(_, verdict)| verdict.is_ok());
    assert_eq!(accepted.len(), 1);
    assert!(late.iter().all(|(_, verdict)| *verdict == Err("late".into())), "{late:?}");
    assert_eq!(asked.outcome().1, accepted[0].0.to_string().into_bytes());
}

#[test]
fn wrong_names_reach_no_ask() {
    let bench = Bench::new();
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    wait(&mut bench.client());
    assert_eq!(bench.call(answer(&json!("01010101:2"), "x")), Err("unknown_ask".into()));
    assert_eq!(bench.call(answer(&json!("02020202:1"), "x")), Err("guest_restarted".into()));
    assert_eq!(bench.call(answer(&json!("1"), "x")), Err("unknown_ask".into()));
    assert!(asked.is_pending());
}

#[test]
fn subscribers_are_told_of_asks_and_events() {
    let bench = Bench::new();
    let first = bench.guest.ask(DECISION_GENERIC, b"one", PATIENCE);
    let name = wait(&mut bench.client());
    let mut client = bench.client();
    let reply = ask(&mut client, json!({ "op": "subscribe", "events": true }));
    assert_eq!(reply, Ok(json!({ "asks": true, "events": true, "watch": false })));
    assert_eq!(line(&mut client)["ask"]["ask"], name);
    let _second = bench.guest.ask(DECISION_NATURAL, b"two", PATIENCE);
    let pushed = line(&mut client);
    assert_eq!((&pushed["ask"]["question"], pushed.get("id")), (&json!("two"), None));
    for (code, expected) in [
        (EVENT_SPAWN, json!({ "number": 0, "kind": "spawn", "pid": 9, "parent": 1, "name": "p" })),
        (EVENT_EXIT, json!({ "number": 1, "kind": "exit", "pid": 9, "exit_code": 3, "name": "p" })),
    ] {
        bench.guest.event(code, 9, b"p");
        assert_eq!(line(&mut client)["event"], expected);
    }
    bench.guest.event(EVENT_FAULT, 9, b"p");
    let pushed = &line(&mut client)["event"];
    assert_eq!(
        (&pushed["kind"], &pushed["vector"], &pushed["number"]),
        (&json!("fault"), &json!(14), &json!(2))
    );
    let fault = &pushed["fault"];
    assert_eq!((&fault["signal"], &fault["rip"]), (&json!("SEGV"), &json!("0x401000")));
    assert_eq!((&fault["registers"]["rax"], &fault["backtrace"]), (&json!("0x7"), &json!(["0x401234"])));
    assert!(bench.call(answer(&name, "x")).is_ok());
    first.outcome();
}

#[test]
fn an_ask_that_ran_out_of_time_is_no_longer_pending() {
    let bench = Bench::new();
    bench.boot();
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", Duration::from_millis(400));
    let name = wait(&mut bench.client());
    assert_eq!(asked.outcome().0, AskOutcome::TimedOut);
    bench.until(json!({ "op": "asks.list" }), |list| list["asks"] == json!([]));
    assert_eq!(bench.call(answer(&name, "x")), Err("late".into()));
}

#[test]
fn the_built_in_agent_answers_natural_language_when_nobody_else_does() {
    let bench = Bench::with(Guest::new(), true);
    let generic = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let asked = bench.guest.ask(DECISION_NATURAL, b"list my files", PATIENCE);
    let (outcome, text) = asked.outcome();
    assert!(answered(&outcome), "{outcome:?}");
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.starts_with("SAY ") && text.contains("list my files") && text.contains("asks.wait"),
        "{text}"
    );
    assert!(generic.is_pending(), "generic asks are for people and scripts");
}

#[test]
fn a_client_that_waits_or_subscribes_owns_the_asks() {
    let bench = Bench::with(Guest::new(), true);
    let mut waiting = bench.client();
    waiting.send(br#"{"id":1,"op":"asks.wait","wait_ms":600000}"#).unwrap();
    // Served in order: the wait is registered when this reply comes.
    assert!(ask(&mut waiting, json!({ "op": "status" })).is_ok());
    let given = bench.guest.ask(DECISION_NATURAL, b"one", PATIENCE);
    let name = line(&mut waiting)["ok"]["asks"][0]["ask"].clone();
    drop(waiting);

    // An ask that no client was given goes to the agent: by then it would have answered the first one too.
    let free = bench.guest.ask(DECISION_NATURAL, b"two", PATIENCE);
    assert!(String::from_utf8(free.outcome().1).unwrap().contains("two"));
    assert!(given.is_pending(), "whoever was given an ask may answer after hanging up");
    assert!(bench.call(answer(&name, "SAY mine")).is_ok());
    assert_eq!(given.outcome().1, b"SAY mine");

    let mut subscriber = bench.client();
    assert!(ask(&mut subscriber, json!({ "op": "subscribe" })).is_ok());
    let left = bench.guest.ask(DECISION_NATURAL, b"three", PATIENCE);
    let pushed = line(&mut subscriber)["ask"].clone();
    assert_eq!(pushed["question"], "three");
    // Three times as long as the agent waits for somebody to come back.
    let then = pushed["left_ms"].as_u64().unwrap() - 900;
    bench.until(json!({ "op": "asks.list" }), |list| {
        list["asks"][0]["left_ms"].as_u64().is_none_or(|left| left < then)
    });
    assert!(left.is_pending());
    drop(subscriber);
    assert!(String::from_utf8(left.outcome().1).unwrap().contains("three"), "with the last subscriber gone");
}

/// Subscribes to asks as one who only looks on; the state comes at once.
fn watcher(bench: &Bench) -> HubClient {
    let mut client = bench.client();
    let reply = ask(&mut client, json!({ "op": "subscribe", "watch": true }));
    assert_eq!(reply, Ok(json!({ "asks": true, "events": false, "watch": true })));
    assert!(line(&mut client)["state"]["connected"].is_boolean());
    client
}

/// The next end of an ask.
fn end(client: &mut HubClient) -> Value {
    loop {
        let line = line(client);
        if line.get("ask_ended").is_some() {
            return line;
        }
    }
}

#[test]
fn whoever_watches_is_told_of_asks_and_takes_none() {
    let bench = Bench::with(Guest::new(), true);
    let mut watcher = watcher(&bench);
    assert_eq!(bench.call(json!({ "op": "agent.status" })).unwrap()["takers"], 0);
    let asked = bench.guest.ask(DECISION_NATURAL, b"list my files", PATIENCE);
    assert!(answered(&asked.outcome().0), "the built-in agent answers although somebody watches");
    let ended = end(&mut watcher);
    assert_eq!((&ended["ask_ended"]["by"], &ended["boot"]), (&json!("built_in"), &json!("01".repeat(16))));
    assert!(ended["ask_ended"]["answer"].as_str().unwrap().starts_with("SAY "), "{ended}");
    let mut taker = bench.client();
    assert!(ask(&mut taker, json!({ "op": "subscribe" })).is_ok());
    assert_eq!(bench.call(json!({ "op": "agent.status" })).unwrap()["takers"], 1);
}

#[test]
fn whoever_watches_is_told_how_each_ask_ends() {
    let bench = Bench::new();
    bench.boot();
    let mut watcher = watcher(&bench);
    let ended = |watcher: &mut HubClient| end(watcher)["ask_ended"].clone();

    let first = bench.guest.ask(DECISION_GENERIC, b"one", PATIENCE);
    let name = wait(&mut bench.client());
    assert!(bench.call(answer(&name, "yes")).is_ok());
    assert_eq!(bench.call(answer(&name, "no")), Err("late".into()));
    let expected = json!({ "ask": name, "outcome": "answered", "by": "client", "answer": "yes" });
    assert_eq!(ended(&mut watcher), expected);
    first.outcome();

    let _second = bench.guest.ask(DECISION_GENERIC, b"two", PATIENCE);
    let name = wait(&mut bench.client());
    assert!(bench.call(json!({ "op": "ask.answer", "ask": name, "refuse": true })).is_ok());
    assert_eq!(ended(&mut watcher), json!({ "ask": name, "outcome": "refused", "by": "client" }));

    let _third = bench.guest.ask(DECISION_GENERIC, b"three", Duration::from_millis(400));
    assert_eq!(ended(&mut watcher)["outcome"], "timed_out");

    // Its program is interrupted: the next ping tells that there is one less.
    let fourth = bench.guest.ask(DECISION_GENERIC, b"four", PATIENCE);
    wait(&mut bench.client());
    fourth.forget();
    assert_eq!(ended(&mut watcher)["outcome"], "gone");

    let _fifth = bench.guest.ask(DECISION_GENERIC, b"five", PATIENCE);
    wait(&mut bench.client());
    bench.guest.reboot(2);
    assert_eq!(ended(&mut watcher)["outcome"], "guest_restarted");
}

#[test]
fn an_answer_that_is_no_choice_leaves_the_ask_as_it_is() {
    let bench = Bench::new();
    bench.boot();
    let mut watcher = watcher(&bench);
    let asked = bench.guest.ask_among(DECISION_GENERIC, b"which?", &[b"a", b"b"], PATIENCE);
    let name = wait(&mut bench.client());
    assert_eq!(bench.call(answer(&name, "c")), Err("not_a_choice".into()));
    assert_eq!(bench.call(json!({ "op": "asks.list" })).unwrap()["asks"][0]["ask"], name, "at once");
    assert!(bench.call(answer(&name, "b")).is_ok());
    assert_eq!(asked.outcome().1, b"b");
    // Told once, and once how it ended.
    assert_eq!(line(&mut watcher)["ask"]["ask"], name);
    assert_eq!(line(&mut watcher)["ask_ended"]["answer"], "b");
}
