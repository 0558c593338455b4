//! One hub, and machines that come and go: what was asked of one ends with an error that says why, and the next one
//! is found.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use askr::Machine;
use common::PATIENCE;
use common::bridge::{outcome, reply};
use common::shell::{Askr, Own};
use host_bridge::hub::{Hub, HubConfig};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A hub whose COM2 is that of whichever machine was plugged in last.
struct Desk {
    hub: Hub,
    com2: PathBuf,
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let com2 = folder.path().join("com2.sock");
        let socket = folder.path().join("agent.sock");
        let hub = Hub::start(HubConfig { com2: com2.clone(), data: None, socket, agent: false }).unwrap();
        Self { hub, com2, folder }
    }

    /// Boots a machine and gives it to the hub.
    fn plug_in(&self) -> Own {
        let mut askr = Askr::boot(&Machine::new());
        let link = self.folder.path().join("next");
        symlink(askr.vm().com2_path(), &link).unwrap();
        fs::rename(link, &self.com2).unwrap();
        askr
    }

    /// What is in `ok`, or the error's code.
    fn call(&self, request: &Value) -> Result<Value, String> {
        call(self.hub.socket(), request).1
    }

    /// A call on a thread of its own.
    fn begin(&self, request: Value) -> JoinHandle<(Value, Result<Value, String>)> {
        let socket = self.hub.socket().to_owned();
        thread::spawn(move || call(&socket, &request))
    }

    /// Waits until so many programs of this name run.
    fn wait_for_programs(&self, name: &str, count: usize) {
        let give_up = Instant::now() + PATIENCE;
        let running = |list: &Value| {
            let processes = list["processes"].as_array().unwrap().iter();
            processes.filter(|process| process["name"] == name).count()
        };
        while running(&self.call(&json!({ "op": "proc.list" })).unwrap()) != count {
            assert!(Instant::now() < give_up, "{count} times {name}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// One call: the boot that its reply comes from, and the code of the error if it fails.
fn call(socket: &Path, request: &Value) -> (Value, Result<Value, String>) {
    let reply = reply(socket, request);
    (reply["boot"].clone(), outcome(&reply))
}

#[test]
fn a_machine_that_dies_ends_its_calls_and_the_next_one_is_found() {
    let desk = Desk::new();
    assert_eq!(desk.call(&json!({ "op": "ping", "timeout_ms": 10 })), Err("not_ready".into()));
    let first = desk.plug_in();
    desk.hub.wait_ready(PATIENCE).unwrap();
    let boot = call(desk.hub.socket(), &json!({ "op": "ping" })).0;
    let run = |timeout_ms| {
        desk.begin(json!({
            "op": "proc.run", "argv": ["sleep", "1000"], "deadline_ms": 500_000, "timeout_ms": timeout_ms,
        }))
    };
    // Two that give up before there is another machine, and two that do not.
    let job = desk.call(&json!({ "op": "proc.spawn", "argv": ["sleep", "1000"] })).unwrap()["job"].clone();
    let wait = |timeout_ms| {
        desk.begin(json!({
            "op": "proc.wait", "job": job, "until": "exit", "wait_ms": 500_000, "timeout_ms": timeout_ms,
        }))
    };
    let (run_in_time, wait_in_time, run_on, wait_on) = (run(1000), wait(1000), run(300_000), wait(300_000));
    let asks = desk.begin(json!({ "op": "asks.wait", "wait_ms": 300_000 }));
    desk.wait_for_programs("sleep", 3);

    drop(first);
    assert_eq!(run_in_time.join().unwrap(), (boot.clone(), Err("outcome_unknown".into())));
    let (of, error) = wait_in_time.join().unwrap();
    assert_eq!(of, boot);
    assert!(["not_ready", "timed_out"].contains(&error.clone().unwrap_err().as_str()), "{error:?}");
    assert_eq!(desk.call(&json!({ "op": "status" })).unwrap()["ready"], false);
    let early = desk.begin(json!({ "op": "fs.read", "path": "/proc/version", "timeout_ms": 300_000 }));

    let mut second = desk.plug_in();
    let (next, read) = early.join().unwrap();
    assert!(read.unwrap()["content"].as_str().unwrap().starts_with("Askr "), "it waited for the machine");
    assert_ne!(next, boot);
    for call in [run_on, wait_on] {
        assert_eq!(call.join().unwrap().1, Err("guest_restarted".into()));
    }
    second.start("ask \"still there?\"");
    let (of, asks) = asks.join().unwrap();
    assert_eq!((of, &asks.unwrap()["asks"][0]["question"]), (next, &json!("still there?")));
}
