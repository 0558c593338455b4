//! Clients that misbehave harm only themselves.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use askr_wire::code::EVENT_EXIT;
use host_bridge::hub::{CLIENTS_MAX, LINE_MAX};
use host_bridge::{Hub, socket};
use serde_json::json;

use crate::bench::{Bench, ask, line, until};
use crate::guest::{Guest, PATIENCE};

#[test]
fn a_bad_line_is_answered_and_the_connection_goes_on() {
    let bench = Bench::new();
    let mut client = bench.client();
    let long = vec![b'x'; LINE_MAX + 1];
    for (bad, code) in [
        (&b"nonsense"[..], "bad_request"),
        (b"\xff\xfe\x00", "bad_request"),
        (b"[1,2]", "bad_request"),
        (b"{\"id\":5,\"op\":\"fs.format\"}", "unknown_op"),
        (&long, "line_too_long"),
    ] {
        client.send(bad).unwrap();
        assert_eq!(line(&mut client)["error"]["code"], code);
    }
    client.send(b"").unwrap();
    client.send(b"  \r").unwrap();
    assert!(ask(&mut client, json!({ "op": "ping" })).is_ok());
}

#[test]
fn replies_come_in_order_but_a_wait_holds_up_nothing() {
    let bench = Bench::new();
    let mut client = bench.client();
    client.send(br#"{"id":"w","op":"asks.wait","wait_ms":300}"#).unwrap();
    for id in 0..50 {
        client.send(json!({ "id": id, "op": "fs.stat", "path": "/" }).to_string().as_bytes()).unwrap();
    }
    let ids: Vec<_> = (0..51).map(|_| line(&mut client)["id"].clone()).collect();
    let numbers: Vec<_> = ids.iter().filter(|id| id.is_u64()).cloned().collect();
    assert_eq!(numbers, (0..50).map(|id| json!(id)).collect::<Vec<_>>());
    assert!(ids.contains(&json!("w")));
}

#[test]
fn a_client_has_only_so_many_waits() {
    let bench = Bench::new();
    let mut client = bench.client();
    for _ in 0..17 {
        client.send(br#"{"op":"asks.wait","wait_ms":600000}"#).unwrap();
    }
    assert_eq!(line(&mut client)["error"]["code"], "too_many_waits");
}

#[test]
fn a_subscriber_that_does_not_read_is_disconnected_and_the_others_do_not_notice() {
    let bench = Bench::new();
    bench.boot();
    let mut deaf = bench.client();
    let mut good = bench.client();
    for client in [&mut deaf, &mut good] {
        assert!(ask(client, json!({ "op": "subscribe", "asks": false, "events": true })).is_ok());
    }
    // More than the deaf one's socket and queue hold.
    let name = vec![b'n'; 255];
    for pid in 0..4000 {
        bench.guest.event(EVENT_EXIT, pid, &name);
        assert_eq!(line(&mut good)["event"]["pid"], pid);
    }
    // What was already on its way may be read; nothing is left out before the end.
    let mut read = 0;
    while let Ok(Some(line)) = deaf.receive() {
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["event"]["pid"], read);
        read += 1;
    }
    assert!(read < 4000);
    bench.until(json!({ "op": "status" }), |status| status["clients"].as_u64() <= Some(2));
    bench.guest.event(EVENT_EXIT, 4000, &name);
    assert_eq!(line(&mut good)["event"]["pid"], 4000);
}

#[test]
fn a_client_that_asks_and_does_not_read_holds_up_nobody() {
    let bench = Bench::new();
    bench.guest.lock().files.insert(b"/tmp/big".to_vec(), Some(vec![b'x'; 1 << 20]));
    let mut deaf = bench.client();
    for _ in 0..40 {
        deaf.send(br#"{"op":"fs.read","path":"/tmp/big"}"#).unwrap();
    }
    for _ in 0..20 {
        assert!(bench.call(json!({ "op": "fs.stat", "path": "/tmp/big" })).is_ok());
    }
}

#[test]
fn clients_beyond_the_limit_are_told_so() {
    let bench = Bench::new();
    let mut clients: Vec<_> = (0..CLIENTS_MAX).map(|_| bench.client()).collect();
    for client in &mut clients {
        assert!(ask(client, json!({ "op": "status" })).is_ok());
    }
    let mut late = bench.client();
    assert_eq!(line(&mut late)["error"]["code"], "too_many_clients");
    assert_eq!(late.receive().unwrap(), None);
    clients.pop();
    // The place is free again as soon as the hub has noticed.
    until("a free place", || {
        let reply = bench.client().request(&json!({ "op": "status" }));
        reply.is_ok_and(|reply| reply.get("ok").is_some())
    });
}

#[test]
fn a_client_that_closes_its_sending_side_still_gets_its_replies() {
    let bench = Bench::new();
    let mut stream = socket::connect(&bench.socket).unwrap();
    stream
        .write_all(b"{\"id\":1,\"op\":\"asks.wait\",\"wait_ms\":600000}\n{\"id\":2,\"op\":\"ping\"}")
        .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut replies = String::new();
    stream.read_to_string(&mut replies).unwrap();
    let ids: Vec<_> = replies
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone())
        .collect();
    assert!(ids.contains(&json!(1)) && ids.contains(&json!(2)), "{replies}");
}

#[test]
fn one_hub_per_socket_and_a_stale_one_is_replaced() {
    let bench = Bench::new();
    let second = Hub::start_on(Guest::new().connect(), &bench.socket, false);
    assert_eq!(second.err().map(|error| error.kind()), Some(std::io::ErrorKind::AddrInUse));
    assert!(bench.call(json!({ "op": "ping" })).is_ok(), "the first goes on");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let hub = Hub::start_on(Guest::new().connect(), &path, false).unwrap();
    assert!(hub.wait_ready(PATIENCE).unwrap().ready);
    assert!(UnixStream::connect(&path).is_ok());
}

#[test]
fn a_hub_finds_its_guest_behind_a_path_over_107_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let config = host_bridge::HubConfig {
        com2: deep.join("com2.sock"),
        data: None,
        socket: deep.join("agent.sock"),
        agent: false,
    };
    let hub = Hub::start(config.clone()).unwrap();
    assert!(!hub.status().connected);
    let com2 = socket::bind(&config.com2).unwrap();
    let mut guest = com2.accept().unwrap();
    until("the hub to connect", || hub.status().connected);
    let mut first = [0xff; 2];
    guest.read_exact(&mut first).unwrap();
    assert_eq!(first, [0, 0], "a delimiter of its own before the one of the first frame");
}

#[test]
fn what_is_for_one_boot_is_not_done_in_another() {
    let bench = Bench::new();
    let boot = bench.boot();
    let in_boot = |op: &str| json!({ "op": op, "path": "/tmp/d", "boot": boot });
    assert!(bench.call(in_boot("fs.mkdir")).is_ok());
    assert!(bench.call(json!({ "op": "asks.list", "boot": boot })).is_ok());
    bench.guest.reboot(2);
    bench.until(json!({ "op": "status" }), |status| status["guest"]["boot"] == "02".repeat(16));
    assert_eq!(bench.call(in_boot("fs.remove")), Err("guest_restarted".into()));
    for op in ["status", "ping", "asks.list", "asks.wait", "subscribe"] {
        assert_eq!(bench.call(json!({ "op": op, "boot": boot })), Err("guest_restarted".into()), "{op}");
    }
    assert_eq!(bench.guest.lock().done, ["mkdir /tmp/d"]);
    let short = json!({ "op": "status", "boot": "02020202" });
    assert_eq!(bench.call(short), Err("bad_request".into()));
}
