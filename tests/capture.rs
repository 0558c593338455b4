//! The frames of a booted guest in a capture, as tshark shows them: on a line that breaks some of them, and through two doors.

mod common;
#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "data_door/line.rs"]
mod door;
#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "faulty_line/line.rs"]
mod line;
#[path = "../host-bridge/cli/tests/capture/tshark.rs"]
mod tshark;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Instant;

use askr::Machine;
use common::PATIENCE;
use common::bridge::{call, program};
use common::shell::Askr;
use host_bridge::Hub;
use host_bridge::link::{Connect, Doors, Stream};
use host_bridge::socket;
use line::{Fault, Line};
use serde_json::{Value, json};

const SEED: u64 = 7;
/// Broken frames that are waited for.
const BROKEN: u64 = 3;

/// The program, capturing into a file.
struct Capture {
    child: Child,
    file: PathBuf,
}

impl Capture {
    fn start(socket: &Path, file: PathBuf) -> Self {
        let mut bridge = Command::new(program());
        bridge.arg("--socket").arg(socket).arg("capture").arg(&file).stderr(Stdio::piped());
        let mut child = bridge.spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("capturing the frames"), "{said}");
        Self { child, file }
    }

    /// Ends it as Ctrl-C does.
    fn interrupt(&mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
        let mut said = String::new();
        self.child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
        assert!(self.child.wait().unwrap().success() && said.contains(", 0 were lost"), "{said}");
    }

    /// These fields of the packets for which the filter holds.
    fn rows(&self, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
        tshark::fields(&self.file, filter, fields)
    }

    #[track_caller]
    fn one(&self, filter: &str, fields: &[&str]) -> Vec<String> {
        let rows = self.rows(filter, fields);
        assert_eq!(rows.len(), 1, "{filter}: {rows:?}");
        rows.into_iter().next().unwrap()
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Broken frames that the hub counted, by kind.
fn broken(socket: &Path) -> Value {
    call(socket, json!({ "op": "stats" })).unwrap()["link"]["frames_broken"].clone()
}

fn total(broken: &Value) -> u64 {
    broken.as_object().unwrap().values().filter_map(Value::as_u64).sum()
}

#[test]
fn tshark_shows_what_a_guest_and_its_agents_say() {
    if tshark::is_missing() {
        return;
    }
    let mut askr = Askr::boot(&Machine::new());
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let line = Line::new(askr.vm().com2_path(), &[Fault::Corrupt], SEED);
    let hub = Hub::start_on(line.connect(), &socket, false).unwrap();
    hub.wait_ready(PATIENCE).unwrap();
    let mut capture = Capture::start(&socket, folder.path().join("x.pcapng"));
    let ok =
        |request: Value| call(&socket, request.clone()).unwrap_or_else(|code| panic!("{request}: {code}"));
    ok(json!({ "op": "fs.write", "path": "/tmp/a", "content": "text" }));
    assert_eq!(call(&socket, json!({ "op": "fs.unlink", "path": "/tmp/none" })), Err("ENOENT".into()));
    let crashed = ok(json!({ "op": "proc.run", "argv": ["crash"] }));
    ok(json!({ "op": "proc.spawn", "argv": ["ask", "may I?"] }));
    let asks = ok(json!({ "op": "asks.wait", "wait_ms": 60_000 }));
    ok(json!({ "op": "ask.answer", "ask": asks["asks"][0]["ask"], "answer": "yes" }));
    line.faulty.store(true, Ordering::Relaxed);
    let give_up = Instant::now() + PATIENCE;
    while total(&broken(&socket)) < BROKEN {
        assert!(Instant::now() < give_up, "nothing gets broken on the line");
        // An answer that never gets through is an error of this call, not of the test.
        let _ = call(&socket, json!({ "op": "fs.read", "path": "/bin/sh", "length": 16384 }));
    }
    line.faulty.store(false, Ordering::Relaxed);
    let counted = broken(&socket);
    capture.interrupt();
    tshark::check_script(&capture.file);
    check_calls(&capture, &crashed);
    // Each broken frame that the hub counted is there, and nothing else is called broken.
    for (kind, count) in counted.as_object().unwrap() {
        let filter = format!("askr.verdict == \"{kind}\" && askr.direction == \"to host\"");
        assert_eq!(capture.rows(&filter, &["frame.number"]).len() as u64, count.as_u64().unwrap(), "{kind}");
    }
    assert!(!capture.rows("askr.sent_before_in", &["frame.number"]).is_empty(), "something was sent again");
    assert_eq!(
        capture.rows("askr.expert.malformed || askr.expert.wrong_way", &["_ws.col.Info"]),
        [[""; 1]; 0]
    );
}

/// Waits until the hub is at a door.
fn until_at(socket: &Path, door: &str) {
    let give_up = Instant::now() + PATIENCE;
    while call(socket, json!({ "op": "status" })).unwrap()["door"] != door {
        assert!(Instant::now() < give_up, "the hub is not at {door}");
    }
}

#[test]
fn tshark_shows_which_door_each_frame_went_through() {
    if tshark::is_missing() {
        return;
    }
    let mut askr = Askr::boot(&Machine::new());
    let folder = tempfile::tempdir().unwrap();
    let (socket, com2) = (folder.path().join("agent.sock"), askr.vm().com2_path());
    let data = door::Line::new(askr.vm().data_path().unwrap());
    let com2: Connect = Box::new(move || Stream::try_from(socket::connect(&com2)?));
    let hub = Hub::start_on(Doors { com2, data: Some(data.connect()) }, &socket, false).unwrap();
    hub.wait_ready(PATIENCE).unwrap();
    until_at(&socket, "data");
    let mut capture = Capture::start(&socket, folder.path().join("x.pcapng"));
    // More than once: on a busy machine an answer may be so late that the other door is tried for a moment.
    let write = |path: &str| {
        for _ in 0..3 {
            call(&socket, json!({ "op": "fs.write", "path": path, "content": "text" })).unwrap();
        }
    };
    write("/tmp/first");
    data.break_off();
    until_at(&socket, "com2");
    write("/tmp/second");
    data.mend();
    until_at(&socket, "data");
    write("/tmp/third");
    capture.interrupt();
    tshark::check_script(&capture.file);
    let mut sessions = BTreeSet::new();
    for (path, door) in [("/tmp/first", "data"), ("/tmp/second", "com2"), ("/tmp/third", "data")] {
        for (kind, column) in [("REQUEST", "_ws.col.Destination"), ("RESPONSE", "_ws.col.Source")] {
            let filter = format!("askr.path == \"{path}\" && askr.type == \"{kind}\"");
            let rows = capture.rows(&filter, &["askr.door", column, "askr.session"]);
            let guest = format!("guest:{door}");
            assert!(rows.iter().any(|row| row[..2] == [door, &guest[..]]), "{path}: {rows:?}");
            sessions.extend(rows.into_iter().map(|row| row[2].clone()));
        }
    }
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let links = capture.rows("askr.expert.link", &["askr.door", "_ws.col.Info"]);
    let end = |how: &str| vec!["data".to_owned(), format!("The connection to the data door {how}")];
    assert_eq!(links[..2], [end("ended"), end("was made")]);
    assert_eq!(
        capture.rows("askr.expert.malformed || askr.expert.wrong_way", &["_ws.col.Info"]),
        [[""; 1]; 0]
    );
}

/// That what was called is there, with what belongs to it.
fn check_calls(capture: &Capture, crashed: &Value) {
    let written = capture.one(
        "askr.path == \"/tmp/a\" && askr.type == \"REQUEST\" && !askr.sent_before_in",
        &["askr.verb", "askr.data", "askr.response_in"],
    );
    assert_eq!(written[..2], ["WRITE", "74657874"]);
    let answered = capture
        .one(&format!("frame.number == {}", written[2]), &["askr.verb", "askr.status", "askr.written"]);
    assert_eq!(answered, ["WRITE", "OK", "4"]);
    let refused = capture.one(
        "askr.path == \"/tmp/none\" && askr.type == \"RESPONSE\" && !askr.sent_before_in",
        &["askr.verb", "askr.status"],
    );
    assert_eq!(refused, ["UNLINK", "ENOENT"]);
    // The fault, with what WAIT told of it.
    let fault = capture.one(
        &format!("askr.event == \"fault\" && askr.pid == {}", crashed["pid"]),
        &["askr.name", "askr.signal", "askr.vector", "askr.rip"],
    );
    let rip =
        u64::from_str_radix(crashed["fault"]["rip"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    assert_eq!(fault[..2], ["crash", "11"]);
    assert_eq!(fault[3], format!("{rip:#018x}"));
    let asked = capture.one(
        "askr.type == \"DECISION_REQ\"",
        &["frame.number", "askr.question", "askr.program", "askr.answer_in"],
    );
    assert_eq!(asked[1..3], ["may I?", "ask"]);
    let answer =
        capture.one(&format!("frame.number == {}", asked[3]), &["askr.verb", "askr.answer", "askr.ask_in"]);
    assert_eq!(answer, ["ANSWER".to_owned(), "yes".into(), asked[0].clone()]);
}
