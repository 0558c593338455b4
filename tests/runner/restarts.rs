//! A guest that restarts under the runner.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use askr::Disk;
use host_bridge::socket;
use serde_json::{Value, json};

use super::program::{Link, compiled};
use super::support::{Output, PROMPT, Runner, SOON, askr, await_that, complaints, finish};

/// A client of the hub.
struct Client {
    replies: BufReader<UnixStream>,
    stream: UnixStream,
}

impl Client {
    fn connect(path: &Path) -> Self {
        let stream = socket::connect(path).expect("the hub's socket");
        stream.set_read_timeout(Some(SOON)).expect("timeout");
        Self { replies: BufReader::new(stream.try_clone().expect("stream")), stream }
    }

    fn send(&mut self, request: &Value) {
        self.stream.write_all(format!("{request}\n").as_bytes()).expect("request");
    }

    fn reply(&mut self) -> Value {
        let mut line = String::new();
        self.replies.read_line(&mut line).expect("reply");
        serde_json::from_str(&line).expect("JSON")
    }

    fn call(&mut self, request: &Value) -> Value {
        self.send(request);
        self.reply()
    }

    /// The id of the boot that answers now, once one does.
    fn boot(&mut self) -> String {
        let mut boot = String::new();
        await_that("an answer of the guest", || {
            let reply = self.call(&json!({ "op": "sys.info" }));
            boot = reply["ok"]["info"]["boot_id"].as_str().unwrap_or_default().to_owned();
            !boot.is_empty()
        });
        boot
    }
}

/// A runner with its hub at `socket`, at the prompt.
fn start(socket: &Path, options: &[&str]) -> (Runner, Output) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askr"));
    command.args(["--accel", "tcg", "--headless", "--agent-socket"]).arg(socket).args(options);
    let mut runner =
        Runner::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut output = runner.stdout();
    output.wait_for(PROMPT);
    (runner, output)
}

#[test]
fn a_reboot_is_a_new_boot_for_everybody() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (socket, image) = (folder.path().join("agent.sock"), folder.path().join("disk.img"));
    let (mut runner, mut output) = start(&socket, &["--disk", image.to_str().expect("UTF-8")]);
    let (mut client, mut other) = (Client::connect(&socket), Client::connect(&socket));
    let first = client.boot();
    let kept = client.call(&json!({ "op": "fs.write", "path": "/disk/kept", "content": "kept" }));
    assert_eq!(kept["ok"]["written"], 4, "{kept}");
    client.call(&json!({ "op": "fs.write", "path": "/tmp/lost", "content": "lost" }));
    // A call that does not end before the reboot.
    let job = client.call(&json!({ "op": "proc.spawn", "argv": ["sleep", "1000"] }));
    let job = job["ok"]["job"].as_u64().unwrap_or_else(|| panic!("{job}"));
    other.send(&json!({ "op": "proc.wait", "job": job, "until": "exit", "wait_ms": 600_000 }));
    await_that("the call", || {
        client.call(&json!({ "op": "status" }))["ok"]["outstanding"].as_u64().is_some_and(|count| count > 0)
    });

    output.text.clear();
    let answer = client.call(&json!({ "op": "power", "action": "reboot" }));
    assert!(answer.get("ok").is_some(), "{answer}");
    let ended = other.reply();
    assert_eq!(ended["error"]["code"], "guest_restarted", "{ended}");
    output.wait_for(PROMPT);
    let second = client.boot();
    assert_ne!(first, second);
    let kept = client.call(&json!({ "op": "fs.read", "path": "/disk/kept" }));
    assert_eq!(kept["ok"]["content"], "kept", "{kept}");
    let lost = client.call(&json!({ "op": "fs.stat", "path": "/tmp/lost" }));
    assert_eq!(lost["error"]["code"], "ENOENT", "{lost}");

    // By a person, too.
    output.text.clear();
    let mut input = runner.0.stdin.take().expect("input");
    input.write_all(b"reboot\n").expect("input");
    output.wait_for("Askr ");
    output.wait_for(PROMPT);
    await_that("the third boot", || client.boot() != second);
    client.call(&json!({ "op": "power", "action": "off" }));
    assert_eq!(runner.wait().code(), Some(0));
}

#[test]
fn a_guest_that_does_not_stay_up_ends_the_run() {
    // Instead of the shell: process 1 starts it at once.
    let restarts = compiled("restarts", "restarts", Link::Static);
    let with = format!("{}:/bin/sh", restarts.to_str().expect("UTF-8"));
    let finished = finish(askr().args(["--headless", "--with", &with]));
    assert_eq!(finished.status.code(), Some(1));
    let said = complaints(&finished);
    assert!(
        said.contains("the guest reset itself again and again, each time within 10 s of its start"),
        "{said}"
    );
    let started = String::from_utf8_lossy(&finished.stdout).matches("on COM1, the agent's line").count();
    assert!(started >= 3, "{started}");

    let finished = finish(askr().args(["--with", &with, "--run", "/bin/sh"]));
    assert_eq!(finished.status.code(), Some(125), "{}", complaints(&finished));
}

#[test]
fn a_guest_that_was_told_to_make_a_disk_does_so_once() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (socket, image) = (folder.path().join("agent.sock"), folder.path().join("disk.img"));
    let options = ["--disk", image.to_str().expect("UTF-8"), "--format-disk"];
    let (mut runner, _output) = start(&socket, &options);
    let mut client = Client::connect(&socket);
    client.boot();
    client.call(&json!({ "op": "fs.write", "path": "/disk/kept", "content": "kept" }));
    client.call(&json!({ "op": "power", "action": "reboot" }));
    assert_eq!(runner.wait().code(), Some(1));
    drop(runner);
    Disk::open(&image, false).expect("nobody has it any more");
    let (mut runner, _output) = start(&socket, &options[..2]);
    let mut client = Client::connect(&socket);
    client.boot();
    let kept = client.call(&json!({ "op": "fs.read", "path": "/disk/kept" }));
    assert_eq!(kept["ok"]["content"], "kept", "{kept}");
    client.call(&json!({ "op": "power", "action": "off" }));
    assert_eq!(runner.wait().code(), Some(0));
}
