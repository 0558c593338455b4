//! `docs/hub.schema.json` says exactly what the hub takes and gives: it is compared with the parser, with what a booted
//! guest answers, and with the examples on the page.

#![allow(clippy::needless_pass_by_value, reason = "calls are easier to read with json!() in place")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use askr::Machine;
use boon::{Compiler, SchemaIndex, Schemas};
use common::PATIENCE;
use common::bridge::hub_on;
use common::program::program;
use common::shell::Askr;
use host_bridge::client::HubClient;
use host_bridge::json::{self, Answer};
use host_bridge::link::Door;
use serde_json::{Map, Value, json};

const SCHEMA: &str = include_str!("../docs/hub.schema.json");
const PAGE: &str = include_str!("../docs/host.md");

/// Requests of each operation that are made up.
const TRIES: usize = 1000;
const SEED: u64 = 6;

/// The schema, ready to be compared with.
struct Contract {
    schema: Value,
    compiled: Schemas,
    parts: BTreeMap<String, SchemaIndex>,
}

impl Contract {
    fn new() -> Self {
        const NAME: &str = "askr:hub";
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let (mut compiler, mut compiled) = (Compiler::new(), Schemas::new());
        compiler.add_resource(NAME, schema.clone()).unwrap();
        let parts = schema["$defs"].as_object().unwrap().keys().map(|part| {
            let compiled = compiler.compile(&format!("{NAME}#/$defs/{part}"), &mut compiled);
            (part.clone(), compiled.unwrap_or_else(|error| panic!("{error:#}")))
        });
        let parts = parts.collect();
        Self { schema, compiled, parts }
    }

    fn operations(&self) -> Vec<String> {
        self.parts.keys().filter_map(|part| part.strip_prefix("request.")).map(str::to_owned).collect()
    }

    fn fields(&self, op: &str) -> Vec<String> {
        let fields = self.schema["$defs"][format!("request.{op}")]["properties"].as_object().unwrap();
        fields.keys().filter(|field| *field != "op").cloned().collect()
    }

    fn holds(&self, part: &str, value: &Value) -> bool {
        self.compiled.validate(value, self.parts[part]).is_ok()
    }

    #[track_caller]
    fn check(&self, part: &str, value: &Value) {
        if let Err(error) = self.compiled.validate(value, self.parts[part]) {
            panic!("not {part}: {error:#}\n{value:#}");
        }
    }
}

/// Values of every kind, some of which each field takes.
fn values() -> Vec<Value> {
    let mut values: Vec<Value> =
        ["", "/a", "ls", "L2E=", "/w==", "!", "AB==", "text", "base64", "replace", "append"]
            .map(Value::from)
            .to_vec();
    values.extend(
        ["off", "reboot", "output", "exit", "TERM", "sigkill", "NONE", "3f9a1c02:1", "3f9a1c02"]
            .map(Value::from),
    );
    values.extend([Value::Null, true.into(), false.into(), 1.5.into(), (-1).into()]);
    values.extend([0, 1, 9, 64, 65, u64::from(u32::MAX), u64::from(u32::MAX) + 1, u64::MAX].map(Value::from));
    values.extend([json!([]), json!(["ls"]), json!(["L2E=", "/w=="]), json!(["!"]), json!([1])]);
    values.extend([
        json!({}),
        json!({ "A": "b" }),
        json!({ "A=": "b" }),
        json!({ "": "b" }),
        json!({ "A": 1 }),
    ]);
    values
}

/// Values that this field takes when nothing else is wrong.
fn fitting(field: &str) -> Vec<Value> {
    let texts: &[&str] = match field {
        "mode" => &["replace", "append"],
        "encoding" => &["text", "base64"],
        "action" => &["off", "reboot"],
        "until" => &["output", "exit"],
        "signal" => &["TERM", "sigkill"],
        "ask" => &["3f9a1c02:1"],
        "boot" => &["3f9a1c02d1e84b7f9d0c6a5b4e3f2a10"],
        "argv" | "env" => return vec![json!(["ls"]), json!(["x", ""])],
        "argv_base64" | "env_base64" => return vec![json!(["L2E="])],
        "sync" | "eof" | "tree" | "refuse" | "stdin_open" | "asks" | "events" | "watch" | "on" => {
            return vec![json!(true), json!(false)];
        }
        field if field.ends_with("_base64") => &["L2E=", ""],
        "path" | "from" | "to" | "content" | "cwd" | "stdin" | "answer" => &["L2E=", "/a"],
        _ => return vec![json!(0), json!(7)],
    };
    texts.iter().map(|text| json!(text)).collect()
}

