//! Asks that go to the person at the client: as a form in a session, as a call given back since 2026-07-28.

use std::time::Duration;

use askr_agentbus::AskOutcome;
use askr_wire::code::{DECISION_GENERIC, DECISION_NATURAL};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::client::Client;
use crate::guest::PATIENCE;

/// What a client says that can show forms.
fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn bench() -> (Bench, Client) {
    let bench = Bench::new();
    let client = Client::able(&bench.socket, forms());
    (bench, client)
}

fn accept(answer: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}

fn waiting() -> Value {
    json!({ "ask_person": true, "wait_ms": 60_000 })
}

/// What came of the one ask that a result tells of.
fn verdict(result: &Value) -> &Value {
    assert_eq!(result["person"].as_array().unwrap().len(), 1, "{result}");
    &result["person"][0]["verdict"]
}

#[test]
fn a_person_answers_in_a_form() {
    let (bench, mut client) = bench();
    let call = client.begin_call("asks_wait", waiting());
    let asked = bench.guest.ask(DECISION_GENERIC, b"may\nI?\x1b[2J", PATIENCE);
    let form = client.told("elicitation/create");
    let message = form["params"]["message"].as_str().unwrap();
    let whose = "Process 7 in the Askr guest, which runs\n\n> /bin/ask\n\nasks:\n\n> may\n> I?\\x1b[2J\n\n";
    assert!(message.starts_with(whose), "{message}");
    assert!(message.contains("give it no secrets"), "{message}");
    let schema = json!({
        "type": "object", "required": ["answer"],
        "properties": { "answer": { "type": "string", "title": "Answer", "maxLength": 4096 } }
    });
    assert_eq!(form["params"]["requestedSchema"], schema);
    assert!(asked.is_pending(), "nobody has answered");
    client.respond(&form, accept("of course"));
    let result = client.finish_call(call).unwrap();
    let told = json!([{ "ask": "01010101:0", "verdict": "accepted", "answer": "of course" }]);
    assert_eq!((&result["person"], &result["asks"]), (&told, &json!([])));
    assert_eq!(asked.outcome().1, b"of course");
}

#[test]
fn who_does_not_decide_leaves_the_ask_to_others() {
    let (bench, mut client) = bench();
    for (action, told) in [("decline", "declined"), ("cancel", "cancelled")] {
        let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
        let call = client.begin_call("asks_wait", waiting());
        let form = client.told("elicitation/create");
        client.respond(&form, json!({ "action": action }));
        let result = client.finish_call(call).unwrap();
        assert_eq!((verdict(&result), &result["total"]), (&json!(told), &json!(1)));
        // The person is not asked again and again, unless the agent wants just that.
        let again = client.call("asks_wait", waiting()).unwrap();
        assert_eq!((again.get("person"), &again["asks"][0]["ask"]), (None, &result["asks"][0]["ask"]));
        assert!(client.seen.is_empty() && asked.is_pending());
        let name = &result["asks"][0]["ask"];
        let call = client.begin_call("ask_answer", json!({ "ask": name, "ask_person": true }));
        let form = client.told("elicitation/create");
        client.respond(&form, json!({ "action": action }));
        let result = client.finish_call(call).unwrap();
        assert_eq!((&result["verdict"], &result["boot"]), (&json!(told), &json!("01".repeat(16))));
        let answer = json!({ "op": "ask.answer", "ask": name, "answer": "by another" });
        assert!(bench.call(answer).is_ok());
        assert_eq!(asked.outcome().1, b"by another");
    }
}

#[test]
fn a_form_is_taken_back_when_somebody_else_was_first() {
    let (bench, mut client) = bench();
    for by_deadline in [false, true] {
        let time = if by_deadline { Duration::from_secs(2) } else { PATIENCE };
        let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", time);
        let call = client.begin_call("asks_wait", waiting());
        let form = client.told("elicitation/create");
        let name = bench.call(json!({ "op": "asks.list" })).unwrap()["asks"][0]["ask"].clone();
        if by_deadline {
            assert_eq!(asked.outcome().0, AskOutcome::TimedOut);
        } else {
            assert!(bench.call(json!({ "op": "ask.answer", "ask": name, "answer": "first" })).is_ok());
        }
        let back = client.told("notifications/cancelled");
        assert_eq!(back["params"]["requestId"], form["id"]);
        // Too late, and the client had not heard of it yet.
        client.respond(&form, accept("second"));
        assert_eq!(verdict(&client.finish_call(call).unwrap()), "late");
        let late = json!({ "ask": name, "ask_person": true });
        assert_eq!(client.code("ask_answer", late), "late");
    }
}

