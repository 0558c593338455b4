//! A guest that is set back to a snapshot (savevm and loadvm) with requests under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use askr::Vm;
use askr_wire::{FrameType, code};
use host_bridge::client::HubClient;
use serde_json::{Value, json};

use crate::common::PATIENCE;
use crate::common::bridge::{Bridge, call};
use crate::{GUEST, clocks, has_the_right_date, is_served, until};

/// Most time until the first answer, for a machine under heavy load. The aim is 2 s on an idle one.
const UP_AGAIN: Duration = Duration::from_secs(20);

const SECOND: Duration = Duration::from_secs(1);

/// A command of QEMU's monitor for people; it says something only if it fails.
fn monitor(vm: &Vm, line: &str) {
    let said = vm.qmp("human-monitor-command", &json!({ "command-line": line })).unwrap();
    assert_eq!(said, "", "{line}");
}

fn memory_files(bridge: &Bridge, line: &str) {
    for path in ["/rewound", "/disk/rewound"] {
        assert_eq!(bridge.append(path, line).unwrap()["written"], line.len());
    }
}

#[test]
fn a_guest_that_is_set_back_is_noticed_and_nothing_is_done_twice() {
    let mut askr = GUEST.take();
    let silent = Arc::new(AtomicBool::new(false));
    let hears = Arc::clone(&silent);
    // While it is silent, nobody hears what came of writing.
    let bridge = Bridge::hearing(askr.vm(), move |frame| {
        frame.kind != FrameType::Response || frame.code != code::WRITE || !hears.load(Ordering::SeqCst)
    });
    let mut events = HubClient::connect(&bridge.socket()).unwrap();
    events.set_patience(Some(PATIENCE)).unwrap();
    let (job, _) = bridge.spawn(&["cat"]);
    memory_files(&bridge, "before\n");
    askr.run("sync");
    bridge.ok(json!({ "op": "ping" }));
    let at_snapshot = clocks(&bridge).0;
    monitor(askr.vm(), "savevm one");

    // What is done from here on will not have been done.
    memory_files(&bridge, "after\n");
    for _ in 0..4 {
        bridge.ok(json!({ "op": "proc.run", "argv": ["true"] }));
        bridge.ok(json!({ "op": "ping" }));
    }
    askr.run("sleep 2");
    let (later, before) = (clocks(&bridge).0, Instant::now());
    assert!(later > at_snapshot + Duration::from_secs(2));
    let begun = bridge.guest();
    silent.store(true, Ordering::SeqCst);
    let begin = |request: Value| {
        let socket = bridge.socket();
        thread::spawn(move || call(&socket, request))
    };
    let append =
        begin(json!({ "op": "fs.write", "path": "/rewound", "content": "unknown\n", "mode": "append" }));
    let wait = begin(json!({ "op": "proc.wait", "job": job, "until": "exit", "wait_ms": 600_000 }));
    until("a line that was written", || askr.run("cat /rewound") == "before\r\nafter\r\nunknown\r\n");
    until("requests under way", || bridge.ok(json!({ "op": "status" }))["outstanding"] != 0);

    monitor(askr.vm(), "loadvm one");
    let loaded = Instant::now();
    assert_eq!(append.join().unwrap(), Err("outcome_unknown".into()));
    eprintln!("the guest's return to the past was noticed after {:?}", loaded.elapsed());
    assert!(loaded.elapsed() < UP_AGAIN);
    silent.store(false, Ordering::SeqCst);
    let guest = bridge.guest();
    assert_eq!(guest["boot"], begun["boot"]);
    assert_ne!(guest["session"], begun["session"], "its memory of the session is not what the bridge knows");
    // QEMU never sets back the time-stamp counter: the guest's clock goes on as if nothing had happened.
    let now = clocks(&bridge).0;
    assert!(
        now >= at_snapshot && now <= later + before.elapsed() + SECOND,
        "{at_snapshot:?} {later:?} {now:?}"
    );
    has_the_right_date(&bridge);

    // Of the unknown line there is what was done before the snapshot was loaded, that is nothing, or one more try.
    let log = bridge.read("/rewound");
    assert!(["before\n", "before\nunknown\n"].contains(&log.as_str()), "{log:?}");
    assert_eq!(bridge.read("/disk/rewound"), "before\n");
    memory_files(&bridge, "again\n");
    assert_eq!(bridge.read("/rewound"), log + "again\n");
    assert_eq!(bridge.read("/disk/rewound"), "before\nagain\n");
    askr.settle();
    is_served(&mut askr);

    // What changes nothing goes on, and what happens now is told, although its number was told before.
    assert!(!wait.is_finished());
    let subscribe = json!({ "op": "subscribe", "asks": false, "events": true });
    assert!(events.request(&subscribe).unwrap()["ok"].is_object());
    let (_, pid) = bridge.spawn(&["true"]);
    let mut told = || serde_json::from_str::<Value>(&events.receive().unwrap().unwrap()).unwrap();
    while told()["event"]["pid"] != pid {}
    bridge.ok(json!({ "op": "proc.kill", "job": job }));
    assert_eq!(wait.join().unwrap().unwrap()["signal"], "TERM");
    monitor(askr.vm(), "delvm one");
}
