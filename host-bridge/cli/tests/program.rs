//! The program `askr-bridge`, as people and scripts use it.

#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "../../tests/hub/bench.rs"]
mod bench;
#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "../../tests/hub/guest/mod.rs"]
mod guest;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use askr_wire::code::DECISION_GENERIC;
use assert_cmd::Command;
use host_bridge::client::HubClient;
use host_bridge::hub::CLIENTS_MAX;
use host_bridge::link::Door;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::guest::{Guest, PATIENCE};

fn bridge(bench: &Bench, words: &[&str]) -> Command {
    let mut command = Command::cargo_bin("askr-bridge").unwrap();
    command.env("ASKR_SOCKET", &bench.socket).args(words).timeout(PATIENCE);
    command
}

fn stdout_json(bench: &Bench, words: &[&str]) -> Value {
    let output = bridge(bench, words).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn call_reads_files_byte_for_byte() {
    let bench = Bench::new();
    bridge(&bench, &["call", "fs.read", "path=/proc/version"])
        .assert()
        .success()
        .stdout("Askr 0.1.0\n")
        .stderr("");
    bench.guest.lock().files.insert(b"/tmp/x".to_vec(), Some(b"\xff\0\r\n".to_vec()));
    bridge(&bench, &["call", "fs.read", "path=/tmp/x"]).assert().success().stdout(&b"\xff\0\r\n"[..]);
    let reply = stdout_json(&bench, &["call", "--json", "fs.read", "path=/proc/version", "length=4"]);
    assert_eq!((&reply["ok"]["content"], &reply["boot"]), (&json!("Askr"), &json!("01".repeat(16))));
}

#[test]
fn names_from_the_guest_do_not_command_the_terminal() {
    let bench = Bench::new();
    bench.guest.lock().files.insert("/tmp/\u{9b}2J\u{1b}[2J".into(), Some(Vec::new()));
    for words in [&["call", "fs.list", "path=/tmp"][..], &["call", "--json", "fs.list", "path=/tmp"]] {
        let output = bridge(&bench, words).assert().success().get_output().stdout.clone();
        let text = String::from_utf8(output).unwrap();
        assert!(!text.chars().any(|symbol| symbol.is_control() && symbol != '\n'), "{text:?}");
        assert!(text.contains(r"\u009b2J\u001b[2J"), "{text}");
    }
}

#[test]
fn call_answers_an_ask() {
    let bench = Bench::new();
    let asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    let asks = stdout_json(&bench, &["call", "asks.wait"]);
    assert_eq!(asks["asks"][0]["question"], "may I?");
    let name = format!("ask={}", asks["asks"][0]["ask"].as_str().unwrap());
    let verdict = stdout_json(&bench, &["call", "ask.answer", &name, "answer=42"]);
    assert_eq!(verdict, json!({ "verdict": "accepted" }));
    assert_eq!(asked.outcome().1, b"42");
    let late = bridge(&bench, &["call", "ask.answer", &name, "answer=43"]).assert().code(1);
    assert!(String::from_utf8_lossy(&late.get_output().stderr).starts_with("askr-bridge: late: "));
}

#[test]
fn call_reports_errors_on_one_line() {
    let bench = Bench::new();
    let missing = bridge(&bench, &["call", "fs.read", "path=/nothing"]).assert().code(1).stdout("");
    let text = String::from_utf8(missing.get_output().stderr.clone()).unwrap();
    assert!(text.starts_with("askr-bridge: ENOENT: /nothing: "), "{text}");
    assert_eq!(text.lines().count(), 1);
    bridge(&bench, &["call", "fs.read", "nonsense"]).assert().code(2);
    bridge(&bench, &["call"]).assert().code(2);
    bridge(&bench, &[]).assert().code(2);
}

/// A client that the hub has taken in, as soon as it has a place for it.
fn taken_in(bench: &Bench) -> HubClient {
    loop {
        let mut client = bench.client();
        if client.request(&json!({ "op": "status" })).unwrap().get("ok").is_some() {
            return client;
        }
    }
}

#[test]
fn a_word_that_is_mistyped_is_told_with_the_nearest() {
    let bench = Bench::new();
    for (words, near) in [
        (&["call", "fs.raed", "path=/"][..], "'fs.read'"),
        (&["call", "fs.read", "pth=/proc/version"], "did you mean `path`?"),
        (&["wacth"], "'watch'"),
        (&["watch", "--jsn"], "'--json'"),
    ] {
        let wrong = bridge(&bench, words).assert().code(2).stdout("");
        let text = String::from_utf8(wrong.get_output().stderr.clone()).unwrap();
        assert!(text.contains(near), "{text}");
    }
}

#[test]
fn the_status_tells_scripts_what_to_do_next() {
    let bench = Bench::new();
    let status = |words: &[&str]| bridge(&bench, words).output().unwrap().status.code().unwrap();
    assert_eq!(status(&["call", "--json", "fs.stat", "path=/tmp"]), 0);
    assert_eq!(status(&["call", "--json", "fs.stat", "path=/nothing"]), 1);
    assert_eq!(status(&["call", "--json", "fs.stat", "path=7", "offset=1"]), 2);
    bench.guest.lock().powered = false;
    bench.guest.unplug();
    assert_eq!(status(&["call", "--json", "ping", "timeout_ms=300"]), 4);
    // Each is in once it has had a reply.
    let clients: Vec<_> = (0..CLIENTS_MAX).map(|_| taken_in(&bench)).collect();
    let away = bridge(&bench, &["call", "status"]).assert().code(3).stdout("");
    let text = String::from_utf8(away.get_output().stderr.clone()).unwrap();
    assert!(text.starts_with("askr-bridge: too_many_clients: "), "{text}");
    let away = bridge(&bench, &["json"]).write_stdin("{\"op\":\"status\"}\n").assert().code(3);
    let text = String::from_utf8(away.get_output().stdout.clone()).unwrap();
    assert!(text.contains("\"too_many_clients\""), "{text}");
    drop(clients);
}

#[test]
fn what_cannot_be_printed_is_a_failure() {
    let bench = Bench::new();
    for words in
        [&["call", "fs.read", "path=/proc/version"][..], &["call", "status"], &["call", "--json", "status"]]
    {
        let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin("askr-bridge"));
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = program.arg("--socket").arg(&bench.socket).args(words).stdout(full).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(1) && text.starts_with("askr-bridge: stdout: "),
            "{words:?}: {text}"
        );
    }
}

