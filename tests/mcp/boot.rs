//! `askr-bridge mcp --boot`: a guest of the server's own.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use host_bridge::client::HubClient;
use host_bridge::json::Answer;
use serde_json::json;

use crate::common::{PATIENCE, bridge, until};

/// Beside the bridge, where it looks for it.
const RUNNER: &str = env!("CARGO_BIN_EXE_askr");

struct Server(Child);

impl Server {
    fn start(program: &Path, socket: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(["mcp", "--boot", "--socket"]).arg(socket).args(["--", "--throwaway", "--accel", "tcg"]);
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Its client goes.
    fn hang_up(&mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// At the end no guest is left behind this socket: one that outlived its server would outlive the test, too.
struct NoneLeft<'a>(&'a Path);

impl Drop for NoneLeft<'_> {
    fn drop(&mut self) {
        // None is there when all went well.
        if let Ok(mut hub) = HubClient::connect(self.0) {
            let _ = hub.send(br#"{"op":"power","action":"off"}"#);
        }
    }
}

/// Whether a guest answers behind this socket.
fn answers(socket: &Path) -> bool {
    let Ok(mut hub) = HubClient::connect(socket) else { return false };
    hub.set_patience(Some(PATIENCE)).unwrap();
    let reply = hub.request(&json!({ "op": "ping", "timeout_ms": 500 }));
    reply.is_ok_and(|reply| matches!(Answer::of(&reply), Answer::Ok(_)))
}

#[test]
fn a_server_boots_a_guest_that_ends_with_it() {
    let bridge = bridge::program();
    assert_eq!(bridge.parent(), Path::new(RUNNER).parent());
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let _none_left = NoneLeft(&socket);
    let mut first = Server::start(&bridge, &socket);
    until("the guest", || answers(&socket));
    // One is enough.
    let mut second = Server::start(&bridge, &socket);
    second.hang_up();
    assert!(answers(&socket), "it was not the second one's to end");
    first.hang_up();
    assert!(!socket.exists(), "the guest is gone with its server");

    // However the server ends.
    let killed = Server::start(&bridge, &socket);
    until("another guest", || answers(&socket));
    drop(killed);
    until("the guest's end", || !socket.exists());
}
