//! From the host's side: the hub on a booted guest, and the runner that starts both.

mod common;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use askr::Machine;
use common::PATIENCE;
use common::bridge::{Bridge, hub_on, outcome, reply};
use common::peer::counters;
use common::program::{Link, compiled};
use common::shell::{Askr, PROMPT};
use host_bridge::hub::{Hub, HubConfig};
use serde_json::{Value, json};
use tempfile::TempDir;

/// One call on a connection of its own; the error's code if it fails.
fn call(socket: &Path, request: &Value) -> Result<Value, String> {
    outcome(&reply(socket, request))
}

fn version_of(socket: &Path) -> String {
    let timeout = u64::try_from(PATIENCE.as_millis()).unwrap();
    let read =
        call(socket, &json!({ "op": "fs.read", "path": "/proc/version", "timeout_ms": timeout })).unwrap();
    read["content"].as_str().unwrap().to_owned()
}

fn next_ask(socket: &Path) -> Value {
    let wait = call(socket, &json!({ "op": "asks.wait", "wait_ms": 90_000 })).unwrap();
    assert_eq!(wait["asks"].as_array().map(Vec::len), Some(1), "{wait}");
    wait["asks"][0].clone()
}

fn is_version(text: &str) -> bool {
    text == format!("Askr version {} (#1 askr-kernel)\n", env!("CARGO_PKG_VERSION"))
}

#[test]
fn the_built_in_agent_costs_the_kernel_no_time() {
    let mut askr = Askr::boot(&Machine::new());
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let _hub = hub_on(askr.vm(), &socket, true);
    askr.run("echo 'echo as commands' > /tmp/file; chmod +x /tmp/file");
    for _ in 0..3 {
        assert_eq!(askr.run("/tmp/file"), "as commands\r\n");
    }
    let counters = counters(&askr.run("cat /proc/bus"));
    assert_eq!(
        (counters["asks_refused"], counters["asks_timed_out"]),
        (3, 0),
        "what runs it, it does not know"
    );
}

#[test]
fn a_hub_serves_a_booted_guest() {
    let mut askr = Askr::boot(&Machine::new());
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let _hub = hub_on(askr.vm(), &socket, false);
    assert!(is_version(&version_of(&socket)));

    // Files of several frames, both ways.
    let content: String = (0..4000).map(|n| format!("line {n}\n")).collect();
    let write = json!({ "op": "fs.write", "path": "/tmp/long", "content": content });
    assert_eq!(call(&socket, &write).unwrap()["written"], content.len());
    let read = call(&socket, &json!({ "op": "fs.read", "path": "/tmp/long" })).unwrap();
    assert_eq!((read["content"].as_str(), &read["truncated"]), (Some(content.as_str()), &json!(false)));
    assert_eq!(askr.run("cat /tmp/long"), content.replace('\n', "\r\n"));
    let list = call(&socket, &json!({ "op": "fs.list", "path": "/bin" })).unwrap();
    assert!(list["entries"].as_array().unwrap().iter().any(|entry| entry["name"] == "sh"), "{list}");
    let processes = call(&socket, &json!({ "op": "proc.list" })).unwrap();
    assert_eq!(processes["processes"][0]["name"], "init");
    let guarded = json!({ "op": "fs.write", "path": "/bin/../bin/x", "content": "x" });
    assert_eq!(call(&socket, &guarded), Err("EPERM".into()));
    assert_eq!(call(&socket, &json!({ "op": "fs.stat", "path": "/nothing" })), Err("ENOENT".into()));

    // A question, and its answer.
    askr.start("ask \"may I?\"");
    let ask = next_ask(&socket);
    assert_eq!(
        (&ask["question"], &ask["program"], &ask["intent"]),
        (&json!("may I?"), &json!("ask"), &json!("generic"))
    );
    // The person at the console knows it by the same number.
    let shown = call(&socket, &json!({ "op": "fs.read", "path": "/proc/asks" })).unwrap();
    let number = shown["content"].as_str().unwrap().split(' ').next().unwrap();
    assert_eq!(ask["ask"].as_str().unwrap().split_once(':').unwrap().1, number, "{shown}");
    let answer = json!({ "op": "ask.answer", "ask": ask["ask"], "answer": "yes" });
    assert_eq!(call(&socket, &answer), Ok(json!({ "verdict": "accepted" })));
    assert_eq!(askr.finish(), "answer: yes\r\ndecided by: agent\r\n");
    assert_eq!(call(&socket, &answer), Err("late".into()));
    askr.start("ask again");
    let refuse = json!({ "op": "ask.answer", "ask": next_ask(&socket)["ask"], "refuse": true });
    assert!(call(&socket, &refuse).is_ok());
    assert_eq!(askr.finish(), "ask: the agent refused (EACCES)\r\n");

    // A guest that ends is noticed.
    askr.power_off();
    let ping = json!({ "op": "ping", "timeout_ms": 1000 });
    assert!(call(&socket, &ping).is_err());
}

/// `cargo run -- --headless …` with its streams.
struct Runner {
    child: Child,
    keyboard: ChildStdin,
    output: Output,
    errors: Output,
}

/// A stream that a thread reads.
struct Output {
    pieces: Receiver<Vec<u8>>,
    text: String,
    seen: usize,
}

impl Output {
    fn of(mut stream: impl Read + Send + 'static) -> Self {
        let (sender, pieces) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { pieces, text: String::new(), seen: 0 }
    }

