//! `askr-bridge hub` with as many clients as it takes: nothing is mixed up, nothing is left behind.

#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "../../tests/hub/bench.rs"]
mod bench;
#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "../../tests/hub/guest/mod.rs"]
mod guest;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use host_bridge::client::HubClient;
use host_bridge::hub::CLIENTS_MAX;
use host_bridge::link::Door;
use host_bridge::socket;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{ask, until};
use crate::guest::{Guest, PATIENCE};

/// Clients that behave; two places are for those that do not.
const CLIENTS: usize = CLIENTS_MAX - 2;
/// Requests of each, once before the hub's memory is taken for what it needs and once after that.
const REQUESTS: usize = 162;
/// Requests of a client that are on their way at the same time.
const BURST: usize = 9;
/// Pause between two looks at the hub.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// What the hub's memory may grow by, in KiB.
const GROWTH_MAX: u64 = 2 * 1024;

/// A hub in a process of its own, on a guest in this one.
struct Program {
    child: Child,
    socket: PathBuf,
    guest: Guest,
    _folder: TempDir,
}

impl Program {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (com2, hub) = (folder.path().join("com2.sock"), folder.path().join("agent.sock"));
        let (listener, guest) = (socket::bind(&com2).unwrap(), Guest::new());
        let theirs = guest.clone();
        // Ends with the process of the test: there is one guest.
        thread::spawn(move || {
            while let Ok(port) = listener.accept() {
                theirs.plug(Door::Com2, port);
            }
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
        command.args(["hub", "--no-agent", "--com2"]).arg(&com2).arg("--socket").arg(&hub);
        // With an arena for each thread the C library's allocator grows by itself for long.
        command.env("MALLOC_ARENA_MAX", "1");
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        let program = Self { child, socket: hub, guest, _folder: folder };
        until("the hub", || HubClient::connect(&program.socket).is_ok());
        assert!(ask(&mut program.client(), json!({ "op": "ping" })).is_ok());
        program
    }

    fn client(&self) -> HubClient {
        let client = HubClient::connect(&self.socket).unwrap();
        client.set_patience(Some(PATIENCE)).unwrap();
        client
    }

    /// A number of `/proc/PID/status`: threads, or KiB of memory.
    fn number(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Waits until all clients but the one that asks are gone; threads and open files of the hub then, once they are
    /// no more than `wanted`.
    fn holds(&self, wanted: Option<(u64, usize)>) -> (u64, usize) {
        let (mut client, mut held) = (self.client(), (0, 0));
        until("the clients' end", || {
            thread::sleep(LOOK_AGAIN);
            let is_alone = ask(&mut client, json!({ "op": "status" })).unwrap()["clients"] == 1;
            held = (self.number("Threads"), self.open_files());
            is_alone && wanted.is_none_or(|wanted| held.0 <= wanted.0 && held.1 <= wanted.1)
        });
        held
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a reply is the right one.
type Check = Box<dyn Fn(&Value) -> bool>;

/// What a client asks in a round, and what it must hear: each in words that only it uses.
fn exchange(client: usize, round: usize) -> (Value, Check) {
    let (path, id) = (format!("/tmp/{client}"), format!("{client}.{round}"));
    let content = format!("{client} {}", round / 6).repeat(1 + client % 7 * 200);
    let absent = format!("/none/{id}");
    match round % 6 {
        0 => {
            let len = content.len();
            let write = json!({ "id": id, "op": "fs.write", "path": path, "content": content });
            (write, Box::new(move |reply| reply["ok"]["written"] == len))
        }
        1 => {
            let read = json!({ "id": id, "op": "fs.read", "path": path });
            (read, Box::new(move |reply| reply["ok"]["content"] == content))
        }
        2 => {
            let stat = json!({ "id": id, "op": "fs.stat", "path": path });
            (stat, Box::new(move |reply| reply["ok"]["size"] == content.len()))
        }
        3 => {
            let stat = json!({ "id": id, "op": "fs.stat", "path": absent });
            let is_mine = move |error: &Value| {
                error["code"] == "ENOENT"
                    && error["message"].as_str().is_some_and(|text| text.starts_with(&format!("{absent}:")))
            };
            (stat, Box::new(move |reply| is_mine(&reply["error"])))
        }
        4 => {
            let ping = json!({ "id": id, "op": "ping" });
            (ping, Box::new(|reply| reply["ok"]["round_trip_us"].is_u64()))
        }
        _ => {
            let list = json!({ "id": id, "op": "asks.list" });
            (list, Box::new(|reply| reply["ok"]["asks"] == json!([])))
        }
    }
}

/// The requests of one client, some at a time.
fn work(mut client: HubClient, number: usize) {
    for first in (0..REQUESTS).step_by(BURST) {
        let rounds: Vec<_> = (first..first + BURST).map(|round| exchange(number, round)).collect();
        for (request, _) in &rounds {
            client.send(request.to_string().as_bytes()).unwrap();
        }
        for (request, holds) in &rounds {
            let reply = bench::line(&mut client);
            assert_eq!(reply["id"], request["id"], "replies come in order");
            assert_eq!(reply["boot"], "01".repeat(16));
            assert!(holds(&reply), "{request} was answered {reply}");
        }
    }
}

/// One client that asks for much and reads nothing, and one after another that vanish in the middle of a line.
fn misbehave(program: &Program, over: &AtomicBool) {
    const DEMAND: &[u8] = br#"{"op":"fs.read","path":"/tmp/big"}"#;
    const LAST_WORDS: &[u8] = b"{\"op\":\"events.read\",\"cursor\":0,\"wait_ms\":600000}\n{\"op\":\"fs.wri";
    let mut deaf = program.client();
    while !over.load(Ordering::Relaxed) {
        // Fails once the hub has had enough of it.
        if deaf.send(DEMAND).is_err() {
            deaf = program.client();
        }
        // Fails when the ones before still have their place: then it was told so and is gone, too.
        let _ = program.client().send(LAST_WORDS);
    }
}

/// All of them at once; those that work have their places first.
fn everybody(program: &Program) {
    let (over, mut clients) = (AtomicBool::new(false), Vec::new());
    for _ in 0..CLIENTS {
        let mut client = program.client();
        assert!(ask(&mut client, json!({ "op": "status" })).is_ok());
        clients.push(client);
    }
    thread::scope(|scope| {
        let bad = scope.spawn(|| misbehave(program, &over));
        let workers = clients.into_iter().enumerate();
        let good: Vec<_> =
            workers.map(|(number, client)| scope.spawn(move || work(client, number))).collect();
        let ends: Vec<_> = good.into_iter().map(thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        bad.join().unwrap();
        assert!(ends.iter().all(Result::is_ok));
    });
}

#[test]
fn ten_thousand_requests_of_64_clients_are_not_mixed_up_and_leave_nothing() {
    const { assert!(CLIENTS * REQUESTS > 10_000 && REQUESTS.is_multiple_of(BURST)) };
    let program = Program::start();
    program.guest.lock().files.insert(b"/tmp/big".to_vec(), Some(vec![b'x'; 64 * 1024]));
    let alone = program.holds(None);
    everybody(&program);
    program.holds(Some(alone));
    let memory = program.number("VmRSS");
    everybody(&program);
    program.holds(Some(alone));
    let grown = program.number("VmRSS").saturating_sub(memory);
    assert!(grown <= GROWTH_MAX, "{grown} KiB more than {memory}");
    println!("{} requests, {memory} KiB of memory, {grown} KiB more in the end", CLIENTS * REQUESTS);
}
