//! `--gdb`: the guest waits for a debugger.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

use host_bridge::client::HubClient;
use host_bridge::socket;
use serde_json::{Value, json};

use super::program::{Link, compiled};
use super::support::{Runner, SOON, askr, await_that, with_agent};

/// A packet of gdb's remote protocol with its checksum (GDB manual, E.1).
fn packet(body: &str) -> String {
    let sum = body.bytes().fold(0_u8, u8::wrapping_add);
    format!("${body}#{sum:02x}")
}

#[test]
fn the_guest_waits_for_a_debugger_on_a_socket() {
    let mut command = askr();
    command.args(["--gdb", "--run", "echo went on"]);
    for (name, link) in [("fixed", Link::Static), ("moved", Link::StaticPie)] {
        command.arg("--with").arg(compiled("places", name, link));
    }
    let mut runner = Runner::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut stderr = runner.stderr();
    stderr.wait_for("askr-kernel'\n");
    // The programs that it brings along come with their symbols, at the place where the guest puts them.
    for (name, base) in [("fixed", "0x0"), ("moved", "0x555555550000")] {
        assert!(stderr.text.contains(&format!("{name}\" -o {base}'")), "{}", stderr.text);
    }
    let (_, path) = stderr.text.split_once("'target remote ").expect("the command");
    let (path, _) = path.split_once('\'').expect("its end");

    let mut debugger = socket::connect(Path::new(path)).expect("the debugger's socket");
    debugger.set_read_timeout(Some(SOON)).expect("timeout");
    debugger.write_all(packet("g").as_bytes()).expect("a packet");
    let mut reply = Vec::new();
    while !reply.contains(&b'#') {
        let mut piece = [0; 4096];
        let count = debugger.read(&mut piece).expect("a reply");
        assert_ne!(count, 0);
        reply.extend_from_slice(&piece[..count]);
    }
    // Taken, and then registers in hexadecimal.
    let reply = String::from_utf8(reply).expect("text");
    assert!(reply.starts_with("+$") && reply.len() > 300, "{reply}");
    assert!(
        reply[2..reply.find('#').expect("the end")].bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{reply}"
    );
    let arguments = runner.qemu_arguments();
    assert!(arguments.contains("-gdb chardev:gdb") && !arguments.contains("tcp"), "{arguments}");

    let mut stdout = runner.stdout();
    assert_eq!(stdout.text, "");
    debugger.write_all(format!("+{}", packet("c")).as_bytes()).expect("a packet");
    stdout.wait_for("went on\n");
    assert_eq!(runner.wait().code(), Some(0));
}

/// The last fault that the hub tells of, once there is one of this program.
fn fault_of(hub: &mut HubClient, program: &str) -> Value {
    let mut fault = Value::Null;
    await_that("the fault", || {
        let reply = hub.request(&json!({ "op": "events.read" })).expect("a reply");
        let events = reply["ok"]["events"].as_array().cloned().unwrap_or_default();
        let of_it = |event: &Value| event["kind"] == "fault" && event["name"] == program;
        fault = events.into_iter().rfind(of_it).map_or(Value::Null, |event| event["fault"].clone());
        !fault.is_null()
    });
    fault
}

#[test]
fn a_fault_of_a_program_that_was_brought_along_has_function_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("agent.sock");
    let mut command = with_agent();
    command.arg("--headless").arg("--agent-socket").arg(&path);
    for (name, link) in [("place-fixed", Link::Static), ("place-moved", Link::StaticPie)] {
        command.arg("--with").arg(compiled("places", name, link));
    }
    let _runner = Runner::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    await_that("the hub", || HubClient::connect(&path).is_ok());
    let mut hub = HubClient::connect(&path).expect("the hub");
    for program in ["place-fixed", "place-moved"] {
        let run = json!({ "op": "proc.run", "argv": [program], "timeout_ms": 90_000 });
        let reply = hub.request(&run).expect("a reply");
        assert_eq!(reply["ok"]["signal"], "SEGV", "{reply}");
        let fault = fault_of(&mut hub, program);
        let place = |at: usize| {
            let place = &fault["places"][at];
            let file = place["file"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            (
                place["function"].as_str().unwrap_or_default().to_owned(),
                file.to_owned(),
                place["line"].as_u64(),
            )
        };
        let line = |function: &str, line| (function.to_owned(), "places.c".to_owned(), Some(line));
        assert_eq!(place(0), line("lead_astray", 6), "{fault}");
        assert_eq!(place(1), line("_start", 11), "{fault}");
    }
}