#[test]
fn an_answer_that_comes_after_another_is_late() {
    let (bench, mut client) = bench();
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let name = client.call("asks_wait", json!({})).unwrap()["asks"][0]["ask"].clone();
    let call = client.begin_call("ask_answer", json!({ "ask": name, "ask_person": true }));
    let form = client.told("elicitation/create");
    // Before the next look whether the ask still waits, most times.
    assert!(bench.call(json!({ "op": "ask.answer", "ask": name, "answer": "first" })).is_ok());
    client.respond(&form, accept("second"));
    assert_eq!(client.finish_call(call).unwrap_err()["code"], "late");
    assert_eq!(asked.outcome().1, b"first");
}

#[test]
fn a_cancelled_call_takes_its_form_back() {
    let (bench, mut client) = bench();
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let call = client.begin_call("asks_wait", waiting());
    let form = client.told("elicitation/create");
    let cancel = json!({ "requestId": call });
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    assert_eq!(client.told("notifications/cancelled")["params"]["requestId"], form["id"]);
    client.respond(&form, accept("too late"));
    assert!(client.call("fs_stat", json!({ "path": "/" })).is_ok());
    assert!(asked.is_pending() && client.seen.is_empty());
    // The person has done nothing with it, so it is put again.
    let call = client.begin_call("asks_wait", waiting());
    let form = client.told("elicitation/create");
    client.respond(&form, accept("in time"));
    assert_eq!(verdict(&client.finish_call(call).unwrap()), "accepted");
    assert_eq!(asked.outcome().1, b"in time");
}

#[test]
fn a_client_that_has_no_forms_is_told_so_and_nobody_is_asked() {
    let bench = Bench::new();
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let ask = json!({ "ask": "01010101:0", "ask_person": true });
    let program = json!({ "argv": ["true"], "ask_person": true });
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut client = Client::able(&bench.socket, capabilities);
        for (tool, arguments) in [("asks_wait", &waiting()), ("ask_answer", &ask), ("proc_spawn", &program)] {
            assert_eq!(client.code(tool, arguments.clone()), "cannot_ask");
        }
    }
    // The older way to say that there are forms.
    let mut client = Client::able(&bench.socket, json!({ "elicitation": {} }));
    let call = client.begin_call("ask_answer", ask.clone());
    let form = client.told("elicitation/create");
    let error = json!({ "code": -32603, "message": "nobody is here" });
    client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "error": error }));
    assert_eq!(client.finish_call(call).unwrap_err()["code"], "cannot_ask");
    for nonsense in [json!({}), json!({ "action": "accept", "content": { "answer": 7 } })] {
        let call = client.begin_call("ask_answer", ask.clone());
        let form = client.told("elicitation/create");
        client.respond(&form, nonsense);
        assert_eq!(client.finish_call(call).unwrap_err()["code"], "cannot_ask");
    }
    assert!(asked.is_pending());
    for both in [json!({ "refuse": true }), json!({ "answer": "x" })] {
        let mut arguments = ask.clone();
        arguments.as_object_mut().unwrap().extend(both.as_object().unwrap().clone());
        assert_eq!(client.code("ask_answer", arguments), "bad_request");
    }
    let job = json!({ "argv": ["true"], "ask_person": true, "wait": false });
    assert_eq!(client.code("proc_spawn", job), "bad_request");
}

#[test]
fn what_is_asked_of_an_agent_is_not_put_to_a_person() {
    let (bench, mut client) = bench();
    let asked = bench.guest.ask(DECISION_NATURAL, b"list my files", PATIENCE);
    let result = client.call("asks_wait", waiting()).unwrap();
    assert_eq!((&result["total"], result.get("person")), (&json!(1), None));
    let ask = json!({ "ask": result["asks"][0]["ask"], "ask_person": true });
    assert_eq!(client.code("ask_answer", ask), "bad_request");
    assert!(asked.is_pending() && client.seen.is_empty());
}