/// A request with some of its fields, most of them as they should be.
fn made_up(random: &mut fastrand::Rng, op: &str, fields: &[String], values: &[Value]) -> Value {
    let mut request = Map::new();
    request.insert("op".into(), op.into());
    for field in fields {
        let value = match random.u8(..10) {
            0..5 => continue,
            5..9 => fitting(field)[random.usize(..fitting(field).len())].clone(),
            _ => values[random.usize(..values.len())].clone(),
        };
        request.insert(field.clone(), value);
    }
    if random.u8(..20) == 0 {
        request.insert("unheard_of".into(), 1.into());
    }
    Value::Object(request)
}

#[test]
fn the_schema_takes_what_the_parser_takes_and_nothing_else() {
    let contract = Contract::new();
    let mut random = fastrand::Rng::with_seed(SEED);
    let values = values();
    for op in contract.operations() {
        let (fields, mut taken) = (contract.fields(&op), 0);
        let all_values = fields.iter().flat_map(|field| values.iter().map(move |value| (field, value)));
        let single = all_values.map(|(field, value)| {
            // Beside what the operation cannot do without.
            let mut request = needed(&op);
            request[field] = value.clone();
            request
        });
        let single: Vec<_> = single.collect();
        let many = (0..TRIES).map(|_| made_up(&mut random, &op, &fields, &values));
        for request in single.into_iter().chain(many) {
            let parsed = json::parse(request.to_string().as_bytes()).command;
            assert_eq!(
                contract.holds(&format!("request.{op}"), &request),
                parsed.is_ok(),
                "{request}: {parsed:?}"
            );
            taken += usize::from(parsed.is_ok());
        }
        assert!(taken > 10, "{op} was taken {taken} times: nothing was compared");
    }
}

#[test]
fn the_table_of_operations_names_the_fields_of_the_schema() {
    let contract = Contract::new();
    let named: BTreeSet<_> = json::OPERATIONS.iter().map(|operation| operation.name.to_owned()).collect();
    assert_eq!(named, contract.operations().into_iter().collect());
    for operation in json::OPERATIONS {
        let mut fields: BTreeSet<_> = contract.fields(operation.name).into_iter().collect();
        for common in json::COMMON_FIELDS.iter().filter(|field| **field != "op") {
            assert!(fields.remove(*common), "{}: {common}", operation.name);
        }
        let listed: BTreeSet<_> = operation.fields.iter().map(|field| (*field).to_owned()).collect();
        assert_eq!(listed, fields, "{}", operation.name);
    }
}

/// The shortest request of an operation.
fn needed(op: &str) -> Value {
    let mut request = match op {
        "power" => json!({ "action": "off" }),
        "fs.write" => json!({ "path": "/a", "content": "" }),
        "fs.rename" => json!({ "from": "/a", "to": "/b" }),
        "fs.truncate" => json!({ "path": "/a", "size": 0 }),
        "proc.spawn" | "proc.run" => json!({ "argv": ["ls"] }),
        "proc.wait" => json!({ "job": 1 }),
        "proc.input" => json!({ "job": 1, "eof": true }),
        "proc.kill" => json!({ "pid": 1 }),
        "ask.answer" => json!({ "ask": "3f9a1c02:1", "answer": "" }),
        op if op.starts_with("fs.") => json!({ "path": "/a" }),
        _ => json!({}),
    };
    request["op"] = op.into();
    request
}

#[test]
fn the_examples_on_the_page_are_of_the_schema() {
    let contract = Contract::new();
    let examples: Vec<Value> = PAGE
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut seen = BTreeSet::new();
    for example in &examples {
        let part = match example {
            request if request.get("op").is_some() => "request",
            reply if reply.get("id").is_some() => "reply",
            pushed
                if ["boot", "captured", "capture_lost"].iter().any(|field| pushed.get(field).is_some()) =>
            {
                "pushed"
            }
            report if report.get("stdout").is_some() => "report",
            ask if ask.get("question").is_some() => "ask",
            other => panic!("what is {other}?"),
        };
        contract.check(part, example);
        seen.insert(part);
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
}

/// A conversation with the hub, every line of which is compared.
struct Talk<'a> {
    contract: &'a Contract,
    client: HubClient,
    /// Operations of which a success was seen, and errors.
    seen: BTreeSet<String>,
}

