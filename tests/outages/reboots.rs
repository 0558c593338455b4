//! A guest that reboots under requests: they end with a typed error, the next ones reach the new boot.

use std::thread;

use serde_json::json;

use crate::common::bridge::{Bridge, call};
use crate::common::shell::PROMPT;
use crate::{GUEST, until};

#[test]
fn a_reboot_ends_what_is_under_way_with_a_typed_error() {
    let mut askr = GUEST.take();
    let bridge = Bridge::on(askr.vm());
    let socket = bridge.socket();
    let (job, _) = bridge.spawn(&["cat"]);
    let old = bridge.guest()["boot"].clone();
    let waits = [(); 3].map(|()| {
        let socket = socket.clone();
        thread::spawn(move || {
            call(&socket, json!({ "op": "proc.wait", "job": job, "until": "exit", "wait_ms": 600_000 }))
        })
    });
    until("requests under way", || bridge.ok(json!({ "op": "status" }))["outstanding"].as_u64() >= Some(3));
    askr.start("reboot");
    for wait in waits {
        assert_eq!(wait.join().unwrap(), Err("guest_restarted".into()));
    }
    let new = bridge.guest()["boot"].clone();
    assert!(new.is_string() && new != old, "{new}");
    askr.expect(PROMPT);
    let gone = bridge.call(json!({ "op": "proc.wait", "job": job, "wait_ms": 0 }));
    assert_eq!(gone, Err("ESRCH".into()), "jobs are of one boot");
    assert!(bridge.read("/proc/version").starts_with("Askr version "));
    let info = bridge.ok(json!({ "op": "sys.info" }));
    assert_eq!(info["info"]["boot_id"], new);
}
