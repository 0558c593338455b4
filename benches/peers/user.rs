//! A guest as its user has it: a hub in front, and JSON.

use std::time::{Duration, Instant};

use askr::{Guest, Machine};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use host_bridge::Hub;
use host_bridge::client::HubClient;
use host_bridge::json::Answer;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Result;
use crate::door::Door;
use crate::guest::{self, PATIENCE};

/// Bytes that one `fs.write` takes: as base64 they fit the hub's longest line.
const WRITE_MAX: usize = 2 << 20;
/// Bytes that one `fs.read` gives at most.
const READ_MAX: usize = 16 << 20;
/// Name of the hub's socket in its folder.
const SOCKET: &str = "agent.sock";

/// The guest, its hub and one client. What is first goes first.
pub(crate) struct User {
    client: HubClient,
    _hub: Hub,
    folder: TempDir,
    guest: Guest,
}

impl User {
    /// Boots this machine and waits until its hub is in session.
    pub(crate) fn boot(machine: Machine, door: Door) -> Result<Self> {
        let mut guest = guest::boot(&door.built_into(machine))?;
        let folder = tempfile::tempdir_in(guest::folder())?;
        let socket = folder.path().join(SOCKET);
        let hub = Hub::start_on(door.connector(guest.vm()), &socket, false)?;
        hub.wait_ready(PATIENCE).map_err(|error| format!("no session: {error:?}"))?;
        let client = HubClient::connect(&socket)?;
        client.set_patience(Some(PATIENCE))?;
        Ok(Self { client, _hub: hub, folder, guest })
    }

    /// QEMU's process id.
    pub(crate) fn pid(&mut self) -> u32 {
        self.guest.vm().pid()
    }

    /// Another client of the same hub.
    pub(crate) fn client(&self) -> Result<HubClient> {
        Ok(HubClient::connect(&self.folder.path().join(SOCKET))?)
    }

    /// A call that succeeds.
    pub(crate) fn call(&mut self, request: Value) -> Result<Value> {
        call(&mut self.client, request)
    }

    /// Runs a program to its end; its standard output. It may take long.
    pub(crate) fn run(&mut self, argv: &[&str]) -> Result<String> {
        self.run_keeping(argv, 64 << 10)
    }

    /// As [`User::run`], with so many bytes of output.
    pub(crate) fn run_keeping(&mut self, argv: &[&str], bytes: usize) -> Result<String> {
        let deadline = u64::try_from(PATIENCE.as_millis())?;
        let reply = self
            .call(json!({ "op": "proc.run", "argv": argv, "deadline_ms": deadline, "max": bytes,
            "max_output": bytes }))?;
        let output = content(&reply["stdout"])?;
        if reply["exit_code"] != 0 {
            return Err(format!("{argv:?}: {reply}").into());
        }
        Ok(String::from_utf8(output)?)
    }

    /// The number of entries of a directory.
    pub(crate) fn list(&mut self, path: &str) -> Result<usize> {
        let reply = self.call(json!({ "op": "fs.list", "path": path }))?;
        Ok(reply["entries"].as_array().map_or(0, Vec::len))
    }

    /// The whole file, of which the size is known.
    pub(crate) fn read_file(&mut self, path: &str, size: usize) -> Result<Vec<u8>> {
        let mut data = Vec::with_capacity(size);
        while data.len() < size {
            let length = READ_MAX.min(size - data.len());
            let reply =
                self.call(json!({ "op": "fs.read", "path": path, "offset": data.len(), "length": length }))?;
            let piece = content(&reply)?;
            if piece.is_empty() {
                return Err(format!("{path} ends after {} bytes", data.len()).into());
            }
            data.extend(piece);
        }
        Ok(data)
    }

    /// Makes this the content of the file.
    pub(crate) fn write_file(&mut self, path: &str, data: &[u8]) -> Result<()> {
        for (number, piece) in data.chunks(WRITE_MAX).enumerate() {
            let content = BASE64.encode(piece);
            let mut request =
                json!({ "op": "fs.write", "path": path, "content": content, "encoding": "base64" });
            if number > 0 {
                request["offset"] = json!(number * WRITE_MAX);
            }
            self.call(request)?;
        }
        Ok(())
    }

    /// Runs a program that asks `count` times, and answers at once; the times from one ask to the next.
    pub(crate) fn asks(&mut self, count: usize) -> Result<Vec<f64>> {
        let mut pushed = self.client()?;
        pushed.set_patience(Some(PATIENCE))?;
        call(&mut pushed, json!({ "op": "subscribe" }))?;
        self.call(json!({ "op": "proc.spawn", "argv": ["/bin/asks", count.to_string()] }))?;
        let mut came = Vec::new();
        while came.len() < count {
            let line = pushed.receive()?.ok_or("the hub closed the connection")?;
            let line: Value = serde_json::from_str(&line)?;
            if line["ask"].is_object() {
                came.push(Instant::now());
                let ask = &line["ask"]["ask"];
                self.call(json!({ "op": "ask.answer", "ask": ask, "answer": "yes" }))?;
            }
        }
        Ok(came.windows(2).map(|two| (two[1] - two[0]).as_secs_f64()).collect())
    }
}

/// A call of this client that succeeds, with time enough.
pub(crate) fn call(client: &mut HubClient, mut request: Value) -> Result<Value> {
    request["timeout_ms"] = json!(u64::try_from(Duration::as_millis(&PATIENCE))?);
    let reply = client.request(&request)?;
    match Answer::of(&reply) {
        Answer::Ok(ok) => Ok(ok),
        Answer::Error { .. } | Answer::Other => Err(format!("{}: {}", request["op"], reply["error"]).into()),
    }
}

/// The bytes of a `content`.
fn content(reply: &Value) -> Result<Vec<u8>> {
    let text = reply["content"].as_str().ok_or("no content")?;
    if reply["encoding"] == "base64" { Ok(BASE64.decode(text)?) } else { Ok(text.as_bytes().to_vec()) }
}
