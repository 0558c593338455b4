//! Every reply is lost once: the bridge sends each request again, and each change is made exactly once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use askr_wire::{FrameType, code};
use host_bridge::link::OwnedFrame;
use serde_json::{Value, json};

use crate::common::bridge::Bridge;
use crate::common::shell::{Askr, PROMPT};
use crate::{GUEST, has_the_right_date, until};

/// The numbers of the requests whose first reply is lost, by verb.
type Lost = Arc<Mutex<HashSet<(Option<[u8; 8]>, u32, u16)>>>;

/// Loses each reply once.
fn unlucky(lost: &Lost) -> impl FnMut(&OwnedFrame) -> bool + Send + 'static {
    let lost = Arc::clone(lost);
    move |frame| {
        let id = frame.session.as_ref().map(|(id, _)| id.0);
        frame.kind != FrameType::Response || !lost.lock().unwrap().insert((id, frame.seq, frame.code))
    }
}

/// How many requests of this verb were sent.
fn sent(lost: &Lost, verb: u16) -> usize {
    lost.lock().unwrap().iter().filter(|(_, _, code)| *code == verb).count()
}

fn counters<const N: usize>(bridge: &Bridge, names: [&str; N]) -> [u64; N] {
    let stats = bridge.ok(json!({ "op": "stats" }));
    names.map(|name| stats["guest"][name].as_u64().unwrap())
}

/// What a job has written when it contains `text`.
fn wait_for_output(bridge: &Bridge, job: u64, text: &str) -> String {
    let mut shown = String::new();
    until(text, || {
        let wait = json!({ "op": "proc.wait", "job": job, "stdout_cursor": shown.len() });
        shown += bridge.ok(wait)["stdout"]["content"].as_str().unwrap();
        shown.contains(text)
    });
    shown
}

fn files(askr: &mut Askr, bridge: &Bridge) {
    let mut expected = String::new();
    bridge.ok(json!({ "op": "fs.mkdir", "path": "/once" }));
    for n in 0..4 {
        let line = format!("line {n}\n");
        assert_eq!(bridge.append("/once/log", &line).unwrap()["written"], line.len());
        expected += &line;
    }
    assert_eq!(askr.run("cat /once/log"), expected.replace('\n', "\r\n"));
    // In frames of its own, one after the other to its offset; and in place.
    let long: String = (0..3000).map(|n| format!("{n:04}")).collect();
    let write = |content: &str, offset: Value| json!({ "op": "fs.write", "path": "/once/long", "content": content, "offset": offset });
    bridge.ok(json!({ "op": "fs.write", "path": "/once/long", "content": long }));
    bridge.ok(write("here", json!(4)));
    assert_eq!(askr.run("head -c 12 /once/long; wc -c /once/long"), "0000here000212000 /once/long\r\n");
    bridge.ok(json!({ "op": "fs.truncate", "path": "/once/long", "size": 8 }));
    // A second time each of these would be an error: the name is there already, or not any more.
    bridge.ok(json!({ "op": "fs.rename", "from": "/once/long", "to": "/once/short" }));
    assert_eq!(askr.run("cat /once/short; echo; ls /once"), "0000here\r\nlog\r\nshort\r\n");
    bridge.ok(json!({ "op": "fs.unlink", "path": "/once/short" }));
    bridge.ok(json!({ "op": "fs.remove", "path": "/once/log" }));
    bridge.ok(json!({ "op": "fs.rmdir", "path": "/once" }));
    assert_eq!(askr.run("ls -d /once"), "ls: cannot access '/once': No such file or directory\r\n");
}