    /// Waits for `part` after what was awaited before, and returns what came before it.
    fn wait_for(&mut self, part: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.text[self.seen..].find(part) {
                let before = self.text[self.seen..self.seen + at].to_owned();
                self.seen += at + part.len();
                return before;
            }
            match self.pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.text.push_str(&String::from_utf8_lossy(&piece)),
                Err(error) => panic!("no {part:?}: {error}; so far:\n{}", self.text),
            }
        }
    }
}

impl Runner {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_askr"))
            .args(["--headless", "--accel", "tcg"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let keyboard = child.stdin.take().unwrap();
        let output = Output::of(child.stdout.take().unwrap());
        let errors = Output::of(child.stderr.take().unwrap());
        let mut runner = Self { child, keyboard, output, errors };
        runner.output.wait_for(PROMPT);
        runner
    }

    /// With a hub at this socket.
    fn with_agent(folder: &TempDir, arguments: &[&str]) -> (Self, PathBuf) {
        let socket = folder.path().join("agent.sock");
        let agent = ["--agent-socket", socket.to_str().unwrap()];
        (Self::start(&[&agent, arguments].concat()), socket)
    }

    fn run(&mut self, line: &str) -> String {
        self.start_line(line);
        self.output.wait_for(PROMPT)
    }

    fn start_line(&mut self, line: &str) {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.output.wait_for(&format!("{line}\r\n"));
    }

    fn power_off(mut self) {
        self.keyboard.write_all(b"poweroff\n").unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // Fails only if it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_runner_brings_guest_and_hub_together() {
    let folder = tempfile::tempdir().unwrap();
    let own = compiled("greet", "mine", Link::StaticPie);
    let with = format!("{}:/opt/own", own.display());
    let (mut runner, socket) =
        Runner::with_agent(&folder, &["--with", own.to_str().unwrap(), "--with", &with]);
    assert!(is_version(&version_of(&socket)));
    // A developer's own program.
    for name in ["mine", "/opt/own"] {
        assert_eq!(runner.run(&format!("{name} last")), "loaded well, argc 2, last last\r\n");
    }
    // A question for whoever waits.
    runner.start_line("ask \"may I?\"");
    let ask = next_ask(&socket);
    assert_eq!(ask["question"], "may I?");
    assert!(call(&socket, &json!({ "op": "ask.answer", "ask": ask["ask"], "answer": "yes" })).is_ok());
    assert_eq!(runner.output.wait_for(PROMPT), "answer: yes\r\ndecided by: agent\r\n");
    // With nobody there, the built-in agent answers a person and tells how to do it better.
    let said = runner.run("ai sing a song");
    assert!(said.contains("sing a song") && said.contains("asks.wait"), "{said}");
    assert!(said.ends_with("(decided by: agent)\r\n"), "{said}");
    runner.power_off();
    assert!(!socket.exists(), "the socket is left behind");
}

#[test]
fn the_runners_hub_is_at_the_data_door_unless_the_machine_has_none() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, door) in [(&[][..], "data"), (&["--no-data-door"][..], "com2")] {
        let (runner, socket) = Runner::with_agent(&folder, arguments);
        assert!(is_version(&version_of(&socket)));
        let until = Instant::now() + PATIENCE;
        while call(&socket, &json!({ "op": "status" })).unwrap()["door"] != door {
            assert!(Instant::now() < until, "the hub is not at {door}");
            thread::sleep(Duration::from_millis(10));
        }
        runner.power_off();
    }
}

#[test]
fn a_runner_without_an_agent_has_none() {
    let mut runner = Runner::start(&["--no-agent"]);
    runner.errors.wait_for("askr: COM2 is at ");
    let shown = runner.errors.wait_for(", for one client at a time");
    let com2 = PathBuf::from(shown.trim());
    assert_eq!(
        runner.run("ask \"may I?\""),
        "ask: no agent is attached, or too many questions wait (EAGAIN)\r\n"
    );
    // COM2 is free for whoever speaks the protocol.
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let hub = Hub::start(HubConfig { com2, data: None, socket: socket.clone(), agent: false }).unwrap();
    assert!(is_version(&version_of(&socket)));
    drop(hub);
    runner.power_off();
}

#[test]
fn two_runs_of_one_checkout_have_a_socket_each() {
    let announced = |runner: &mut Runner| {
        runner.errors.wait_for("askr: agents connect at ");
        let shown = runner.errors.wait_for("; try in another terminal");
        let here = std::env::current_dir().unwrap();
        here.join(shown)
    };
    let (mut first, mut second) = (Runner::start(&[]), Runner::start(&[]));
    let sockets = [announced(&mut first), announced(&mut second)];
    assert_ne!(sockets[0], sockets[1]);
    let boots = sockets.map(|socket| {
        assert!(is_version(&version_of(&socket)));
        call(&socket, &json!({ "op": "status" })).unwrap()["guest"]["boot"].clone()
    });
    assert_ne!(boots[0], boots[1]);
    first.power_off();
    second.power_off();
}

#[test]
fn what_is_missing_when_a_program_starts_is_named() {
    let mut askr = Askr::boot(&Machine::new());
    let bridge = Bridge::on(askr.vm());
    for (cwd, names) in
        [("/nope", "/nope: "), ("/bin/sh", "/bin/sh: "), ("tmp", "tmp: "), ("/tmp", "/bin/nothing: ")]
    {
        for op in ["proc.run", "proc.spawn"] {
            let program = if cwd == "/tmp" { "nothing" } else { "echo" };
            let reply = reply(&bridge.socket(), &json!({ "op": op, "argv": [program], "cwd": cwd }));
            let message = reply["error"]["message"].as_str().unwrap();
            assert!(message.starts_with(names), "{op} in {cwd}: {message}");
        }
    }
}
