//! `askr-bridge doctor`: each thing that may be wrong is found, told with what mends it, and soon.

#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "../../tests/hub/bench.rs"]
mod bench;
#[allow(dead_code, reason = "this file uses a part of it")]
#[path = "../../tests/hub/guest/mod.rs"]
mod guest;

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use askr_wire::code::DECISION_GENERIC;
use host_bridge::hub::CLIENTS_MAX;
use host_bridge::link::Door;
use host_bridge::socket;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Bench, ask, until};
use crate::guest::{Guest, PATIENCE};

/// Programs that are as new as they should be; what this machine has does not matter.
const TOOLS: [(&str, &str); 5] = [
    ("qemu-system-x86_64", "echo QEMU emulator version 7.2.22"),
    ("cc", ""),
    ("setpriv", ""),
    ("musl-gcc", ""),
    ("rustc", "echo rustc 1.96.0"),
];

/// What the doctor said, in both forms.
struct Said {
    text: String,
    status: i32,
}

impl Said {
    /// The line of the check, and what stands under it.
    #[track_caller]
    fn check(&self, name: &str, outcome: &str) -> (String, String) {
        let mut lines = self.text.lines();
        let head = format!("{outcome:4}  {name:9}  ");
        let found = lines.by_ref().find(|line| line.starts_with(&head));
        let found = found.unwrap_or_else(|| panic!("no {head:?} in\n{}", self.text));
        let mend = lines.next().unwrap_or_default().strip_prefix("                 -> ").unwrap_or_default();
        (found[head.len()..].to_owned(), mend.to_owned())
    }
}

/// A folder for programs and sockets.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        TOOLS.iter().for_each(|(name, body)| desk.program(name, body));
        desk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn program(&self, name: &str, body: &str) {
        let path = self.path().join(name);
        // By another process: what another test starts meanwhile would inherit the file from this one, open for writing,
        // and as long as that lasts a program cannot be started (ETXTBSY).
        let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 755 "$1""#;
        let wrote = Command::new("sh").args(["-c", write, "sh"]).arg(&path).arg(body).status().unwrap();
        assert!(wrote.success());
    }

    fn without(&self, name: &str) {
        fs::remove_file(self.path().join(name)).unwrap();
    }

    fn command(&self, socket: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
        command.env("PATH", self.path()).arg("--socket").arg(socket).arg("doctor").stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn doctor(&self, socket: &Path) -> Said {
        let output = self.command(socket).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.chars().any(|symbol| symbol.is_control() && symbol != '\n'), "{text:?}");
        Said { text, status: output.status.code().unwrap() }
    }
}

#[test]
fn when_all_is_well_it_says_so() {
    let (desk, bench) = (Desk::new(), Bench::with(Guest::new(), true));
    bench.boot();
    let said = desk.doctor(&bench.socket);
    assert_eq!(said.status, 0, "{}", said.text);
    let process = format!("process {}", std::process::id());
    for (name, part) in [
        ("qemu", "7.2.22"),
        ("hub", &process[..]),
        ("hub", "(--socket)"),
        ("hub", "1 of 64 clients"),
        ("versions", env!("CARGO_PKG_VERSION")),
        ("guest", &"01".repeat(16)),
        ("guest", ", through COM2"),
        ("ping", " ms there and back"),
        ("link", "no faults"),
        ("asks", "built-in agent"),
        ("agent", "builtin"),
    ] {
        // On a busy machine an answer may be late, and that is told.
        if matches!(name, "ping" | "link") && said.text.contains(&format!("warn  {name} ")) {
            continue;
        }
        let (text, mend) = said.check(name, "ok");
        assert!(text.contains(part) && mend.is_empty(), "{}", said.text);
    }
    let output = desk.command(&bench.socket).arg("--json").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["failed"], 0, "{report}");
    let ping = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "ping").unwrap();
    assert!(ping["status"] == "warn" || (&ping["status"], &ping["mend"]) == (&json!("ok"), &Value::Null));
}

