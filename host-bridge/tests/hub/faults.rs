//! A line that loses, doubles and garbles; a guest that reboots, goes and comes back.

use std::collections::HashSet;
use std::time::Duration;

use askr_agentbus::Counter;
use askr_wire::code::{ASKS, DECISION_GENERIC, HELLO, MKDIR, PING, STAT};
use askr_wire::{FrameType, SESSION_PAYLOAD_MAX};
use serde_json::{Value, json};

use crate::bench::{Bench, ask, line, until};
use crate::guest::{Fate, Guest, PATIENCE, is_response};

/// A guest whose line decides by `fate`.
fn guest(fate: impl FnMut(&host_bridge::link::OwnedFrame) -> Fate + Send + 'static) -> Guest {
    let guest = Guest::new();
    guest.lock().line = Box::new(fate);
    guest
}

fn everything(bench: &Bench) -> Vec<Result<Value, String>> {
    [
        json!({ "op": "fs.mkdir", "path": "/tmp/d" }),
        json!({ "op": "fs.write", "path": "/tmp/d/a", "content": "one" }),
        json!({ "op": "fs.write", "path": "/tmp/d/a", "content": "two", "mode": "append" }),
        json!({ "op": "fs.read", "path": "/tmp/d/a" }),
        json!({ "op": "fs.remove", "path": "/tmp/d/a" }),
        json!({ "op": "fs.list", "path": "/tmp/d" }),
    ]
    .map(|request| bench.call(request))
    .into()
}

fn check_everything(bench: &Bench) {
    let results = everything(bench);
    assert_eq!(results[3].as_ref().unwrap()["content"], "onetwo");
    assert_eq!(results[5].as_ref().unwrap()["entries"], json!([]));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let done = bench.guest.lock().done.clone();
    let expected = ["mkdir /tmp/d", "Replace /tmp/d/a 3", "Append /tmp/d/a 3", "remove /tmp/d/a"];
    assert_eq!(done, expected, "each exactly once");
}

#[test]
fn every_answer_lost_once_changes_no_result_and_repeats_no_change() {
    let mut lost = HashSet::new();
    let bench = Bench::with(
        guest(move |frame| {
            let first = is_response(frame) && lost.insert((frame.session.is_some(), frame.seq));
            if first { Fate::Lost } else { Fate::Arrives }
        }),
        false,
    );
    check_everything(&bench);
    assert!(bench.guest.lock().counter(Counter::Replayed) >= 6);
}

#[test]
fn every_request_lost_once_changes_no_result() {
    let mut lost = HashSet::new();
    let bench = Bench::with(
        guest(move |frame| {
            let first = frame.kind == FrameType::Request && lost.insert((frame.session.is_some(), frame.seq));
            if first { Fate::Lost } else { Fate::Arrives }
        }),
        false,
    );
    check_everything(&bench);
}

#[test]
fn everything_doubled_changes_no_result_and_repeats_no_change() {
    let bench = Bench::with(guest(|_| Fate::Doubled), false);
    check_everything(&bench);
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let asks = bench.call(json!({ "op": "asks.wait" })).unwrap();
    assert_eq!(asks["asks"].as_array().unwrap().len(), 1);
    let name = &asks["asks"][0]["ask"];
    assert!(bench.call(json!({ "op": "ask.answer", "ask": name, "answer": "x" })).is_ok());
    assert_eq!(asked.outcome().1, b"x");
    assert!(bench.guest.lock().counter(Counter::HellosRepeated) >= 1);
}

#[test]
fn hello_is_repeated_until_the_guest_listens() {
    let mut left = 3;
    let bench = Bench::with(
        guest(move |frame| {
            let deaf = frame.code == HELLO && left > 0;
            left -= i32::from(deaf);
            if deaf { Fate::Lost } else { Fate::Arrives }
        }),
        false,
    );
    let status = bench.call(json!({ "op": "status" })).unwrap();
    assert_eq!((&status["ready"], &status["guest"]), (&json!(false), &Value::Null));
    let read = bench.call(json!({ "op": "fs.read", "path": "/proc/version" })).unwrap();
    assert_eq!(read["content"], "Askr 0.1.0\n");
}

