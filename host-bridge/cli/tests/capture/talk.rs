//! What belongs together in a conversation: requests and responses, asks and answers, what was sent again, what is missing.

use std::sync::atomic::{AtomicU32, Ordering};

use askr_wire::{FrameType, code};
use host_bridge::link::OwnedFrame;
use serde_json::json;

use crate::bench::{Bench, line, until};
use crate::guest::{Fate, PATIENCE};
use crate::line::Capture;
use crate::tshark;

/// Loses the first response to STAT and the second event, and doubles the first response to LIST of the base.
fn unlucky() -> impl FnMut(&OwnedFrame) -> Fate {
    let counts: [AtomicU32; 3] = Default::default();
    move |frame| {
        let first = |kind: usize| counts[kind].fetch_add(1, Ordering::Relaxed) == 0;
        match (frame.kind, frame.code) {
            (FrameType::Response, code::STAT) if first(0) => Fate::Lost,
            (FrameType::Response, code::READDIR) if first(1) => Fate::Doubled,
            (FrameType::Event, code::EVENT_EXIT) if first(2) => Fate::Lost,
            _ => Fate::Arrives,
        }
    }
}

/// A capture of a conversation in which all of that happens.
fn conversation() -> crate::line::Ended {
    let bench = Bench::new();
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    let capture = Capture::start(&bench.socket, &[]);
    bench.guest.unplug();
    bench.guest.reboot(2);
    until("the second boot", || bench.boot() == "02".repeat(16));
    bench.guest.lock().line = Box::new(unlucky());
    let mut watcher = bench.client();
    watcher.send(br#"{"op":"subscribe","asks":true,"events":true}"#).unwrap();
    line(&mut watcher);
    assert!(bench.call(json!({ "op": "fs.stat", "path": "/proc/version" })).is_ok());
    assert_eq!(bench.call(json!({ "op": "fs.stat", "path": "/none" })), Err("ENOENT".into()));
    assert!(bench.call(json!({ "op": "fs.list", "path": "/" })).is_ok());
    bench.guest.event(code::EVENT_SPAWN, 7, b"hello");
    bench.guest.event(code::EVENT_EXIT, 7, b"hello");
    bench.guest.event(code::EVENT_FAULT, 9, b"crash");
    while line(&mut watcher)["event"]["kind"] != "fault" {}
    let asked = bench.guest.ask(code::DECISION_GENERIC, b"may I?", PATIENCE);
    let ask = line(&mut watcher)["ask"]["ask"].clone();
    assert!(bench.call(json!({ "op": "ask.answer", "ask": ask, "answer": "yes" })).is_ok());
    asked.outcome();
    bench.guest.babble(&[0, 9, 1, 2, 0]);
    capture.wait_for_bytes(&[1, 2, 1, 1, 9, 1, 2]);
    capture.interrupt()
}

#[test]
fn what_belongs_together_is_told() {
    if tshark::is_missing() {
        return;
    }
    let ended = conversation();
    tshark::check_script(&ended.file);
    let rows = |filter: &str, fields: &[&str]| tshark::fields(&ended.file, filter, fields);
    let one = |filter: &str, fields: &[&str]| {
        let rows = rows(filter, fields);
        assert_eq!(rows.len(), 1, "{filter}: {rows:?}");
        rows.into_iter().next().unwrap()
    };
    // Sent, its answer lost, sent again, answered: two requests and one response.
    let stat = "askr.verb == \"STAT\" && askr.path == \"/proc/version\" && askr.type == ";
    let requests = rows(
        &format!("{stat}\"REQUEST\""),
        &["frame.number", "askr.sent_before_in", "askr.response_in", "askr.seq"],
    );
    let response =
        one(&format!("{stat}\"RESPONSE\""), &["frame.number", "askr.request_in", "askr.status", "askr.time"]);
    assert_eq!(requests.len(), 2, "{requests:?}");
    assert_eq!(requests[0][..3], [requests[0][0].clone(), String::new(), response[0].clone()]);
    assert_eq!(requests[1][1..], [requests[0][0].clone(), response[0].clone(), requests[0][3].clone()]);
    assert_eq!(response[1..3], [requests[0][0].clone(), "OK".into()]);
    assert!(response[3].parse::<f64>().unwrap() > 0.0);
    // Answered twice.
    let twice = rows(
        "askr.verb == \"READDIR\" && askr.type == \"RESPONSE\"",
        &["frame.number", "askr.sent_before_in", "askr.request_in"],
    );
    assert_eq!(twice.len(), 2);
    assert_eq!((&twice[0][1][..], &twice[1][1], &twice[1][2]), ("", &twice[0][0], &twice[0][2]));
    assert_eq!(rows("askr.expert.again", &["frame.number"]).len(), 2);
    // What failed is marked, and told with its path in both directions.
    let failed = rows("askr.path == \"/none\"", &["askr.type", "askr.status"]);
    assert_eq!(failed, [["REQUEST", ""], ["RESPONSE", "ENOENT"]]);
    assert_eq!(rows("askr.expert.status", &["askr.status"]), [["ENOENT"]]);
    // The exit is missing when the fault comes.
    let event = one(
        "askr.expert.gap",
        &["askr.event", "askr.name", "askr.vector", "askr.signal", "_ws.expert.message"],
    );
    assert_eq!(event[..2], ["fault", "crash"]);
    assert_eq!(event[4], "1 events before this one were not seen");
    // An ask and its answer name each other.
    let asked = one(
        "askr.type == \"DECISION_REQ\"",
        &["frame.number", "askr.question", "askr.answer_in", "askr.intent"],
    );
    let answered = one(
        "askr.type == \"REQUEST\" && askr.verb == \"ANSWER\"",
        &["frame.number", "askr.answer", "askr.ask_in"],
    );
    assert_eq!(asked[1..], ["may I?".into(), answered[0].clone(), "generic".to_owned()]);
    assert_eq!(answered[1..], ["yes".into(), asked[0].clone()]);
    // The frames of a session are known to be of the boot that HELLO told.
    let boots = rows("askr.verb == \"STAT\"", &["askr.boot"]);
    assert!(!boots.is_empty() && boots.iter().all(|boot| boot[0] == "02".repeat(16)), "{boots:?}");
    // Broken bytes, and the line.
    let broken = one("askr.expert.broken", &["askr.verdict", "askr.direction", "askr.door", "askr.line"]);
    assert_eq!(broken, ["cobs", "to host", "com2", "090102"]);
    let links = rows("askr.expert.link", &["_ws.col.Info"]);
    assert_eq!(links, [["The connection to COM2 ended"], ["The connection to COM2 was made"]]);
    assert!(rows("askr.expert.malformed || askr.expert.wrong_way", &["frame.number"]).is_empty());
}
