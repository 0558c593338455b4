//! A booted guest in the hands of an MCP client that others wrote: the Python SDK, in both eras of the protocol.

#[path = "../common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use askr::Machine;
use common::PATIENCE;
use common::python::{self, output_of};
use common::shell::Askr;
use host_bridge::hub::{Hub, HubConfig};

const REQUIREMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/requirements.txt");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/sdk.py");

/// The program `askr-bridge`, as it is now. It is of another package, so cargo does not build it for this test.
fn bridge() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--bin", "askr-bridge", "--message-format", "json-render-diagnostics"]);
    let messages = output_of(cargo.current_dir(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let message = |line| serde_json::from_str::<serde_json::Value>(line).ok();
    let built = |message: serde_json::Value| message["executable"].as_str().map(PathBuf::from);
    messages.lines().filter_map(message).find_map(built).expect("cargo names the program that it built")
}

fn drive(python: &Path, bridge: &Path, socket: &Path, mode: &str) -> Result<String, String> {
    output_of(Command::new(python).arg(SCRIPT).arg(bridge).arg(socket).arg(mode))
}

#[test]
fn the_python_sdk_works_with_a_guest_in_both_eras() {
    let Some(python) = python::environment("mcp-sdk", REQUIREMENTS) else { return };
    let bridge = bridge();
    let mut askr = Askr::boot(&Machine::new());
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let config = HubConfig { com2: askr.vm().com2_path(), socket: socket.clone(), agent: false };
    let hub = Hub::start(config).unwrap();
    hub.wait_ready(PATIENCE).unwrap();
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        // Longer than the script takes to get to it.
        askr.start("ask -t 300 \"may I?\"");
        assert_eq!(drive(&python, &bridge, &socket, mode), Ok(format!("{version}\n")));
        assert_eq!(askr.finish(), format!("answer: yes, says {mode}\r\ndecided by: agent\r\n"));
    }
    askr.power_off();
}