fn programs(bridge: &Bridge) {
    let cursor = bridge.ok(json!({ "op": "ping" }))["event_cursor"].clone();
    let (job, pid) = bridge.spawn(&["cat"]);
    let page = bridge.ok(json!({ "op": "events.read", "cursor": cursor }));
    let spawned = page["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "spawn");
    assert_eq!(spawned.map(|event| event["pid"].as_u64()).collect::<Vec<_>>(), [Some(pid)]);
    for line in ["one\n", "two\n", "three\n"] {
        assert_eq!(
            bridge.ok(json!({ "op": "proc.input", "job": job, "content": line }))["accepted"],
            line.len()
        );
    }
    bridge.ok(json!({ "op": "proc.input", "job": job, "content": "four", "eof": true }));
    let ended = bridge.ok(json!({ "op": "proc.wait", "job": job, "until": "exit" }));
    assert_eq!(ended["stdout"]["content"], "one\ntwo\nthree\nfour");

    let (job, pid) = bridge.spawn(&["count"]);
    wait_for_output(bridge, job, "ready\n");
    for signals in 1..=2 {
        let kill = json!({ "op": "proc.kill", "pid": pid, "signal": "USR1" });
        assert_eq!(bridge.ok(kill)["processes"], 1);
        // A signal that came twice would be told before the program ends.
        wait_for_output(bridge, job, &format!("ready\n{}", "got\n".repeat(signals)));
    }
    assert_eq!(bridge.ok(json!({ "op": "proc.kill", "job": job }))["processes"], 1);
    let ended = bridge.ok(json!({ "op": "proc.wait", "job": job, "until": "exit" }));
    assert_eq!(ended["stdout"]["content"], "ready\ngot\ngot\n");
    assert_eq!((&ended["state"], &ended["signal"]), (&json!("signalled"), &json!("TERM")));
}

fn an_ask(askr: &mut Askr, bridge: &Bridge) {
    let settled = ["asks_answered", "answers_late", "answers_unknown"];
    let before = counters(bridge, settled);
    askr.start("ask \"may I?\"");
    let asks = bridge.ok(json!({ "op": "asks.wait", "wait_ms": 90_000 }))["asks"].clone();
    let answer = json!({ "op": "ask.answer", "ask": asks[0]["ask"], "answer": "yes" });
    assert_eq!(bridge.ok(answer)["verdict"], "accepted");
    assert_eq!(askr.finish(), "answer: yes\r\ndecided by: agent\r\n");
    let after = counters(bridge, settled);
    assert_eq!([0, 1, 2].map(|n| after[n] - before[n]), [1, 0, 0]);
}

#[test]
fn with_every_reply_lost_once_every_change_is_made_once() {
    let mut askr = GUEST.take();
    let lost = Lost::default();
    let bridge = Bridge::hearing(askr.vm(), unlucky(&lost));
    let before = counters(&bridge, ["requests", "replayed"]);
    lost.lock().unwrap().clear();
    files(&mut askr, &bridge);
    programs(&bridge);
    an_ask(&mut askr, &bridge);
    let [requests, replayed] = counters(&bridge, ["requests", "replayed"]);
    let pings = sent(&lost, code::PING);
    let all = lost.lock().unwrap().len();
    assert_eq!(requests - before[0], (all - pings) as u64, "each was taken on once");
    // Some may come again while they are still worked on, and some a third time.
    assert!(replayed - before[1] >= 30, "{} of {all} were answered from memory", replayed - before[1]);
    for verb in [
        code::WRITE,
        code::WRITE_AT,
        code::MKDIR,
        code::REMOVE,
        code::RENAME,
        code::UNLINK,
        code::RMDIR,
        code::TRUNCATE,
        code::SPAWN,
        code::KILL,
        code::INPUT,
        code::ANSWER,
    ] {
        assert!(sent(&lost, verb) > 0, "{verb:#06x} was not tried");
    }

    // Its reply is lost for good when the guest has ended; another boot is the answer. A copy of the request that came to that
    // one would be of a session that it does not know.
    let old = bridge.guest()["boot"].clone();
    let power = bridge.call(json!({ "op": "power", "action": "reboot" }));
    assert!(power.is_ok() || power == Err("guest_restarted".into()), "{power:?}");
    askr.expect(PROMPT);
    until("another boot", || bridge.guest()["boot"] != old);
    let new = bridge.guest()["boot"].clone();
    assert_eq!(bridge.append("/log", "in the new boot\n").unwrap()["written"], 16);
    assert_eq!(askr.run("cat /log"), "in the new boot\r\n");
    has_the_right_date(&bridge);
    assert_eq!(bridge.guest()["boot"], new, "it restarted once");
    assert_eq!(counters(&bridge, ["sessions"]), [1]);
}