#[test]
fn what_is_not_installed_or_too_old_is_found() {
    let (desk, bench) = (Desk::new(), Bench::new());
    for name in ["qemu-system-x86_64", "setpriv", "musl-gcc", "rustc"] {
        desk.without(name);
    }
    let said = desk.doctor(&bench.socket);
    assert_eq!(said.status, 1);
    for (name, outcome, part) in [
        ("qemu", "FAIL", "not installed"),
        ("tools", "FAIL", "setpriv"),
        ("c", "warn", "musl-gcc"),
        ("rust", "FAIL", "rustc"),
    ] {
        let (text, mend) = said.check(name, outcome);
        assert!(text.contains(part) && mend.starts_with("./qemu/setup.sh"), "{}", said.text);
    }
    let output = desk.command(&bench.socket).arg("--json").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let failed = checks.iter().filter(|check| check["status"] == "fail" && check["mend"].is_string());
    assert_eq!(
        (output.status.code(), &report["failed"], failed.count()),
        (Some(1), &json!(3), 3),
        "{report}"
    );
    desk.program("qemu-system-x86_64", "echo QEMU emulator version 6.2.0");
    desk.program("rustc", "echo rustc 1.70.0");
    let said = desk.doctor(&bench.socket);
    assert!(said.check("qemu", "FAIL").0.contains("6.2.0 is too old; 7.0 or newer"), "{}", said.text);
    assert!(said.check("rust", "FAIL").0.contains("1.70.0"), "{}", said.text);
    // One that hangs costs its own time.
    desk.program("qemu-system-x86_64", "while :; do :; done");
    let said = desk.doctor(&bench.socket);
    assert!(said.check("qemu", "FAIL").0.contains("did not tell its version"), "{}", said.text);
    said.check("hub", "ok");
}

#[test]
fn a_hub_that_is_not_there_is_told_with_the_reason() {
    let desk = Desk::new();
    let nowhere = desk.path().join("agent.sock");
    let said = desk.doctor(&nowhere);
    let (text, mend) = said.check("hub", "FAIL");
    assert!(text.contains("nothing is there") && mend.starts_with("cargo run"), "{}", said.text);
    assert_eq!((said.status, said.text.lines().last()), (1, Some("1 failure")));

    // Nothing that a terminal obeys, whatever the path.
    desk.doctor(&desk.path().join("\u{1b}[2J\u{9b}")).check("hub", "FAIL");

    drop(UnixListener::bind(&nowhere).unwrap());
    let said = desk.doctor(&nowhere);
    assert!(said.check("hub", "FAIL").0.contains("is stale"), "{}", said.text);
    // Another one is there, and found.
    let bench = Bench::new();
    std::os::unix::fs::symlink(&bench.socket, desk.path().join("agent-2.sock")).unwrap();
    let (_, mend) = desk.doctor(&nowhere).check("hub", "FAIL");
    assert!(mend.starts_with("askr-bridge doctor --socket ") && mend.contains("agent-2.sock"), "{mend}");

    let file = desk.path().join("notes");
    fs::write(&file, "x").unwrap();
    assert!(desk.doctor(&file).check("hub", "FAIL").0.contains("is no socket"));
    let mut found = desk.command(&nowhere);
    found.env("ASKR_SOCKET", &file).env_remove("PATH");
    assert!(
        String::from_utf8(found.output().unwrap().stdout).unwrap().contains("(--socket)"),
        "it comes first"
    );
}

#[test]
fn a_hub_that_hangs_is_found_in_bounded_time_with_its_process() {
    let desk = Desk::new();
    let silent = desk.path().join("silent.sock");
    let _listener = UnixListener::bind(&silent).unwrap();
    let begin = Instant::now();
    let said = desk.doctor(&silent);
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let (text, mend) = said.check("hub", "FAIL");
    assert!(text.contains("hangs"), "{text}");
    assert!(mend.starts_with(&format!("kill {}; cargo run", std::process::id())), "{mend}");
    assert_eq!(said.status, 1);
}

#[test]
fn a_hub_that_is_full_is_told_so() {
    let (desk, bench) = (Desk::new(), Bench::new());
    let mut clients = Vec::new();
    for _ in 0..CLIENTS_MAX {
        clients.push(bench.client());
        assert!(ask(clients.last_mut().unwrap(), json!({ "op": "status" })).is_ok());
    }
    let said = desk.doctor(&bench.socket);
    assert!(said.check("hub", "FAIL").0.contains("takes no more clients"), "{}", said.text);
    clients.truncate(CLIENTS_MAX - 5);
    until("room", || desk.doctor(&bench.socket).text.contains("warn  hub"));
}

