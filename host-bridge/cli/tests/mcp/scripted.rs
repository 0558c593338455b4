//! A hub that does what a real one does too seldom: it is full, or slow at the wrong moment.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::guest::PATIENCE;

/// The boot of its guest.
const BOOT: &str = "01010101010101010101010101010101";

pub(crate) struct Scripted {
    pub(crate) socket: PathBuf,
    shared: Arc<Shared>,
    _folder: TempDir,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    /// Process 7, which is the first of job 1, asks `01010101:0`.
    pub(crate) asks: bool,
    /// Process 7 has ended.
    pub(crate) exited: bool,
    /// Its guest is in the next boot.
    pub(crate) rebooted: bool,
    /// Takes no clients.
    pub(crate) full: bool,
    /// Does not reply to answers.
    pub(crate) slow: bool,
    /// Is full as soon as it has replied to an answer.
    pub(crate) full_after_answer: bool,
    /// Is full as soon as it has started a program.
    pub(crate) full_after_spawn: bool,
    /// What it has replied to, and with `full ` before what it has turned away. An answer counts when it comes.
    pub(crate) seen: Vec<String>,
}

impl State {
    pub(crate) fn count(&self, what: &str) -> usize {
        self.seen.iter().filter(|one| *one == what).count()
    }
}

impl Scripted {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("agent.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let shared = Arc::new(Shared {
            state: Mutex::new(State { asks: true, ..State::default() }),
            ..Shared::default()
        });
        let hub = Arc::clone(&shared);
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (hub, stream) = (Arc::clone(&hub), stream.unwrap());
                thread::spawn(move || hub.serve(stream));
            }
        });
        Self { socket, shared, _folder: folder }
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.shared.state.lock().unwrap());
        self.shared.changed.notify_all();
    }

    /// Waits until `holds`.
    pub(crate) fn wait_for(&self, what: &str, holds: impl Fn(&State) -> bool) {
        self.shared.wait_for(what, holds);
    }
}

impl Shared {
    fn wait_for(&self, what: &str, holds: impl Fn(&State) -> bool) {
        let give_up = Instant::now() + PATIENCE;
        let mut state = self.state.lock().unwrap();
        while !holds(&state) {
            assert!(Instant::now() < give_up, "waited in vain for {what}: {:?}", state.seen);
            state = self.changed.wait_timeout(state, PATIENCE).unwrap().0;
        }
    }

    fn see(&self, what: String) {
        self.state.lock().unwrap().seen.push(what);
        self.changed.notify_all();
    }

    fn serve(&self, mut stream: UnixStream) {
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        for line in lines.map_while(Result::ok) {
            let request: Value = serde_json::from_str(&line).unwrap();
            let op = request["op"].as_str().unwrap();
            if self.state.lock().unwrap().full {
                let error =
                    json!({ "code": "too_many_clients", "message": "64 are connected", "hint": "wait" });
                // The client may have gone.
                let _ = writeln!(stream, "{}", json!({ "boot": BOOT, "id": null, "error": error }));
                self.see(format!("full {op}"));
                return;
            }
            let ok = self.reply(op);
            let _ = writeln!(stream, "{}", json!({ "boot": BOOT, "id": request["id"], "ok": ok }));
            if op != "ask.answer" {
                self.see(op.to_owned());
            }
        }
    }

    fn reply(&self, op: &str) -> Value {
        match op {
            "asks.list" | "asks.wait" => {
                let ask = json!({
                    "ask": "01010101:0", "code": 0, "intent": "generic", "left_ms": 300_000, "pid": 7,
                    "program": "ask", "question": "may I?",
                });
                json!({ "asks": if self.state.lock().unwrap().asks { vec![ask] } else { Vec::new() } })
            }
            "ask.answer" => {
                self.see(op.to_owned());
                self.wait_for("leave to reply", |state| !state.slow);
                let mut state = self.state.lock().unwrap();
                state.asks = false;
                state.full = state.full_after_answer;
                json!({ "verdict": "accepted" })
            }
            "status" => {
                let boot =
                    if self.state.lock().unwrap().rebooted { "02".repeat(16) } else { BOOT.to_owned() };
                json!({ "ready": true, "guest": { "boot": boot } })
            }
            "proc.spawn" => {
                let mut state = self.state.lock().unwrap();
                state.full = state.full_after_spawn;
                json!({ "job": 1, "pid": 7 })
            }
            "proc.list" => json!({ "processes": [{ "pid": 7, "job": 1 }], "truncated": false }),
            "proc.wait" => {
                self.see("proc.wait begun".to_owned());
                self.wait_for("the program's end", |state| state.exited);
                let output = json!({
                    "content": "", "encoding": "text", "ended": true, "lost": 0, "next": 0, "start": 0,
                    "total": 0, "truncated": false,
                });
                json!({
                    "job": 1, "pid": 7, "state": "exited", "exit_code": 0, "cause": "itself", "processes": 0,
                    "stdout": output, "stderr": output,
                })
            }
            _ => json!({}),
        }
    }
}
