//! A guest as its user has it: a hub in front, and JSON.

use std::fmt::Display;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use askr::Machine;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use host_bridge::client::HubClient;
use host_bridge::hub::{Hub, HubConfig};
use host_bridge::json::Answer;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Result;
use crate::door::Door;
use crate::guest::{self, BOOT, Guest, PATIENCE};
use crate::screen::Screen;

/// Bytes that one `fs.write` takes: as base64 they fit the hub's longest line.
const WRITE_MAX: usize = 2 << 20;
/// Bytes that one `fs.read` gives at most.
const READ_MAX: usize = 16 << 20;
/// Name of the hub's socket in its folder.
const SOCKET: &str = "agent.sock";

/// How much longer we wait than the hub, which says more about what did not come.
const LONGER: Duration = Duration::from_secs(10);
/// Pause between two looks whether the hub is where it should be.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

/// The guest, its hub and one client. What is first goes first.
pub(crate) struct User {
    client: Client,
    _hub: Hub,
    folder: TempDir,
    guest: Guest,
}

impl User {
    /// Boots this machine and waits until its hub is in session through this door.
    pub(crate) fn boot(machine: Machine, door: Door) -> Result<Self> {
        let guest = Guest::boot(&door.built_into(machine))?;
        let folder = tempfile::tempdir_in(guest::folder())?;
        let socket = folder.path().join(SOCKET);
        let (com2, data) = (guest.vm.com2_path(), guest.vm.data_path());
        let hub = Hub::start(HubConfig { com2, data, socket: socket.clone(), agent: false })?;
        hub.wait_ready(BOOT).map_err(|error| guest.screen.blame(format_args!("no session: {error:?}")))?;
        let client = Client::connect(&socket, &guest.screen)?;
        let mut user = Self { client, _hub: hub, folder, guest };
        user.wait_for(door)?;
        Ok(user)
    }

    /// A hub begins with the door that answers first.
    fn wait_for(&mut self, door: Door) -> Result<()> {
        let until = Instant::now() + BOOT;
        while Instant::now() < until {
            if self.call(json!({ "op": "status" }))?["door"] == door.in_status() {
                return Ok(());
            }
            thread::sleep(LOOK_PAUSE);
        }
        let what = format_args!("the hub is not at the {} within {BOOT:?}", door.name());
        Err(self.guest.screen.blame(what).into())
    }

    /// QEMU's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.guest.vm.pid()
    }

    /// Another client of the same hub.
    pub(crate) fn client(&self) -> Result<Client> {
        Client::connect(&self.folder.path().join(SOCKET), &self.guest.screen)
    }

    /// A call that succeeds.
    pub(crate) fn call(&mut self, request: Value) -> Result<Value> {
        self.client.call(request)
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
        pushed.call(json!({ "op": "subscribe" }))?;
        self.call(json!({ "op": "proc.spawn", "argv": ["/bin/asks", count.to_string()] }))?;
        let (mut came, until) = (Vec::new(), Instant::now() + PATIENCE);
        while came.len() < count {
            let line = pushed.pushed(format_args!("ask {} of {count}", came.len() + 1), until)?;
            if line["ask"].is_object() {
                came.push(Instant::now());
                let ask = &line["ask"]["ask"];
                self.call(json!({ "op": "ask.answer", "ask": ask, "answer": "yes" }))?;
            }
        }
        Ok(came.windows(2).map(|two| (two[1] - two[0]).as_secs_f64()).collect())
    }
}

/// A client of a hub; every wait of it has an end.
pub(crate) struct Client {
    hub: HubClient,
    /// What the guest behind it shows, for errors.
    screen: Screen,
}

impl Client {
    fn connect(socket: &Path, screen: &Screen) -> Result<Self> {
        let hub = HubClient::connect(socket)?;
        hub.set_patience(Some(PATIENCE + LONGER))?;
        hub.stream().set_write_timeout(Some(PATIENCE))?;
        Ok(Self { hub, screen: screen.clone() })
    }

    /// A call that succeeds, with time enough.
    pub(crate) fn call(&mut self, mut request: Value) -> Result<Value> {
        request["timeout_ms"] = json!(u64::try_from(PATIENCE.as_millis())?);
        let refused = match self.hub.request(&request) {
            Ok(reply) => match Answer::of(&reply) {
                Answer::Ok(ok) => return Ok(ok),
                Answer::Error { .. } | Answer::Other => reply["error"].to_string(),
            },
            Err(error) => return Err(self.screen.missed(&request["op"], PATIENCE + LONGER, &error).into()),
        };
        Err(self.screen.blame(format_args!("{}: {refused}", request["op"])).into())
    }

    /// The next line that was not asked for; `what` is waited for.
    fn pushed(&mut self, what: impl Display, until: Instant) -> Result<Value> {
        if Instant::now() >= until {
            return Err(self.screen.blame(format_args!("no {what} within {PATIENCE:?}")).into());
        }
        let line = self.hub.receive();
        let longest = PATIENCE + LONGER;
        let line = line.map_err(|error| self.screen.missed(format_args!("no {what}"), longest, &error))?;
        Ok(serde_json::from_str(&line.ok_or("the hub closed the connection")?)?)
    }
}

/// The bytes of a `content`.
fn content(reply: &Value) -> Result<Vec<u8>> {
    let text = reply["content"].as_str().ok_or("no content")?;
    if reply["encoding"] == "base64" { Ok(BASE64.decode(text)?) } else { Ok(text.as_bytes().to_vec()) }
}