impl Talk<'_> {
    /// What is in `ok`, or the error's code.
    #[track_caller]
    fn call(&mut self, request: Value) -> Result<Value, String> {
        let reply = self.client.request(&request).unwrap();
        self.contract.check("reply", &reply);
        let op = request["op"].as_str().unwrap();
        match Answer::of(&reply) {
            Answer::Ok(ok) => {
                self.contract.check("request", &request);
                self.contract.check(&format!("ok.{op}"), &ok);
                self.seen.insert(op.to_owned());
                Ok(ok)
            }
            Answer::Error { code, .. } => {
                self.seen.insert(code.clone());
                Err(code)
            }
            Answer::Other => panic!("no reply: {reply}"),
        }
    }

    #[track_caller]
    fn ok(&mut self, request: Value) -> Value {
        self.call(request.clone()).unwrap_or_else(|code| panic!("{request}: {code}"))
    }

    /// The next pushed line that `is_it` is true of.
    #[track_caller]
    fn pushed(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.client.receive().unwrap().expect("the hub's next line");
            let line: Value = serde_json::from_str(&line).unwrap();
            self.contract.check("pushed", &line);
            if is_it(&line) {
                return line;
            }
        }
    }
}

/// Files, with names and contents that are no text among them.
fn talk_of_files(talk: &mut Talk<'_>) {
    talk.ok(json!({ "op": "fs.mkdir", "path": "/tmp/dir" }));
    talk.ok(json!({ "op": "fs.write", "path_base64": "L3RtcC9kaXIv/w==", "content": "/w==", "encoding": "base64" }));
    let read = talk.ok(json!({ "op": "fs.read", "path_base64": "L3RtcC9kaXIv/w==" }));
    assert_eq!((&read["content"], &read["encoding"]), (&json!("/w=="), &json!("base64")));
    let list = talk.ok(json!({ "op": "fs.list", "path": "/tmp/dir" }));
    assert_eq!(list["entries"][0]["name_base64"], "/w==");
    for path in ["/", "/dev", "/proc", "/bin"] {
        talk.ok(json!({ "op": "fs.list", "path": path }));
        talk.ok(json!({ "op": "fs.stat", "path": path }));
        talk.ok(json!({ "op": "fs.info", "path": path }));
    }
    talk.ok(json!({ "op": "fs.read", "path": "/proc/version", "offset": 2, "length": 3 }));
    talk.ok(json!({ "op": "fs.write", "path": "/tmp/a", "content": "text", "mode": "append" }));
    talk.ok(json!({ "op": "fs.truncate", "path": "/tmp/a", "size": 2 }));
    talk.ok(json!({ "op": "fs.rename", "from": "/tmp/a", "to": "/tmp/b" }));
    talk.ok(json!({ "op": "fs.unlink", "path": "/tmp/b" }));
    talk.ok(json!({ "op": "fs.remove", "path_base64": "L3RtcC9kaXIv/w==" }));
    talk.ok(json!({ "op": "fs.rmdir", "path": "/tmp/dir" }));
    assert_eq!(talk.call(json!({ "op": "fs.stat", "path": "/tmp/dir" })), Err("ENOENT".into()));
    assert_eq!(talk.call(json!({ "op": "fs.stat" })), Err("bad_request".into()));
    assert_eq!(talk.call(json!({ "op": "fs.format" })), Err("unknown_op".into()));
}

/// Programs that end in each way, and one that asks.
fn talk_of_programs(talk: &mut Talk<'_>) {
    talk.ok(json!({ "op": "proc.run", "argv": ["sh", "-c", "echo out; echo err >&2; exit 3"] }));
    let crashed = talk.ok(json!({ "op": "proc.run", "argv": ["crash"] }));
    assert_eq!(crashed["fault"]["signal"], "SEGV");
    let late = talk.ok(json!({ "op": "proc.run", "argv": ["sleep", "1000"], "deadline_ms": 100 }));
    assert_eq!(late["cause"], "deadline");
    let spawn = talk.ok(json!({ "op": "proc.spawn", "argv": ["visitor"], "stdin_open": true }));
    let job = &spawn["job"];
    talk.ok(json!({ "op": "proc.wait", "job": job, "wait_ms": 60_000 }));
    talk.ok(json!({ "op": "proc.list" }));
    talk.ok(json!({ "op": "proc.input", "job": job, "content": "ask\n" }));
    let asks = talk.ok(json!({ "op": "asks.wait", "wait_ms": 60_000 }));
    let ask = &asks["asks"][0];
    assert_eq!(ask["choices"], json!(["stay", "leave"]));
    talk.ok(json!({ "op": "asks.list" }));
    let answer = |answer| json!({ "op": "ask.answer", "ask": ask["ask"], "answer": answer });
    assert_eq!(talk.call(answer("perhaps")), Err("not_a_choice".into()));
    talk.ok(answer("stay"));
    assert_eq!(talk.call(answer("leave")), Err("late".into()));
    talk.ok(json!({ "op": "proc.kill", "job": job, "signal": "KILL" }));
    let end = talk.ok(json!({ "op": "proc.wait", "job": job, "until": "exit", "wait_ms": 60_000 }));
    assert_eq!((&end["state"], &end["cause"]), (&json!("signalled"), &json!("killed")));
}

