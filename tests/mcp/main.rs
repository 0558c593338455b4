//! A booted guest in the hands of MCP clients that others wrote: above all the Python SDK, in both eras of the protocol.

mod boot;
#[path = "../common/mod.rs"]
mod common;
mod official;

use std::path::{Path, PathBuf};
use std::process::Command;

use askr::Machine;
use common::bridge;
use common::program::{Link, compiled};
use common::python::{self, output_of};
use common::shell::{Askr, Own};
use host_bridge::hub::Hub;
use tempfile::TempDir;

const REQUIREMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/requirements.txt");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp");

/// Both eras of the protocol, as the SDK names them, and the newest version of each.
const ERAS: [(&str, &str); 2] = [("auto", "2026-07-28"), ("legacy", "2025-11-25")];

/// A guest with a hub, the client's Python, and the server's program.
struct Bench {
    askr: Own,
    python: PathBuf,
    bridge: PathBuf,
    socket: PathBuf,
    _hub: Hub,
    _folder: TempDir,
}

impl Bench {
    /// `None` after a line that says why the test is skipped.
    fn new(machine: &Machine) -> Option<Self> {
        let python = python::environment("mcp-sdk", REQUIREMENTS, &[])?;
        let bridge = bridge::program();
        let mut askr = Askr::boot(machine);
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("agent.sock");
        let hub = bridge::hub_on(askr.vm(), &socket, false);
        Some(Self { askr, python, bridge, socket, _hub: hub, _folder: folder })
    }

    /// Runs a script with the server, this guest, and what else it wants to know.
    fn drive(&self, script: &str, mode: &str, more: &[&Path]) -> Result<String, String> {
        let mut python = Command::new(&self.python);
        python.arg(Path::new(SCRIPTS).join(script)).arg(&self.bridge).arg(&self.socket).arg(mode);
        output_of(python.args(more))
    }
}

#[test]
fn the_python_sdk_works_with_a_guest_in_both_eras() {
    let Some(mut bench) = Bench::new(&Machine::new()) else { return };
    for (mode, version) in ERAS {
        // Longer than the script takes to get to it.
        bench.askr.start("ask -t 300 \"may I?\"");
        assert_eq!(bench.drive("sdk.py", mode, &[]), Ok(format!("{version}\n")));
        assert_eq!(bench.askr.finish(), format!("answer: yes, says {mode}\r\ndecided by: agent\r\n"));
    }
    bench.askr.power_off();
}

#[test]
fn the_person_at_a_client_answers_in_both_eras() {
    let Some(mut bench) = Bench::new(&Machine::new()) else { return };
    for (mode, version) in ERAS {
        assert_eq!(bench.drive("person.py", mode, &[]), Ok(format!("{version}\n")));
    }
    bench.askr.power_off();
}

#[test]
fn of_clients_that_race_for_an_ask_one_wins_and_the_others_are_late() {
    let Some(mut bench) = Bench::new(&Machine::new()) else { return };
    for (mode, version) in ERAS {
        assert_eq!(bench.drive("race.py", mode, &[]), Ok(format!("{version}\n")));
    }
    bench.askr.power_off();
}

#[test]
fn an_agent_spends_a_day_with_a_guest() {
    let visitor = compiled("visitor", "visitor", Link::Static);
    for (mode, version) in ERAS {
        // A guest for each: one that is reset often in a short time is not started again.
        let Some(bench) = Bench::new(&Machine::new().restarts()) else { return };
        assert_eq!(bench.drive("day.py", mode, &[&visitor]), Ok(format!("{version}\n")));
    }
}
