//! From a start without a guest to the end, whatever comes and goes meanwhile.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use askr_wire::code::DECISION_GENERIC;
use host_bridge::Hub;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::client::{Client, PROGRAM};
use crate::guest::{Guest, PATIENCE};

#[test]
fn it_starts_at_once_without_a_guest_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let mut client = Client::start(&folder.path().join("agent.sock"));
    let status = client.call("guest_status", json!({})).unwrap();
    // The target is 0.2 s; the machine that tests run on may be busy.
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!((&status["state"], &status["ready"]), (&json!("not_running"), &json!(false)));
    assert!(status["hint"].as_str().unwrap().contains("cargo run"));
    assert_eq!(client.code("fs_read", json!({ "path": "/" })), "not_ready");
    assert_eq!(client.code("asks_wait", json!({})), "not_ready");
}

#[test]
fn it_finds_a_guest_that_comes_later_and_outlives_it() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let mut client = Client::start(&socket);
    assert_eq!(client.call("guest_status", json!({})).unwrap()["state"], "not_running");
    let waiting = client.begin_call("guest_status", json!({ "wait_ready_ms": 60_000 }));
    let guest = Guest::new();
    let hub = Hub::start_on(guest.connect(), &socket, false).unwrap();
    let status = client.finish_call(waiting).unwrap();
    assert_eq!((&status["state"], &status["boot"]), (&json!("ready"), &json!("01".repeat(16))));

    // It ends while a call is under way.
    guest.lock().deaf = true;
    let reading = client.begin_call("fs_read", json!({ "path": "/proc/version" }));
    let mut watcher = host_bridge::client::HubClient::connect(&socket).unwrap();
    crate::bench::until("the call to be under way", || {
        crate::bench::ask(&mut watcher, json!({ "op": "status" })).unwrap()["outstanding"] != 0
    });
    drop(hub);
    guest.hear();
    assert_eq!(client.finish_call(reading).unwrap_err()["code"], "not_ready");
    assert_eq!(client.call("guest_status", json!({})).unwrap()["state"], "not_running");

    // Another one starts.
    guest.reboot(2);
    let _hub = Hub::start_on(guest.connect(), &socket, false).unwrap();
    let read = client.call("fs_read", json!({ "path": "/proc/version" })).unwrap();
    assert_eq!((&read["content"], &read["boot"]), (&json!("Askr 0.1.0\n"), &json!("02".repeat(16))));
    assert!(client.is_running());
}

#[test]
fn a_hub_that_breaks_off_leaves_no_doubt_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    // Takes a request on each connection, says this, and hangs up.
    let says = ["", "", "{\"id\":1,\"ok\"", "nonsense\n", "{\"event\":{}}\n"];
    let hub = std::thread::spawn(move || {
        for says in says {
            let (mut stream, _) = listener.accept().unwrap();
            BufReader::new(&stream).read_line(&mut String::new()).unwrap();
            stream.write_all(says.as_bytes()).unwrap();
        }
    });
    let mut client = Client::start(&socket);
    let answer = json!({ "ask": "01010101:1", "answer": "x" });
    assert_eq!(client.code("fs_stat", json!({ "path": "/" })), "not_ready");
    assert_eq!(client.code("ask_answer", answer.clone()), "outcome_unknown");
    assert_eq!(client.code("ask_answer", answer), "outcome_unknown");
    assert_eq!(client.code("fs_stat", json!({ "path": "/" })), "protocol");
    assert_eq!(client.code("fs_stat", json!({ "path": "/" })), "protocol");
    hub.join().unwrap();
}

#[test]
fn a_guest_that_does_not_answer_is_told_from_one_that_is_not_there() {
    let bench = Bench::new();
    let mut client = Client::start(&bench.socket);
    client.call("guest_status", json!({ "wait_ready_ms": 30_000 })).unwrap();
    bench.guest.lock().deaf = true;
    let status = client.call("guest_status", json!({})).unwrap();
    assert_eq!((&status["state"], &status["ready"]), (&json!("not_answering"), &json!(false)));
    bench.guest.hear();
    bench.guest.lock().powered = false;
    bench.guest.unplug();
    bench.until(json!({ "op": "status" }), |status| status["ready"] == false);
    let status = client.call("guest_status", json!({ "wait_ready_ms": 100 })).unwrap();
    assert_eq!(status["state"], "starting");
}

#[test]
fn numbers_of_another_boot_are_refused() {
    let bench = Bench::new();
    let mut client = Client::start(&bench.socket);
    client.call("guest_status", json!({ "wait_ready_ms": 30_000 })).unwrap();
    let calls = [
        ("proc_wait", json!({ "job": 1, "wait_ms": 0 })),
        ("proc_input", json!({ "job": 1, "data": "x" })),
        ("proc_kill", json!({ "job": 1 })),
        ("proc_kill", json!({ "pid": 2, "tree": true })),
    ];
    let mut code = |tool, arguments: &Value, boot: &str| {
        let mut arguments = arguments.clone();
        arguments["boot"] = boot.into();
        client.code(tool, arguments)
    };
    for (tool, arguments) in &calls {
        // This guest has no jobs: it has understood what it does not do.
        assert_eq!(code(tool, arguments, &"01".repeat(16)), "failed", "{tool}");
        assert_eq!(code(tool, arguments, &"02".repeat(16)), "guest_restarted", "{tool}");
        assert_eq!(code(tool, arguments, "01010101"), "bad_request", "{tool}");
    }
    bench.guest.reboot(2);
    bench.until(json!({ "op": "status" }), |status| status["guest"]["boot"] == "02".repeat(16));
    for (tool, arguments) in &calls {
        assert_eq!(code(tool, arguments, &"01".repeat(16)), "guest_restarted", "{tool}");
    }
}