#[test]
fn what_a_guest_answers_is_of_the_schema() {
    let contract = Contract::new();
    let visitor = program("visitor");
    let mut askr = Askr::boot(&Machine::new().with(visitor.clone()));
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let hub = hub_on(askr.vm(), &socket, false);
    hub.know_program(b"visitor", visitor.host);
    let client = || {
        let client = HubClient::connect(hub.socket()).unwrap();
        client.set_patience(Some(2 * PATIENCE)).unwrap();
        client
    };
    let mut talk = Talk { contract: &contract, client: client(), seen: BTreeSet::new() };
    for op in ["status", "ping", "stats", "sys.info"] {
        talk.ok(json!({ "op": op }));
    }
    let mut watcher = Talk { contract: &contract, client: client(), seen: BTreeSet::new() };
    watcher.ok(json!({ "op": "subscribe", "asks": true, "events": true, "watch": true }));
    watcher.pushed(|line| line["state"]["ready"] == true);
    let mut capture = Talk { contract: &contract, client: client(), seen: BTreeSet::new() };
    capture.ok(json!({ "op": "link.capture" }));
    talk_of_files(&mut talk);
    talk_of_programs(&mut talk);
    talk.ok(json!({ "op": "events.read", "cursor": 0 }));
    talk.ok(json!({ "op": "agent.status" }));
    watcher.pushed(|line| line["event"]["kind"] == "fault");
    let asked = watcher.pushed(|line| line["ask"]["question"] == "stay or leave?");
    let ended = watcher.pushed(|line| line["ask_ended"]["ask"] == asked["ask"]["ask"]);
    assert_eq!(
        (&ended["ask_ended"]["outcome"], &ended["ask_ended"]["answer"]),
        (&json!("answered"), &json!("stay"))
    );
    // Of a program that the host knows.
    talk.ok(json!({ "op": "proc.run", "argv": ["visitor"], "stdin": "crash\n" }));
    let known = watcher.pushed(|line| line["event"]["kind"] == "fault");
    assert_eq!(known["event"]["fault"]["places"][0]["address"], known["event"]["fault"]["rip"]);
    // A natural-language ask, and one whose words are no text.
    askr.start("ai what is the time");
    let natural = watcher.pushed(|line| line["ask"]["intent"] == "natural_language");
    talk.ok(json!({ "op": "ask.answer", "ask": natural["ask"]["ask"], "refuse": true }));
    watcher.pushed(|line| line["ask_ended"]["outcome"] == "refused");
    askr.finish();
    talk.ok(json!({ "op": "proc.spawn", "argv_base64": ["YXNr", "/w=="] }));
    let odd = watcher.pushed(|line| line["ask"]["question_base64"] == "/w==");
    talk.ok(json!({ "op": "ask.answer", "ask": odd["ask"]["ask"], "answer_base64": "/w==" }));
    talk.ok(json!({ "op": "power", "action": "off" }));
    capture.pushed(|line| line["captured"]["direction"] == "to_guest");
    capture.pushed(|line| line["captured"]["direction"] == "to_host");
    let mut closed = BTreeSet::new();
    while closed.len() < Door::ALL.len() {
        let down = capture.pushed(|line| line["captured"]["state"] == "down");
        closed.insert(down["captured"]["door"].to_string());
    }
    talk.seen.append(&mut watcher.seen);
    talk.seen.append(&mut capture.seen);
    let unseen: Vec<_> = contract.operations().into_iter().filter(|op| !talk.seen.contains(op)).collect();
    assert!(unseen.is_empty(), "no reply was seen of {unseen:?}");
}
