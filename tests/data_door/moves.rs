//! The hub goes to the data door, leaves it when it does not work, and comes back, and nobody's request notices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use host_bridge::link::Doors;
use serde_json::{Value, json};

use crate::common::bridge::Bridge;
use crate::common::shell::Askr;
use crate::line::Line;
use crate::{GUEST, com2, until, until_at};

/// A hub with both doors, at the data door, which leads through this line.
fn hub(askr: &mut Askr) -> (Bridge, Line) {
    let vm = askr.vm();
    let line = Line::new(vm.data_path().unwrap());
    let bridge = Bridge::through(Doors { com2: com2(vm), data: Some(line.connect()) });
    until_at(&bridge, "data");
    (bridge, line)
}

fn counter(bridge: &Bridge, name: &str) -> u64 {
    bridge.ok(json!({ "op": "stats" }))["guest"][name].as_u64().unwrap()
}

fn boot_and_session(bridge: &Bridge) -> [Value; 2] {
    let guest = bridge.guest();
    ["boot", "session"].map(|name| guest[name].clone())
}

#[test]
fn the_session_goes_from_door_to_door_and_stays_the_same() {
    let mut askr = GUEST.take();
    let (bridge, line) = hub(&mut askr);
    let session = boot_and_session(&bridge);
    bridge.append("/tmp/moves", "1").unwrap();
    line.break_off();
    bridge.append("/tmp/moves", "2").unwrap();
    until_at(&bridge, "com2");
    bridge.append("/tmp/moves", "3").unwrap();
    line.mend();
    until_at(&bridge, "data");
    bridge.append("/tmp/moves", "4").unwrap();
    assert_eq!(bridge.read("/tmp/moves"), "1234");
    assert_eq!(boot_and_session(&bridge), session);
}

#[test]
fn a_door_that_is_silent_is_left_and_used_again_when_it_speaks() {
    let mut askr = GUEST.take();
    let (bridge, line) = hub(&mut askr);
    line.hold();
    // What is sent into it is not lost for good: it is sent again through the other door.
    assert_eq!(bridge.append("/tmp/silent", "once").unwrap()["written"], 4);
    until_at(&bridge, "com2");
    line.mend();
    until_at(&bridge, "data");
    assert_eq!(bridge.read("/tmp/silent"), "once");
}

/// Ends the line's connections again and again until told to stop.
/// Ends the cutting, also when what happens meanwhile fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn keep_cutting(line: &Line, bridge: &Bridge, stop: &AtomicBool) -> usize {
    let mut cuts = 0;
    while !stop.load(Ordering::SeqCst) {
        // Not before it is used again, or it would never be.
        let is_used = bridge.ok(json!({ "op": "status" }))["door"] == "data";
        if is_used {
            line.cut();
            cuts += 1;
        }
        thread::sleep(Duration::from_millis(20));
    }
    cuts
}

#[test]
fn a_transfer_over_a_door_that_is_cut_again_and_again_loses_and_doubles_nothing() {
    const SIZE: usize = 4 << 20;
    let mut askr = GUEST.take();
    let (bridge, line) = hub(&mut askr);
    let mut rng = fastrand::Rng::with_seed(0xd00a);
    let content: String = (0..SIZE).map(|_| rng.alphanumeric()).collect();
    let mut log = String::new();
    let stop = AtomicBool::new(false);
    let cuts = thread::scope(|scope| {
        let cutting = scope.spawn(|| keep_cutting(&line, &bridge, &stop));
        let ends = Ends(&stop);
        let sender = scope.spawn(|| {
            // One line to the hub holds less than 4 MiB.
            for (offset, half) in [(0, &content[..SIZE / 2]), (SIZE / 2, &content[SIZE / 2..])] {
                let write =
                    json!({ "op": "fs.write", "path": "/tmp/large", "content": half, "offset": offset });
                assert_eq!(bridge.ok(write)["written"], half.len());
            }
            let back = bridge.read("/tmp/large");
            assert!(back == content, "other bytes came back");
        });
        // Appending is not the same when it is done twice.
        while !sender.is_finished() {
            let entry = format!("{}\n", log.len());
            assert_eq!(bridge.append("/tmp/log", &entry).unwrap()["written"], entry.len());
            log += &entry;
        }
        sender.join().unwrap();
        drop(ends);
        cutting.join().unwrap()
    });
    assert!(cuts >= 3, "{cuts} cuts");
    assert_eq!(bridge.read("/tmp/log"), log);
    assert!(counter(&bridge, "hellos_repeated") > 0 && counter(&bridge, "replayed") > 0);
    askr.run("rm /tmp/large /tmp/log");
}

/// An ask and an event that were on their way into a door that dies are noticed within a ping.
#[test]
fn asks_and_events_get_through_when_their_door_dies() {
    let mut askr = GUEST.take();
    let (bridge, line) = hub(&mut askr);
    let cursor = bridge.ok(json!({ "op": "ping" }))["event_cursor"].as_u64().unwrap();
    line.hold();
    askr.start("ask -t 60 'still there?'");
    until("the ask", || bridge.ok(json!({ "op": "status" }))["pending_asks"] == 1);
    line.break_off();
    let asks = bridge.ok(json!({ "op": "asks.list" }));
    let ask = &asks["asks"][0];
    assert_eq!(ask["question"], "still there?");
    let answer = json!({ "op": "ask.answer", "ask": ask["ask"], "answer": "yes" });
    assert_eq!(bridge.ok(answer)["verdict"], "accepted");
    assert!(askr.finish().starts_with("answer: yes"));
    let page = bridge.ok(json!({ "op": "events.read", "cursor": cursor }));
    assert!(page["events"].as_array().unwrap().iter().any(|event| event["kind"] == "exit"));
}