#[test]
fn a_guest_that_is_not_there_and_one_that_does_not_answer_are_told_apart() {
    let (desk, bench) = (Desk::new(), Bench::new());
    bench.boot();
    bench.guest.lock().deaf = true;
    let said = desk.doctor(&bench.socket);
    let is_told = said.text.contains("FAIL  ping") || said.text.contains("FAIL  guest");
    assert!(is_told && said.status == 1, "{}", said.text);
    bench.guest.hear();
    bench.boot();
    bench.guest.lock().powered = false;
    bench.guest.unplug();
    bench.until(json!({ "op": "status" }), |status| status["connected"] == false);
    let (text, mend) = desk.doctor(&bench.socket).check("guest", "FAIL");
    assert!(text.contains("no door is open") && mend.starts_with("cargo run"), "{text}");
}

#[test]
fn faults_of_the_line_and_who_takes_asks_are_told() {
    let (desk, bench) = (Desk::new(), Bench::new());
    bench.boot();
    bench.guest.babble(b"\x01nonsense\0");
    bench.until(json!({ "op": "stats" }), |stats| {
        stats["link"]["frames_broken"].as_object().unwrap().values().any(|count| count != 0)
    });
    let _asked = bench.guest.ask(DECISION_GENERIC, b"may I?", PATIENCE);
    bench.until(json!({ "op": "status" }), |status| status["pending_asks"] == 1);
    let said = desk.doctor(&bench.socket);
    assert!(said.check("link", "warn").0.contains("1 frames from the guest were broken"), "{}", said.text);
    let (text, mend) = said.check("asks", "warn");
    assert!(text.contains("nobody takes them") && text.contains("1 waits"), "{text}");
    assert!(mend.contains("asks.wait"), "{mend}");
    assert_eq!(said.status, 0, "warnings are no failures");
    let mut taker = bench.client();
    assert!(ask(&mut taker, json!({ "op": "subscribe" })).is_ok());
    assert!(desk.doctor(&bench.socket).check("asks", "ok").0.contains("1 client takes them"));
}

/// A hub in a process of its own, with a key in its environment.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_built_in_agent_is_looked_at_and_its_key_is_never_told() {
    const KEY: &str = "sk-very-secret-0123456789";
    let desk = Desk::new();
    let (com2, socket) = (desk.path().join("com2.sock"), desk.path().join("agent.sock"));
    let (port, guest) = (socket::bind(&com2).unwrap(), Guest::new());
    let mut hub = Command::new(env!("CARGO_BIN_EXE_askr-bridge"));
    hub.arg("hub").arg("--com2").arg(&com2).arg("--socket").arg(&socket).env("ASKR_TEST_API_KEY", KEY);
    let _hub = Program(hub.env_remove("OPENAI_API_KEY").stdout(Stdio::null()).spawn().unwrap());
    guest.plug(Door::Com2, port.accept().unwrap());
    let conf = |text: &str| {
        guest.lock().files.insert(b"/disk/etc/agent.conf".to_vec(), Some(text.as_bytes().to_vec()));
    };
    until("the guest", || desk.doctor(&socket).text.contains("ok    agent"));

    conf("provider=openai\nmodel=m\n");
    let (text, mend) = desk.doctor(&socket).check("agent", "FAIL");
    assert!(text.contains("OPENAI_API_KEY is not set"), "{text}");
    assert!(mend.contains("ai config"), "{mend}");

    // Something that speaks HTTP, and says no.
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/v1", server.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut client, _) = server.accept().unwrap();
        let mut request = [0; 4096];
        let count = std::io::Read::read(&mut client, &mut request).unwrap();
        std::io::Write::write_all(
            &mut client,
            b"HTTP/1.1 404 no\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        )
        .unwrap();
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    conf(&format!(
        "provider=openai\nendpoint={endpoint}\nmodel=m\napi_key_env=ASKR_TEST_API_KEY\nnonsense\n"
    ));
    let said = desk.doctor(&socket);
    let (text, _) = said.check("agent", "ok");
    assert!(
        text.contains("openai, model m, at ") && text.ends_with("with the key in ASKR_TEST_API_KEY"),
        "{text}"
    );
    assert!(said.check("agent", "warn").0.contains("line 5 is ignored"), "{}", said.text);
    let request = asked.join().unwrap();
    assert!(request.starts_with("GET ") && !request.contains(KEY), "{request}");

    // Now nobody listens there.
    let said = desk.doctor(&socket);
    assert!(said.check("agent", "FAIL").0.contains("cannot be reached"), "{}", said.text);
    let all = desk.command(&socket).arg("--json").output().unwrap().stdout;
    assert!(!said.text.contains(KEY) && !String::from_utf8(all).unwrap().contains(KEY));
}
