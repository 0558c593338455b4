//! Captures of hubs that are not there, that have no place, and that come after one another.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::thread;

use host_bridge::Hub;
use host_bridge::hub::CLIENTS_MAX;
use serde_json::json;

use crate::bench::{Bench, ask};
use crate::guest::Guest;
use crate::line::Capture;
use crate::pcapng::File;

/// What marks that the capture goes on with another hub.
const RESUMED: u8 = 18;

#[test]
fn it_waits_for_a_hub_and_for_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let mut capture = Capture::launch(&socket, &["--wait"]);
    capture.wait_for("waiting for a hub");
    let guest = Guest::new();
    let first = Hub::start_on(guest.connect(), &socket, false).unwrap();
    capture.wait_for("capturing the frames");
    drop(first);
    capture.wait_for("waiting for the next one");
    let _second = Hub::start_on(guest.connect(), &socket, false).unwrap();
    capture.wait_for("the capture goes on");
    let ended = capture.interrupt();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let file = File::read(&fs::read(&ended.file).unwrap());
    let markers = file.packets.iter().filter(|packet| packet.bytes == [1, 0, RESUMED, 0]);
    assert_eq!(markers.count(), 1);
}

#[test]
fn without_a_hub_a_file_that_is_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let ended = Capture::launch_over("precious", &folder.path().join("nobody"), &[]).ended();
    assert_eq!(ended.code, Some(3));
    assert!(ended.said.contains("no hub is running"), "{}", ended.said);
    assert_eq!(fs::read(&ended.file).unwrap(), b"precious");
}

#[test]
fn a_hub_that_is_full_is_none_and_a_file_that_is_there_stays() {
    let bench = Bench::new();
    let client = |_| {
        let mut client = bench.client();
        assert!(ask(&mut client, json!({ "op": "status" })).is_ok());
        client
    };
    let _clients: Vec<_> = (0..CLIENTS_MAX).map(client).collect();
    let ended = Capture::launch_over("precious", &bench.socket, &[]).ended();
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    assert!(ended.said.starts_with("askr-bridge: too_many_clients: "), "{}", ended.said);
    assert_eq!(fs::read(&ended.file).unwrap(), b"precious");
}

/// Replies to the next client, and closes.
fn reply(listener: &UnixListener, reply: &str) {
    let (mut client, _) = listener.accept().unwrap();
    let mut request = String::new();
    BufReader::new(client.try_clone().unwrap()).read_line(&mut request).unwrap();
    assert!(request.contains("link.capture"), "{request}");
    client.write_all(format!("{reply}\n").as_bytes()).unwrap();
}

fn refusal(code: &str) -> String {
    json!({ "id": null, "boot": null, "error": { "code": code, "message": "m", "hint": "h" } }).to_string()
}

#[test]
fn why_it_waits_is_told_once_and_again_when_that_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let mut capture = Capture::launch(&socket, &["--wait"]);
    let none = capture.wait_for("waiting for a hub");
    assert!(none.starts_with("askr-bridge: no hub is running at "), "{none}");
    let path = socket.clone();
    let hub = thread::spawn(move || {
        let listener = UnixListener::bind(path).unwrap();
        (0..4).for_each(|_| reply(&listener, &refusal("too_many_clients")));
        (0..4).for_each(|_| reply(&listener, &refusal("hub_stopping")));
        reply(&listener, r#"{"id":true,"boot":null,"ok":{"on":true,"captured":0,"dropped":0}}"#);
        (0..4).for_each(|_| reply(&listener, &refusal("too_many_clients")));
        listener
    });
    let said = capture.wait_for("the hub ended; waiting for the next one");
    // From now on it keeps clients waiting.
    let _listener = hub.join().unwrap();
    let ended = capture.interrupt();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let said = said + &ended.said;
    let told = |words: &str| said.lines().filter(|line| line.contains(words)).count();
    let counts = ["too_many_clients", "hub_stopping", "capturing the frames"].map(told);
    assert_eq!(counts, [2, 1, 1], "{said}");
}