#[test]
fn a_guest_that_never_answers_gives_typed_errors_in_time() {
    let bench = Bench::with(guest(|_| Fate::Lost), false);
    let unheard = json!({ "op": "fs.mkdir", "path": "/x", "timeout_ms": 100 });
    assert_eq!(bench.call(unheard), Err("not_ready".into()));
    assert_eq!(bench.call(json!({ "op": "ping", "timeout_ms": 100 })), Err("not_ready".into()));

    let bench = Bench::with(guest(|frame| fate_of_calls(frame.code)), false);
    bench.boot();
    assert_eq!(
        bench.call(json!({ "op": "fs.stat", "path": "/", "timeout_ms": 100 })),
        Err("timed_out".into())
    );
    let lost = json!({ "op": "fs.mkdir", "path": "/x", "timeout_ms": 100 });
    assert_eq!(bench.call(lost), Err("outcome_unknown".into()));
}

/// Loses calls but no housekeeping.
fn fate_of_calls(code: u16) -> Fate {
    if [HELLO, PING, ASKS].contains(&code) { Fate::Arrives } else { Fate::Lost }
}

#[test]
fn noise_on_the_line_costs_only_itself() {
    let bench = Bench::new();
    bench.boot();
    for noise in [&b"\0boot: hello\r\n\0"[..], &[0xff; 9000], b"\0\0\0", b"\x05abc\0", b"unfinished"] {
        bench.guest.babble(noise);
        let read = bench.call(json!({ "op": "fs.read", "path": "/proc/version" })).unwrap();
        assert_eq!(read["content"], "Askr 0.1.0\n");
    }
    let broken = bench.call(json!({ "op": "stats" })).unwrap()["link"]["frames_broken"].clone();
    assert_eq!(broken["oversize"], 1);
    assert!(broken["cobs"].as_u64().unwrap() >= 2, "{broken}");
}

