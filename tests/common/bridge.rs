//! The bridge: the program, and a hub in the test's own process on a line that may lose frames.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use askr::Vm;
use askr_wire::Deframer;
use host_bridge::client::HubClient;
use host_bridge::hub::{Hub, HubConfig};
use host_bridge::json::Answer;
use host_bridge::link::{Connect, Doors, OwnedFrame, Stream};
use host_bridge::socket;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::PATIENCE;
use super::python::output_of;

/// The program `askr-bridge`, as it is now. It is of another package, so cargo does not build it for a test.
pub(crate) fn program() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--bin", "askr-bridge", "--message-format", "json-render-diagnostics"]);
    let messages = output_of(cargo.current_dir(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let message = |line| serde_json::from_str::<Value>(line).ok();
    let built = |message: Value| message["executable"].as_str().map(PathBuf::from);
    messages.lines().filter_map(message).find_map(built).expect("cargo names the program that it built")
}

/// A hub on a booted guest, at both its doors, that is in session with it; with the built-in agent if that is wanted.
pub(crate) fn hub_on(vm: &Vm, socket: &Path, agent: bool) -> Hub {
    let config = HubConfig { com2: vm.com2_path(), data: vm.data_path(), socket: socket.to_owned(), agent };
    let hub = Hub::start(config).unwrap();
    hub.wait_ready(PATIENCE).unwrap();
    hub
}

/// The reply to a request on a connection of its own.
pub(crate) fn reply(socket: &Path, request: &Value) -> Value {
    let mut client = HubClient::connect(socket).unwrap();
    client.set_patience(Some(2 * PATIENCE)).unwrap();
    client.request(request).unwrap()
}

/// What is in `ok` of a reply, or its error's code.
#[track_caller]
pub(crate) fn outcome(reply: &Value) -> Result<Value, String> {
    match Answer::of(reply) {
        Answer::Ok(ok) => Ok(ok),
        Answer::Error { code, .. } => Err(code),
        Answer::Other => panic!("no reply: {reply}"),
    }
}

/// One call on a connection of its own, with time enough; the error's code if it fails.
pub(crate) fn call(socket: &Path, mut request: Value) -> Result<Value, String> {
    if request["timeout_ms"].is_null() {
        request["timeout_ms"] = json!(u64::try_from(PATIENCE.as_millis()).unwrap());
    }
    outcome(&reply(socket, &request))
}

/// Whether a frame from the guest gets through.
type Passes = Arc<Mutex<dyn FnMut(&OwnedFrame) -> bool + Send>>;

/// A hub on a booted guest.
pub(crate) struct Bridge {
    hub: Hub,
    folder: TempDir,
}

impl Bridge {
    /// A hub that hears all that the guest says.
    pub(crate) fn on(vm: &Vm) -> Self {
        Self::hearing(vm, |_| true)
    }

    /// A hub that hears the frames for which `passes` holds.
    pub(crate) fn hearing(vm: &Vm, passes: impl FnMut(&OwnedFrame) -> bool + Send + 'static) -> Self {
        Self::through(connect(vm.com2_path(), Arc::new(Mutex::new(passes))))
    }

    /// A hub on these doors.
    pub(crate) fn through(doors: impl Into<Doors>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hub = Hub::start_on(doors, &folder.path().join("agent.sock"), false).unwrap();
        let bridge = Self { hub, folder };
        bridge.hub.wait_ready(PATIENCE).unwrap();
        bridge
    }

    /// Where its clients connect.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("agent.sock")
    }

    /// A call; the error's code if it fails.
    pub(crate) fn call(&self, request: Value) -> Result<Value, String> {
        call(&self.socket(), request)
    }

    /// A call that succeeds.
    #[track_caller]
    pub(crate) fn ok(&self, request: Value) -> Value {
        let shown = request.to_string();
        self.call(request).unwrap_or_else(|code| panic!("{shown}: {code}"))
    }

    /// Appends to a file.
    pub(crate) fn append(&self, path: &str, content: &str) -> Result<Value, String> {
        self.call(json!({ "op": "fs.write", "path": path, "content": content, "mode": "append" }))
    }

    /// What is in a file.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        self.ok(json!({ "op": "fs.read", "path": path }))["content"].as_str().unwrap().to_owned()
    }

    /// Starts a program; its job and its process.
    #[track_caller]
    pub(crate) fn spawn(&self, argv: &[&str]) -> (u64, u64) {
        let spawned = self.ok(json!({ "op": "proc.spawn", "argv": argv, "stdin_open": true }));
        (spawned["job"].as_u64().unwrap(), spawned["pid"].as_u64().unwrap())
    }

    /// The guest in session, as `status` tells it.
    pub(crate) fn guest(&self) -> Value {
        self.ok(json!({ "op": "status" }))["guest"].clone()
    }
}

fn connect(com2: PathBuf, passes: Passes) -> Connect {
    Box::new(move || {
        let stream = socket::connect(&com2)?;
        let filter = Filter::new(stream.try_clone()?, Arc::clone(&passes));
        Ok(Stream { reader: Box::new(filter), ..Stream::try_from(stream)? })
    })
}

/// What comes from the guest, less the frames that are lost.
struct Filter {
    stream: UnixStream,
    deframer: Box<Deframer>,
    /// The bytes since the last frame.
    wire: Vec<u8>,
    ready: VecDeque<u8>,
    passes: Passes,
}

impl Filter {
    fn new(stream: UnixStream, passes: Passes) -> Self {
        let (wire, ready) = (Vec::new(), VecDeque::new());
        Self { stream, deframer: Box::new(Deframer::new()), wire, ready, passes }
    }

    fn take(&mut self, byte: u8) {
        self.wire.push(byte);
        let mut passes = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
        match self.deframer.push(byte) {
            Some(Ok(frame)) if !passes(&OwnedFrame::from(&frame)) => {}
            None if byte != 0 => return,
            _ => self.ready.extend(&self.wire),
        }
        self.wire.clear();
    }
}

impl Read for Filter {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut piece = [0; 4096];
        while self.ready.is_empty() {
            let count = self.stream.read(&mut piece)?;
            if count == 0 {
                return Ok(0);
            }
            piece[..count].iter().for_each(|&byte| self.take(byte));
        }
        self.ready.read(into)
    }
}
