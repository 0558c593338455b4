//! What the tools give, on a guest in memory.

use askr_agentbus::AskOutcome;
use askr_wire::code::{DECISION_GENERIC, DECISION_NATURAL, EVENT_EXIT, EVENT_SPAWN};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::client::Client;
use crate::guest::PATIENCE;

/// Most bytes of a result, where no length was asked for.
const RESULT_MAX: usize = 8 * 1024;

fn bench() -> (Bench, Client) {
    let bench = Bench::new();
    let client = Client::start(&bench.socket);
    (bench, client)
}

/// What a terminal obeys.
fn is_clean(result: &Value) -> bool {
    let clean = |text: &str| !text.chars().any(|symbol| symbol.is_control() && !"\n\t".contains(symbol));
    match result {
        Value::String(text) => clean(text),
        Value::Array(items) => items.iter().all(is_clean),
        Value::Object(fields) => fields.iter().all(|(name, value)| clean(name) && is_clean(value)),
        _ => true,
    }
}

#[test]
fn status_tells_which_guest_it_is() {
    let (bench, mut client) = bench();
    let _asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let status = client.call("guest_status", json!({ "wait_ready_ms": 30_000 })).unwrap();
    assert_eq!((&status["state"], &status["ready"]), (&json!("ready"), &json!(true)));
    assert_eq!((&status["boot"], status.get("hint")), (&json!("01".repeat(16)), None));
    assert_eq!((&status["kernel_version"], &status["pending_asks"]), (&json!("0.1.0"), &json!(1)));
    assert_eq!(status["guests"], json!(["agent"]));
    assert!(status["limits"]["payload_limit"].as_u64().unwrap() > 1000);
    assert!(status["link"]["frames_in"].as_u64().unwrap() > 0 && status["link"]["connects"] == 1);
    assert!(status["uptime_ms"].is_u64() && status["round_trip_us"].is_u64());
    assert_eq!(status["bridge_version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn files_are_read_in_parts_that_make_the_whole() {
    let (bench, mut client) = bench();
    let text: String = (0..3000).map(|n| format!("line {n} é\n")).collect();
    bench.guest.lock().files.insert(b"/tmp/long".to_vec(), Some(text.clone().into_bytes()));
    let (mut read, mut offset) = (String::new(), json!(0));
    loop {
        let part = client.call("fs_read", json!({ "path": "/tmp/long", "offset": offset })).unwrap();
        assert!(part.to_string().len() <= RESULT_MAX);
        assert_eq!((&part["encoding"], &part["total"]), (&json!("text"), &json!(text.len())));
        read.push_str(part["content"].as_str().unwrap());
        assert_eq!(part["truncated"] == true, part["next"].is_u64());
        match part.get("next") {
            Some(next) => offset = next.clone(),
            None => break,
        }
    }
    assert_eq!(read, text);
    let whole = client.call("fs_read", json!({ "path": "/tmp/long", "length": 262_144 })).unwrap();
    assert_eq!((&whole["content"], &whole["truncated"]), (&json!(text), &json!(false)));
    assert_eq!(client.code("fs_read", json!({ "path": "/tmp/long", "length": 262_145 })), "bad_request");
}

#[test]
fn contents_are_exact_or_escaped() {
    let (bench, mut client) = bench();
    let files: [(&[u8], &[u8]); 3] =
        [(b"/tmp/plain", b"a\n"), (b"/tmp/ansi", b"\x1b[2J\\"), (b"/tmp/binary", b"\x7fELF\xff")];
    for (path, content) in files {
        bench.guest.lock().files.insert(path.to_vec(), Some(content.to_vec()));
    }
    let mut read = |path: &str, encoding: Value| {
        let mut arguments = json!({ "path": path });
        if encoding.is_string() {
            arguments["encoding"] = encoding;
        }
        let read = client.call("fs_read", arguments).unwrap();
        assert!(is_clean(&read), "{read}");
        (read["content"].as_str().unwrap().to_owned(), read["encoding"].as_str().unwrap().to_owned())
    };
    let is = |content: &str, encoding: &str| (content.to_owned(), encoding.to_owned());
    assert_eq!(read("/tmp/plain", Value::Null), is("a\n", "text"));
    assert_eq!(read("/tmp/ansi", Value::Null), is("\\x1b[2J\\\\", "escaped"));
    assert_eq!(read("/tmp/binary", Value::Null), is("f0VMRv8=", "base64"));
    assert_eq!(read("/tmp/binary", json!("text")), is("\\x7fELF\\xff", "escaped"));
    assert_eq!(read("/tmp/plain", json!("base64")), is("YQo=", "base64"));
}

#[test]
fn long_lists_come_in_pages() {
    let (bench, mut client) = bench();
    for n in 0..500 {
        bench.guest.lock().files.insert(format!("/tmp/file-{n:04}").into_bytes(), Some(Vec::new()));
    }
    let (mut names, mut arguments) = (Vec::new(), json!({ "path": "/tmp" }));
    loop {
        let page = client.call("fs_list", arguments.clone()).unwrap();
        assert!(page.to_string().len() <= RESULT_MAX);
        assert_eq!(page["total"], 500);
        names.extend(page["entries"].as_array().unwrap().iter().map(|entry| entry["name"].to_string()));
        assert_eq!(page["truncated"] == true, page["next"].is_string());
        match page.get("next") {
            Some(next) => arguments["cursor"] = next.clone(),
            None => break,
        }
    }
    let expected: Vec<_> = (0..500).map(|n| format!("\"file-{n:04}\"")).collect();
    assert_eq!(names, expected);
    bench.guest.reboot(2);
    arguments["cursor"] = json!("01010101:100");
    bench.until(json!({ "op": "status" }), |status| status["guest"]["boot"] == "02".repeat(16));
    assert_eq!(client.code("fs_list", arguments), "guest_restarted");
}

#[test]
fn any_name_can_be_given_back() {
    let (bench, mut client) = bench();
    let path = b"/tmp/\xff\x1b]0;x\x07\\".to_vec();
    bench.guest.lock().files.insert(path, Some(b"found".to_vec()));
    let list = client.call("fs_list", json!({ "path": "/tmp" })).unwrap();
    assert!(is_clean(&list));
    let entry = &list["entries"][0];
    assert_eq!(entry["name_encoding"], "escaped");
    let path = format!("/tmp/{}", entry["name"].as_str().unwrap());
    let same = json!({ "path": path, "path_encoding": "escaped" });
    assert_eq!(client.call("fs_read", same.clone()).unwrap()["content"], "found");
    assert_eq!(client.call("fs_stat", same).unwrap()["size"], 5);
    assert_eq!(client.code("fs_stat", json!({ "path": path })), "not_found", "taken as it is");
    assert_eq!(client.code("fs_stat", json!({ "path": "/\\q", "path_encoding": "escaped" })), "bad_request");
}

#[test]
fn stat_and_processes_are_told() {
    let (_bench, mut client) = bench();
    let stat = client.call("fs_stat", json!({ "path": "/proc/version" })).unwrap();
    let expected = json!({
        "boot": "01".repeat(16), "type": "file", "size": 11, "mode": "0755", "uid": 1, "gid": 2, "mtime": 3,
        "atime": 4, "ctime": 5
    });
    assert_eq!(stat, expected);
    let list = client.call("proc_list", json!({})).unwrap();
    let init = json!({
        "pid": 1, "tid": 1, "parent": 0, "state": "blocked", "origin": "console", "user": true, "cpu_ns": 5,
        "memory": 4096, "name": "init"
    });
    assert_eq!(
        (&list["processes"][0], &list["total"], &list["truncated"]),
        (&init, &json!(2), &json!(false))
    );
}

#[test]
fn files_are_changed() {
    let (bench, mut client) = bench();
    let boot = json!({ "boot": "01".repeat(16) });
    assert_eq!(client.call("fs_mkdir", json!({ "path": "/tmp/d" })), Ok(boot.clone()));
    let write = |content: &str, more: Value| {
        let mut arguments = json!({ "path": "/tmp/d/a", "content": content });
        more.as_object().unwrap().iter().for_each(|(key, value)| arguments[key] = value.clone());
        arguments
    };
    let written = client.call("fs_write", write("one", json!({}))).unwrap();
    assert_eq!(written["written"], 3);
    client.call("fs_write", write("/wA=", json!({ "encoding": "base64", "mode": "append" }))).unwrap();
    client.call("fs_write", write("\\x01\\n", json!({ "encoding": "escaped", "mode": "append" }))).unwrap();
    let held = |path: &[u8]| bench.guest.lock().files.get(path).cloned();
    assert_eq!(held(b"/tmp/d/a"), Some(Some(b"one\xff\0\x01\n".to_vec())));
    assert_eq!(client.code("fs_write", write("!", json!({ "encoding": "base64" }))), "bad_request");
    assert_eq!(client.call("fs_rename", json!({ "from": "/tmp/d/a", "to": "/tmp/b" })), Ok(boot.clone()));
    assert!(held(b"/tmp/d/a").is_none() && held(b"/tmp/b").is_some());
    assert_eq!(client.call("fs_remove", json!({ "path": "/tmp/b" })), Ok(boot));
    assert!(held(b"/tmp/b").is_none());
    assert_eq!(client.code("fs_remove", json!({ "path": "/tmp/b" })), "not_found");
    assert_eq!(client.code("fs_mkdir", json!({ "path": "/tmp/d" })), "failed", "it is there");
}

#[test]
fn resources_and_prompts_are_listed_and_read() {
    let (_bench, mut client) = bench();
    client.call("guest_status", json!({ "wait_ready_ms": 30_000 })).unwrap();
    let listed = client.request("resources/list", json!({})).unwrap();
    let uris: Vec<_> = listed["resources"].as_array().unwrap().iter().map(|one| one["uri"].clone()).collect();
    assert_eq!(uris, [json!("askr://status"), json!("askr://events"), json!("askr://asks")]);
    let mut read = |uri: &str| client.request("resources/read", json!({ "uri": uri }));
    let status = read("askr://status").unwrap();
    let text = status["contents"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap()["state"], "ready");
    assert!(read("askr://asks").unwrap()["contents"][0]["text"].as_str().unwrap().contains("\"asks\":[]"));
    let file = read("guest:///proc/versi%6Fn").unwrap();
    assert_eq!(
        (&file["contents"][0]["text"], &file["contents"][0]["mimeType"]),
        (&json!("Askr 0.1.0\n"), &json!("text/plain"))
    );
    for uri in ["guest:///nothing", "askr://nothing", "file:///etc/passwd"] {
        assert_eq!(read(uri).unwrap_err()["code"], -32002, "{uri}");
    }
    let templates = client.request("resources/templates/list", json!({})).unwrap();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "guest:///{+path}");
    let prompts = client.request("prompts/list", json!({})).unwrap();
    assert_eq!(prompts["prompts"].as_array().unwrap().len(), 3);
    let get = json!({ "name": "debug_fault", "arguments": { "program": "crash" } });
    let prompt = client.request("prompts/get", get).unwrap();
    assert!(prompt["messages"][0]["content"]["text"].as_str().unwrap().contains("why crash in"));
    assert_eq!(client.request("prompts/get", json!({ "name": "x" })).unwrap_err()["code"], -32602);
}

#[test]
fn events_are_read_and_waited_for() {
    let (bench, mut client) = bench();
    client.call("guest_status", json!({ "wait_ready_ms": 30_000 })).unwrap();
    bench.guest.event(EVENT_SPAWN, 9, b"p\x1b");
    let first = client.call("events_read", json!({ "wait_ms": 30_000 })).unwrap();
    let event = &first["events"][0];
    assert_eq!((&event["kind"], &event["pid"], &event["parent"]), (&json!("spawn"), &json!(9), &json!(1)));
    assert_eq!((&event["name"], &event["name_encoding"]), (&json!("p\\x1b"), &json!("escaped")));
    assert_eq!((&first["lost"], &first["total"], &first["truncated"]), (&json!(0), &json!(1), &json!(false)));
    let waiting = client.begin_call("events_read", json!({ "cursor": first["next"], "wait_ms": 30_000 }));
    bench.guest.event(EVENT_EXIT, 9, b"p");
    let second = client.finish_call(waiting).unwrap();
    assert_eq!((&second["events"][0]["kind"], &second["events"][0]["number"]), (&json!("exit"), &json!(1)));
    bench.guest.reboot(2);
    let stale = json!({ "cursor": second["next"], "wait_ms": 0 });
    bench.until(json!({ "op": "ping" }), |_| true);
    assert_eq!(client.code("events_read", stale), "guest_restarted");
}

#[test]
fn an_ask_is_waited_for_and_answered() {
    let (bench, mut client) = bench();
    assert_eq!(client.call("asks_wait", json!({ "wait_ms": 0 })).unwrap()["asks"], json!([]));
    let waiting = client.begin_call("asks_wait", json!({ "wait_ms": 60_000 }));
    let asked = bench.guest.ask(DECISION_NATURAL, b"delete \x1b[8m it?", PATIENCE);
    let got = client.finish_call(waiting).unwrap();
    assert!(is_clean(&got));
    let ask = &got["asks"][0];
    assert_eq!(
        (&ask["question"], &ask["question_encoding"]),
        (&json!("delete \\x1b[8m it?"), &json!("escaped"))
    );
    assert_eq!(
        (&ask["intent"], &ask["program"], &ask["pid"]),
        (&json!("natural_language"), &json!("/bin/ask"), &json!(7))
    );
    let answered = client.call("ask_answer", json!({ "ask": ask["ask"], "answer": "SAY yes" })).unwrap();
    assert_eq!(answered["verdict"], "accepted");
    assert_eq!(asked.outcome().1, b"SAY yes");
    assert_eq!(client.code("ask_answer", json!({ "ask": ask["ask"], "answer": "no" })), "late");

    let asked = bench.guest.ask(DECISION_GENERIC, b"again?", PATIENCE);
    let got = client.call("asks_wait", json!({})).unwrap();
    let name = &got["asks"][0]["ask"];
    assert_eq!(client.code("ask_answer", json!({ "ask": name })), "bad_request");
    assert_eq!(
        client.code("ask_answer", json!({ "ask": name, "answer": "x", "refuse": true })),
        "bad_request"
    );
    client.call("ask_answer", json!({ "ask": name, "refuse": true })).unwrap();
    assert_eq!(asked.outcome().0, AskOutcome::Refused);
}

#[test]
fn many_asks_come_in_parts_and_none_is_hidden() {
    let (bench, mut client) = bench();
    // Long when it is escaped.
    let question = [1; 200];
    let asked: Vec<_> = (0..20).map(|_| bench.guest.ask(DECISION_GENERIC, &question, PATIENCE)).collect();
    bench.until(json!({ "op": "asks.list" }), |list| list["asks"].as_array().unwrap().len() == asked.len());
    let (mut names, mut arguments) = (Vec::new(), json!({ "wait_ms": 0 }));
    loop {
        let part = client.call("asks_wait", arguments.clone()).unwrap();
        assert!(part.to_string().len() <= RESULT_MAX);
        assert_eq!(part["total"], asked.len());
        names.extend(part["asks"].as_array().unwrap().iter().map(|ask| ask["ask"].to_string()));
        match part.get("next") {
            Some(next) => arguments["cursor"] = next.clone(),
            None => break,
        }
    }
    names.dedup();
    assert_eq!(names.len(), asked.len());
}

#[test]
fn errors_tell_what_and_what_to_do() {
    let (bench, mut client) = bench();
    let error = client.call("fs_read", json!({ "path": "/no\u{1b}thing" })).unwrap_err();
    assert_eq!((&error["code"], &error["errno"]), (&json!("not_found"), &json!("ENOENT")));
    assert_eq!(error["boot"], "01".repeat(16));
    assert!(is_clean(&error) && error["message"].as_str().unwrap().starts_with("/no\\x1bthing: "), "{error}");
    for (tool, arguments, code) in [
        ("fs_list", json!({ "path": "/proc/version" }), "wrong_kind"),
        ("fs_read", json!({ "path": "/tmp" }), "wrong_kind"),
        ("fs_read", json!({}), "bad_request"),
        ("fs_read", json!({ "path": 7 }), "bad_request"),
        ("fs_read", json!({ "path": "/", "lenght": 7 }), "bad_request"),
        ("fs_list", json!({ "path": "/", "cursor": "x" }), "bad_request"),
        ("fs_stat", json!({ "path": "/", "guest": "../x" }), "unknown_guest"),
        ("ask_answer", json!({ "ask": "01010101:9", "answer": "x" }), "unknown_ask"),
        ("ask_answer", json!({ "ask": "02020202:1", "answer": "x" }), "guest_restarted"),
    ] {
        assert_eq!(client.code(tool, arguments.clone()), code, "{tool} {arguments}");
    }
    assert!(bench.guest.lock().done.is_empty(), "nothing was changed");
}