#[test]
fn a_reboot_ends_outstanding_calls_and_the_next_ones_reach_the_new_boot() {
    let mut silent = true;
    let bench = Bench::with(
        guest(move |frame| {
            let lose = silent && [MKDIR, STAT].contains(&frame.code);
            // The answer to the second HELLO tells that the guest has rebooted.
            silent &= !(frame.code == HELLO
                && is_response(frame)
                && frame.payload.windows(16).any(|w| w == [2; 16]));
            if lose { Fate::Lost } else { Fate::Arrives }
        }),
        false,
    );
    assert_eq!(bench.boot(), "01".repeat(16));
    let asked = bench.guest.ask(DECISION_GENERIC, b"of the old boot", PATIENCE);
    let name = bench.call(json!({ "op": "asks.wait" })).unwrap()["asks"][0]["ask"].clone();
    let mut clients = [bench.client(), bench.client()];
    clients[0].send(br#"{"op":"fs.mkdir","path":"/tmp/d","timeout_ms":60000}"#).unwrap();
    clients[1].send(br#"{"op":"fs.stat","path":"/tmp","timeout_ms":60000}"#).unwrap();
    bench.until(json!({ "op": "status" }), |status| status["outstanding"].as_u64() >= Some(2));
    bench.guest.reboot(2);
    for client in &mut clients {
        assert_eq!(line(client)["error"]["code"], "guest_restarted");
    }
    assert_eq!(bench.boot(), "02".repeat(16));
    assert_eq!(bench.call(json!({ "op": "asks.list" })), Ok(json!({ "asks": [] })));
    let late = json!({ "op": "ask.answer", "ask": name, "answer": "x" });
    assert_eq!(bench.call(late), Err("guest_restarted".into()));
    assert_eq!(bench.call(json!({ "op": "fs.mkdir", "path": "/tmp/d" })), Ok(json!({})));
    assert_eq!(bench.guest.lock().done, ["mkdir /tmp/d"], "the old one never ran");
    drop(asked);
}

#[test]
fn the_link_comes_back_after_the_guest_went_away() {
    let bench = Bench::new();
    let mut client = bench.client();
    assert!(ask(&mut client, json!({ "op": "fs.read", "path": "/proc/version" })).is_ok());
    bench.guest.lock().powered = false;
    bench.guest.unplug();
    bench.until(json!({ "op": "status" }), |status| status["connected"] == false);
    let gone = json!({ "op": "fs.stat", "path": "/", "timeout_ms": 50 });
    assert_eq!(ask(&mut client, gone), Err("not_ready".into()));
    bench.guest.lock().powered = true;
    assert!(ask(&mut client, json!({ "op": "fs.stat", "path": "/" })).is_ok());
    let stats = ask(&mut client, json!({ "op": "stats" })).unwrap();
    assert_eq!(stats["link"]["connects"], 2);
    assert_eq!(stats["session"]["sessions"], 1, "the same guest goes on with the same session");
}

#[test]
fn an_ask_that_was_lost_on_the_line_is_fetched() {
    let bench = Bench::with(
        guest(|frame| if frame.kind == FrameType::DecisionReq { Fate::Lost } else { Fate::Arrives }),
        false,
    );
    bench.boot();
    let _asked = bench.guest.ask(DECISION_GENERIC, &[b'q'; 256], PATIENCE);
    // The ping that a client asks for notices it as well as the periodic one. One that is under way already may be older.
    bench.until(json!({ "op": "ping" }), |pong| pong["pending_asks"] == 1);
    let asks = bench.call(json!({ "op": "asks.wait" })).unwrap();
    assert_eq!(asks["asks"][0]["question"], "q".repeat(256));
}

#[test]
fn more_asks_than_fit_a_frame_are_fetched_page_by_page() {
    let bench = Bench::with(
        guest(|frame| if frame.kind == FrameType::DecisionReq { Fate::Lost } else { Fate::Arrives }),
        false,
    );
    bench.boot();
    let count = SESSION_PAYLOAD_MAX / 256 + 8;
    let _asked: Vec<_> =
        (0..count).map(|_| bench.guest.ask(DECISION_GENERIC, &[b'q'; 256], PATIENCE)).collect();
    assert!(bench.call(json!({ "op": "ping" })).is_ok());
    bench.until(json!({ "op": "asks.list" }), |list| list["asks"].as_array().unwrap().len() == count);
}

#[test]
fn a_guest_that_stops_reading_costs_time_and_nothing_else() {
    let bench = Bench::new();
    bench.boot();
    bench.guest.lock().deaf = true;
    let content = "x".repeat(1 << 20);
    let stuck = json!({ "op": "fs.write", "path": "/tmp/big", "content": content, "timeout_ms": 400 });
    std::thread::scope(|scope| {
        // Enough to fill the socket on the way to the guest.
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(|| bench.call(stuck.clone()))).collect();
        for writer in writers {
            let error = writer.join().unwrap().unwrap_err();
            assert!(["outcome_unknown", "timed_out", "not_ready"].contains(&&error[..]), "{error}");
        }
    });
    assert!(bench.call(json!({ "op": "status" })).is_ok());
    bench.guest.hear();
    let read = bench.call(json!({ "op": "fs.read", "path": "/proc/version", "timeout_ms": 20000 })).unwrap();
    assert_eq!(read["content"], "Askr 0.1.0\n");
}

#[test]
fn many_clients_at_once_stay_within_the_window() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for n in 0..16 {
            let bench = &bench;
            scope.spawn(move || {
                let mut client = bench.client();
                let path = format!("/tmp/{n}");
                for round in 0..20 {
                    let write = json!({ "op": "fs.write", "path": path, "content": round.to_string() });
                    assert!(ask(&mut client, write).is_ok());
                    let read = ask(&mut client, json!({ "op": "fs.read", "path": path })).unwrap();
                    assert_eq!(read["content"], round.to_string());
                }
            });
        }
    });
    let state = bench.guest.lock();
    assert_eq!((state.counter(Counter::Busy), state.counter(Counter::Stale)), (0, 0));
    assert_eq!(state.done.len(), 16 * 20);
}

#[test]
fn stopping_the_hub_settles_everything_quickly() {
    let mut bench = Bench::with(guest(|frame| fate_of_calls(frame.code)), false);
    bench.boot();
    let mut clients: Vec<_> = (0..4).map(|_| bench.client()).collect();
    for client in &mut clients {
        client.send(br#"{"op":"fs.stat","path":"/","timeout_ms":600000}"#).unwrap();
        client.send(br#"{"op":"asks.wait","wait_ms":600000}"#).unwrap();
    }
    bench.until(json!({ "op": "status" }), |status| status["outstanding"].as_u64() >= Some(4));
    let begin = std::time::Instant::now();
    drop(bench.hub.take());
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert!(!bench.socket.exists());
    for client in &mut clients {
        // Whatever was still written out, the connection ends.
        until("its end", || !client.receive().is_ok_and(|line| line.is_some()));
    }
}