#[test]
fn without_a_hub_it_says_what_to_run() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("agent.sock");
    for command in ["call status", "json"] {
        let mut bridge = Command::cargo_bin("askr-bridge").unwrap();
        let output =
            bridge.arg("--socket").arg(&nowhere).args(command.split(' ')).timeout(PATIENCE).assert().code(3);
        let text = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(text.contains("no hub is running") && text.contains("cargo run"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}

#[test]
fn json_copies_lines_and_ends_with_the_last_reply() {
    let bench = Bench::new();
    let input = b"{\"id\":1,\"op\":\"asks.wait\",\"wait_ms\":200}\n\nnonsense\n{\"id\":2,\"op\":\"subscribe\"}\n{\"id\":3,\"op\":\"ping\"}";
    let output =
        bridge(&bench, &["json"]).write_stdin(&input[..]).assert().success().get_output().stdout.clone();
    let replies: Vec<Value> =
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ids: Vec<_> = replies.iter().map(|reply| reply["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["1", "2", "3", "null"]);
}

#[test]
fn a_hub_of_its_own_serves_a_guest_that_something_else_started() {
    let folder = tempfile::tempdir().unwrap();
    let (com2, socket) = (folder.path().join("com2.sock"), folder.path().join("agent.sock"));
    let port = host_bridge::socket::bind(&com2).unwrap();
    let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin("askr-bridge"));
    program.arg("hub").arg("--com2").arg(&com2).arg("--socket").arg(&socket).stdout(Stdio::piped());
    let mut hub = Ended(program.spawn().unwrap());
    let mut said = String::new();
    BufReader::new(hub.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, format!("agents connect to {}\n", socket.display()));
    Guest::new().plug(Door::Com2, port.accept().unwrap());
    let mut call = Command::cargo_bin("askr-bridge").unwrap();
    call.arg("--socket").arg(&socket).args(["call", "fs.read", "path=/proc/version"]).timeout(PATIENCE);
    call.assert().success().stdout("Askr 0.1.0\n");

    let mut second = Command::cargo_bin("askr-bridge").unwrap();
    second.arg("hub").arg("--com2").arg(&com2).arg("--socket").arg(&socket).timeout(PATIENCE);
    let refused = second.assert().code(1);
    let text = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(text.contains("already has a listener"), "{text}");
}

/// A program that does not outlive its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn help_shows_the_words_that_work() {
    let bench = Bench::new();
    let help = bridge(&bench, &["--help"]).assert().success().get_output().stdout.clone();
    let help = String::from_utf8(help).unwrap();
    assert!(help.contains("askr-bridge call fs.read path=/proc/version"), "{help}");
    assert!(help.contains("askr-bridge call asks.wait"), "{help}");
}

#[test]
fn the_hub_is_found_beside_the_program() {
    let bench = Bench::new();
    let target = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = target.path().join("debug/askr-bridge");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::create_dir(target.path().join("askr")).unwrap();
    // Not a copy: a program that another test starts meanwhile may have it open for writing, so that it is busy.
    std::fs::hard_link(assert_cmd::cargo::cargo_bin("askr-bridge"), &program).unwrap();
    std::os::unix::fs::symlink(&bench.socket, target.path().join("askr/agent.sock")).unwrap();
    let mut command = Command::new(&program);
    command.env_remove("ASKR_SOCKET").args(["call", "fs.read", "path=/proc/version"]).timeout(PATIENCE);
    command.assert().success().stdout("Askr 0.1.0\n");
}
