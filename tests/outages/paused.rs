//! QEMU is stopped and goes on, as a laptop that sleeps: the guest loses that time and nothing else.

use std::thread;
use std::time::{Duration, Instant};

use askr::Machine;
use serde_json::json;

use crate::common::bridge::{Bridge, call};
use crate::common::shell::Askr;
use crate::{SLACK, clocks, has_the_right_date, is_served, until};

/// Longer than the lease (10 s) and than the silence after which the bridge says HELLO again (the same).
const PAUSE: Duration = Duration::from_secs(12);
const LONG_PAUSE: Duration = Duration::from_secs(40);
/// Most time until the first answer, for a machine under heavy load. The aim is 2 s on an idle one.
const UP_AGAIN: Duration = Duration::from_secs(20);

#[test]
fn a_guest_that_stood_still_goes_on_in_its_session() {
    stands_still(PAUSE);
}

#[test]
#[ignore = "takes a minute"]
fn a_guest_that_stood_still_for_long_goes_on_in_its_session() {
    stands_still(LONG_PAUSE);
}

fn stands_still(pause: Duration) {
    let mut askr = Askr::boot(&Machine::new());
    let bridge = Bridge::on(askr.vm());
    let socket = bridge.socket();
    let (job, _) = bridge.spawn(&["cat"]);
    let (session, memory) = (bridge.guest()["session"].clone(), askr.memory());
    let wait = thread::spawn({
        let socket = socket.clone();
        move || call(&socket, json!({ "op": "proc.wait", "job": job, "until": "exit", "wait_ms": 600_000 }))
    });
    until("a request under way", || bridge.ok(json!({ "op": "status" }))["outstanding"] != 0);
    let ((uptime, _), before) = (clocks(&bridge), Instant::now());

    askr.vm().pause().unwrap();
    let stopped = Instant::now();
    // Made while nobody answers, with time enough.
    let append = thread::spawn({
        let socket = socket.clone();
        move || {
            let write = json!({ "op": "fs.write", "path": "/paused", "content": "once\n", "mode": "append" });
            call(&socket, write)
        }
    });
    let short = json!({ "op": "fs.stat", "path": "/", "timeout_ms": 500 });
    assert_eq!(bridge.call(short), Err("timed_out".into()));
    thread::sleep(pause.saturating_sub(stopped.elapsed()));
    askr.vm().resume().unwrap();
    let resumed = Instant::now();
    bridge.ok(json!({ "op": "ping" }));
    eprintln!("the guest answered {:?} after it went on", resumed.elapsed());
    assert!(resumed.elapsed() < UP_AGAIN, "{:?}", resumed.elapsed());

    // The time that it stood still is not the guest's; the date is everybody's.
    let (uptime_now, _) = clocks(&bridge);
    let (ran, stood) = (before.elapsed(), resumed - stopped);
    assert!(
        uptime_now > uptime && uptime_now - uptime <= ran - stood + Duration::from_secs(1),
        "{uptime:?} {uptime_now:?}"
    );
    has_the_right_date(&bridge);
    is_served(&mut askr);
    assert_eq!(append.join().unwrap().unwrap()["written"], 5);
    assert_eq!(askr.run("cat /paused; rm /paused"), "once\r\n");
    assert_eq!(bridge.guest()["session"], session, "it is the same session");
    assert!(!wait.is_finished());
    assert_eq!(bridge.ok(json!({ "op": "proc.kill", "job": job }))["processes"], 1);
    assert_eq!(wait.join().unwrap().unwrap()["signal"], "TERM");
    askr.expect_memory(memory, SLACK);
}