/// A client of 2026-07-28, which says with each request what it can do.
struct Stateless(Client);

impl Stateless {
    fn new(bench: &Bench) -> Self {
        Self(Client::silent(&bench.socket))
    }

    /// A call, or its repetition with `more`.
    fn request(&mut self, tool: &str, arguments: &Value, capabilities: &Value, more: &Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        } });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let result = self.0.request("tools/call", params).unwrap();
        assert!(self.0.seen.is_empty(), "the server sends no requests: {:?}", self.0.seen);
        result
    }

    fn call(&mut self, tool: &str, arguments: &Value, more: &Value) -> Value {
        self.request(tool, arguments, &forms(), more)
    }

    /// A call that must be given back: the name of the form, and the handle.
    fn given_back(&mut self, tool: &str, arguments: &Value) -> (String, Value) {
        let result = self.call(tool, arguments, &json!({}));
        assert_eq!(result["resultType"], "input_required", "{result}");
        let (name, form) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(form["method"], "elicitation/create");
        assert!(form["params"]["message"].as_str().unwrap().contains("> may I?\n"), "{form}");
        (name.clone(), result["requestState"].clone())
    }
}

/// The error code of a result.
fn code(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    serde_json::from_str::<Value>(result["content"][0]["text"].as_str().unwrap()).unwrap()["code"].clone()
}

#[test]
fn since_2026_07_28_the_call_is_given_back_with_the_form() {
    let bench = Bench::new();
    let mut client = Stateless::new(&bench);
    let refused = client.request("asks_wait", &waiting(), &json!({}), &json!({}));
    assert_eq!(code(&refused), "cannot_ask");
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let (name, handle) = client.given_back("asks_wait", &waiting());
    let answer = |action: Value| json!({ "requestState": handle, "inputResponses": { &name: action } });
    // The handle is of this call only.
    let other = client.call("asks_wait", &json!({ "ask_person": true }), &answer(accept("no")));
    assert_eq!(code(&other), "bad_request");
    assert!(asked.is_pending());
    let result = client.call("asks_wait", &waiting(), &answer(accept("yes")));
    assert_eq!(
        (&result["resultType"], &result["structuredContent"]["total"]),
        (&json!("complete"), &json!(0))
    );
    assert_eq!(verdict(&result["structuredContent"]), "accepted");
    assert_eq!(asked.outcome().1, b"yes");
    assert_eq!(code(&client.call("asks_wait", &waiting(), &answer(accept("no")))), "bad_request", "used");
}

#[test]
fn whoever_is_late_or_says_nothing_is_told_so_since_2026_07_28() {
    let bench = Bench::new();
    let mut client = Stateless::new(&bench);
    for (response, expected) in [
        (json!({ "action": "decline" }), "declined"),
        (json!({ "action": "cancel" }), "cancelled"),
        (json!({ "action": "x" }), "failed"),
        (Value::Null, "failed"),
        (accept("second"), "late"),
    ] {
        let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
        let (name, handle) = client.given_back("asks_wait", &waiting());
        let mut more = json!({ "requestState": handle, "inputResponses": { &name: response } });
        if response.is_null() {
            more["inputResponses"] = json!({});
        }
        let first = json!({ "op": "ask.answer", "ask": name, "answer": "first" });
        if expected == "late" {
            assert!(bench.call(first.clone()).is_ok());
        }
        let result = client.call("asks_wait", &waiting(), &more)["structuredContent"].clone();
        assert_eq!(verdict(&result), expected, "{result}");
        assert_eq!(result["person"][0]["code"] == "cannot_ask", expected == "failed");
        if expected != "late" {
            let arguments = json!({ "ask": name, "ask_person": true });
            let (_, handle) = client.given_back("ask_answer", &arguments);
            let more =
                json!({ "requestState": handle, "inputResponses": { &name: { "action": "decline" } } });
            let result = client.call("ask_answer", &arguments, &more)["structuredContent"].clone();
            assert_eq!(result["verdict"], "declined");
            assert!(asked.is_pending() && bench.call(first).is_ok());
        }
        assert_eq!(asked.outcome().1, b"first");
    }
}