#[test]
fn each_guest_of_a_checkout_is_reached_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let sockets = [folder.path().join("agent.sock"), folder.path().join("agent-2.sock")];
    let guests = [Guest::new(), Guest::new()];
    guests[1].reboot(2);
    let _hubs = [0, 1].map(|n| Hub::start_on(guests[n].connect(), &sockets[n], false).unwrap());
    let mut client = Client::start(&sockets[0]);
    let status = client.call("guest_status", json!({ "guest": "agent-2", "wait_ready_ms": 30_000 })).unwrap();
    assert_eq!((&status["boot"], &status["guests"]), (&json!("02".repeat(16)), &json!(["agent", "agent-2"])));
    let stat = client.call("fs_stat", json!({ "path": "/" })).unwrap();
    assert_eq!(stat["boot"], "01".repeat(16));
}

#[test]
fn a_guest_that_outlives_the_first_is_still_reached() {
    // As in a checkout: the program in `target/debug`, sockets in `target/askr`.
    let target = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (debug, askr) = (target.path().join("debug"), target.path().join("askr"));
    fs::create_dir(&debug).unwrap();
    fs::create_dir(&askr).unwrap();
    let program = debug.join("askr-bridge");
    fs::hard_link(PROGRAM, &program).unwrap();
    let guests = [Guest::new(), Guest::new()];
    guests[1].reboot(2);
    let sockets = [askr.join("agent.sock"), askr.join("agent-2.sock")];
    let [first, _second] = [0, 1].map(|n| Hub::start_on(guests[n].connect(), &sockets[n], false).unwrap());
    let mut client = Client::elsewhere(&program);
    let of_second = json!({ "path": "/", "guest": "agent-2" });
    let boot = |stat: Value| stat["boot"].clone();
    assert_eq!(boot(client.call("fs_stat", json!({ "path": "/" })).unwrap()), "01".repeat(16));
    assert_eq!(boot(client.call("fs_stat", of_second.clone()).unwrap()), "02".repeat(16));
    drop(first);
    let status = client.call("guest_status", json!({})).unwrap();
    assert_eq!((&status["state"], &status["guests"]), (&json!("not_running"), &json!(["agent-2"])));
    assert_eq!(boot(client.call("fs_stat", of_second).unwrap()), "02".repeat(16));
    assert_eq!(client.code("fs_stat", json!({ "path": "/" })), "not_ready", "nobody meant the other one");
    assert_eq!(client.code("fs_stat", json!({ "path": "/", "guest": "agent-9" })), "not_ready");
}

#[test]
fn a_long_call_tells_of_its_progress_and_others_go_on_beside_it() {
    let bench = Bench::new();
    let mut client = Client::start(&bench.socket);
    let params = json!({
        "name": "asks_wait", "arguments": { "wait_ms": 60_000 }, "_meta": { "progressToken": "here" }
    });
    let began = Instant::now();
    let waiting = client.begin("tools/call", params);
    assert!(client.call("fs_stat", json!({ "path": "/" })).is_ok());
    for count in 1..=2 {
        let message = client.next().unwrap();
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "here");
        assert!(message["params"]["progress"].as_f64().unwrap() > 4.0 * f64::from(count));
        assert!(
            began.elapsed() < Duration::from_secs(10) * count,
            "progress comes every ten seconds at least"
        );
    }
    let _asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    assert_eq!(client.finish_call(waiting).unwrap()["total"], 1);
}

#[test]
fn a_cancelled_call_ends_and_gets_no_response() {
    let bench = Bench::new();
    let mut client = Client::start(&bench.socket);
    let waiting = client.begin_call("asks_wait", json!({ "wait_ms": 600_000 }));
    // The hub has two clients: the call, and the one that asks.
    bench.until(json!({ "op": "status" }), |status| status["clients"] == 2);
    let cancel = json!({ "requestId": waiting, "reason": "enough" });
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    bench.until(json!({ "op": "status" }), |status| status["clients"] == 1);
    let _asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    assert_eq!(client.call("asks_wait", json!({})).unwrap()["total"], 1);
    assert!(client.seen.is_empty(), "{:?}", client.seen);
}

#[test]
fn it_ends_with_its_client() {
    let bench = Bench::new();
    let mut client = Client::start(&bench.socket);
    client.begin_call("asks_wait", json!({ "wait_ms": 600_000 }));
    bench.until(json!({ "op": "status" }), |status| status["clients"] == 2);
    let left = Instant::now();
    client.hang_up();
    assert!(client.wait_for_end().success());
    assert!(left.elapsed() < Duration::from_secs(4), "calls have a second to end: {:?}", left.elapsed());
    bench.until(json!({ "op": "status" }), |status| status["clients"] == 1);
    let mut early = Client::silent(&bench.socket);
    early.hang_up();
    assert!(early.wait_for_end().success());
}

#[test]
fn it_ends_when_nobody_takes_what_it_says() {
    use std::process::{Command, Stdio};

    let bench = Bench::new();
    let mut program = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
    program.arg("mcp").env("ASKR_SOCKET", &bench.socket).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = program.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let opening = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        } }
    });
    writeln!(stdin, "{opening}").unwrap();
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("it does not end while its stdin is open");
        }
        std::thread::yield_now();
    }
}

#[test]
fn requests_before_the_end_of_input_are_answered() {
    let bench = Bench::new();
    let mut client = Client::start(&bench.socket);
    let calls: Vec<_> =
        (0..5).map(|_| client.begin_call("fs_read", json!({ "path": "/proc/version" }))).collect();
    client.hang_up();
    for call in calls {
        assert_eq!(client.finish_call(call).unwrap()["content"], "Askr 0.1.0\n");
    }
    assert!(client.next().is_none());
}
