//! Moments that a guest seldom shows: a person answers while the program ends, or while the hub is full or ends, and a reboot
//! takes its time.

use askr_wire::code::DECISION_GENERIC;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::client::Client;
use crate::guest::PATIENCE;
use crate::scripted::Scripted;

/// A hub with one ask, and a client that has a form of it before its person.
struct Moment {
    hub: Scripted,
    client: Client,
    call: u64,
    form: Value,
}

impl Moment {
    fn of(tool: &str, arguments: Value) -> Self {
        let hub = Scripted::new();
        let mut client = Client::able(&hub.socket, json!({ "elicitation": { "form": {} } }));
        let call = client.begin_call(tool, arguments);
        let form = client.told("elicitation/create");
        if tool == "proc_spawn" {
            hub.wait_for("the wait for the program", |hub| hub.count("proc.wait begun") == 1);
        }
        Self { hub, client, call, form }
    }

    fn of_a_program() -> Self {
        Self::of("proc_spawn", json!({ "argv": ["ask"], "ask_person": true }))
    }

    fn answer(&mut self) {
        let answer = json!({ "action": "accept", "content": { "answer": "yes" } });
        self.client.respond(&self.form, answer);
    }

    /// What is told of the ask in the end.
    fn told(mut self) -> Value {
        self.client.finish_call(self.call).unwrap()["person"].clone()
    }
}

fn accepted() -> Value {
    json!([{ "ask": "01010101:0", "verdict": "accepted", "answer": "yes" }])
}

#[test]
fn an_answer_on_its_way_is_not_late_because_the_program_ends() {
    let mut moment = Moment::of_a_program();
    moment.hub.change(|hub| hub.slow = true);
    moment.answer();
    moment.hub.wait_for("the answer", |hub| hub.count("ask.answer") == 1);
    moment.hub.change(|hub| hub.exited = true);
    moment.hub.wait_for("the program's end", |hub| hub.count("proc.wait") == 1);
    // Time to take note of that.
    for _ in 0..3 {
        moment.client.request("tools/list", json!({})).unwrap();
    }
    moment.hub.change(|hub| hub.slow = false);
    assert_eq!(moment.told(), accepted());
}

#[test]
fn what_a_program_has_asked_may_outlive_it() {
    for (outlives, verdict) in [(true, "cancelled"), (false, "late")] {
        let mut moment = Moment::of_a_program();
        moment.hub.change(|hub| (hub.asks, hub.exited) = (outlives, true));
        let back = moment.client.told("notifications/cancelled");
        assert_eq!(back["params"]["requestId"], moment.form["id"]);
        assert_eq!(moment.told(), json!([{ "ask": "01010101:0", "verdict": verdict }]));
    }
}

#[test]
fn a_full_hub_neither_takes_the_form_back_nor_loses_the_answer() {
    let asks = json!({ "ask_person": true, "wait_ms": 60_000 });
    for (tool, arguments) in
        [("asks_wait", asks), ("proc_spawn", json!({ "argv": ["ask"], "ask_person": true }))]
    {
        let mut moment = Moment::of(tool, arguments);
        moment.hub.change(|hub| hub.full = true);
        moment.hub.wait_for("looks at the ask", |hub| hub.count("full asks.list") >= 2);
        moment.answer();
        moment.hub.wait_for("the answer", |hub| hub.count("full ask.answer") >= 1);
        moment.hub.change(|hub| (hub.full, hub.exited) = (false, true));
        assert!(moment.client.seen.is_empty(), "{:?}", moment.client.seen);
        assert_eq!(moment.told(), accepted());
    }
}

#[test]
fn a_full_hub_does_not_keep_a_program_that_nobody_waits_for() {
    for goes in [false, true] {
        let hub = Scripted::new();
        let mut client = Client::start(&hub.socket);
        let call = client.begin_call("proc_spawn", json!({ "argv": ["sleep", "1000"] }));
        hub.wait_for("the wait", |hub| hub.count("proc.wait begun") == 1);
        hub.change(|hub| hub.full = true);
        if goes {
            client.hang_up();
        } else {
            let cancelled = json!({ "requestId": call, "reason": "enough" });
            client
                .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
        }
        hub.wait_for("two tries", |hub| hub.count("full proc.kill") >= 2);
        hub.change(|hub| hub.full = false);
        hub.wait_for("the kill", |hub| hub.count("proc.kill") == 1);
        if goes {
            assert!(client.wait_for_end().success());
        }
    }
}

#[test]
fn a_program_that_was_started_is_told_of_whatever_fails_then() {
    let hub = Scripted::new();
    hub.change(|hub| hub.full_after_spawn = true);
    let mut client = Client::start(&hub.socket);
    let call = client.begin_call("proc_spawn", json!({ "argv": ["sleep", "1000"] }));
    let failed = client.finish_call(call).unwrap_err();
    assert_eq!(failed["code"], "outcome_unknown");
    let message = failed["message"].as_str().unwrap();
    assert!(message.starts_with("the program was started as job 1: "), "{message}");
    hub.change(|hub| hub.full = false);
    hub.wait_for("the kill", |hub| hub.count("proc.kill") == 1);
}

#[test]
fn a_call_that_fails_after_the_answer_tells_of_it() {
    let mut moment = Moment::of("asks_wait", json!({ "ask_person": true, "wait_ms": 60_000 }));
    moment.hub.change(|hub| hub.full_after_answer = true);
    moment.answer();
    let failed = moment.client.finish_call(moment.call).unwrap_err();
    assert_eq!(failed["code"], "outcome_unknown");
    let message = failed["message"].as_str().unwrap();
    assert!(message.starts_with("ask 01010101:0 has the person's answer"), "{message}");
}

#[test]
fn a_reboot_is_over_when_the_boot_is() {
    let hub = Scripted::new();
    let mut client = Client::start(&hub.socket);
    let call = client.begin_call("guest_power", json!({ "action": "reboot" }));
    hub.wait_for("looks at the guest", |hub| hub.count("status") >= 2);
    hub.change(|hub| hub.full = true);
    hub.wait_for("a look at a full hub", |hub| hub.count("full status") >= 2);
    assert!(client.request("tools/list", json!({})).is_ok() && client.seen.is_empty(), "{:?}", client.seen);
    hub.change(|hub| (hub.full, hub.rebooted) = (false, true));
    assert_eq!(client.finish_call(call), Ok(json!({ "boot": "01".repeat(16), "action": "reboot" })));
}

#[test]
fn a_form_ends_with_the_hub_and_says_that_it_did() {
    let mut bench = Bench::new();
    let _asked = bench.guest.ask(DECISION_GENERIC, b"may I?", 4 * PATIENCE);
    let mut client = Client::able(&bench.socket, json!({ "elicitation": { "form": {} } }));
    let call = client.begin_call("ask_answer", json!({ "ask": "01010101:0", "ask_person": true }));
    let form = client.told("elicitation/create");
    drop(bench.hub.take());
    assert_eq!(client.told("notifications/cancelled")["params"]["requestId"], form["id"]);
    assert_eq!(client.finish_call(call).unwrap_err()["code"], "not_ready");
}
