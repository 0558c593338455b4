//! QEMU's machine protocol (QMP, docs/interop/qmp-spec): one JSON object per line; commands get one reply each,
//! events come in between.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::Transcript;
use crate::resets::Lives;
use crate::{Error, Result};

/// How long one command may take. QEMU answers in milliseconds; this is for a machine under heavy load.
const COMMAND_DEADLINE: Duration = Duration::from_secs(20);

/// A connection to QEMU's monitor, open as long as QEMU lives.
pub(crate) struct Qmp {
    /// Commands go out one at a time: a reply carries nothing that tells whose it is.
    exchange: Mutex<Exchange>,
    ending: Arc<Ending>,
    version: (u64, u64),
}

struct Exchange {
    stream: UnixStream,
    replies: Receiver<Value>,
}

/// What the monitor told about QEMU's end.
#[derive(Default)]
struct Ending {
    state: Mutex<EndingState>,
    changed: Condvar,
}

#[derive(Clone, Default)]
struct EndingState {
    reason: Option<String>,
    /// The guest did not stay up, so QEMU was told to end.
    gave_up: bool,
    closed: bool,
}

impl Qmp {
    /// Takes the greeting and enters command mode.
    ///
    /// `Ok(None)` means that QEMU closed the connection: it is ending, and its error output says why.
    pub(crate) fn start(stream: UnixStream) -> Result<Option<Self>> {
        let (sender, replies) = mpsc::channel();
        let ending = Arc::new(Ending::default());
        let reader = stream.try_clone().map_err(Error::io("QMP socket"))?;
        let seen = Arc::clone(&ending);
        thread::spawn(move || read_lines(reader, &sender, &seen));

        let greeting = match replies.recv_timeout(COMMAND_DEADLINE) {
            Ok(greeting) => greeting,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => return Err(no_reply("QMP greeting")),
        };
        let number = |name: &str| greeting["QMP"]["version"]["qemu"][name].as_u64().unwrap_or(0);
        let version = (number("major"), number("minor"));
        let qmp = Self { exchange: Mutex::new(Exchange { stream, replies }), ending, version };
        match qmp.execute("qmp_capabilities", &json!({})) {
            Ok(_) => Ok(Some(qmp)),
            Err(Error::GuestEnded { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// QEMU's major and minor version.
    pub(crate) fn version(&self) -> (u64, u64) {
        self.version
    }

    /// Runs a command and returns what it returns.
    pub(crate) fn execute(&self, command: &str, arguments: &Value) -> Result<Value> {
        let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{}\n", json!({ "execute": command, "arguments": arguments }));
        let ended = || Error::GuestEnded {
            what: format!("QMP command {command}"),
            transcript: Transcript::default(),
        };
        exchange.stream.write_all(line.as_bytes()).map_err(|_| ended())?;
        let mut reply = match exchange.replies.recv_timeout(COMMAND_DEADLINE) {
            Ok(reply) => reply,
            Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            Err(RecvTimeoutError::Timeout) => return Err(no_reply(command)),
        };
        match reply.get("error") {
            Some(error) => {
                let reason = error["desc"].as_str().unwrap_or("no description").to_owned();
                Err(Error::Qmp { command: command.to_owned(), reason })
            }
            None => Ok(reply["return"].take()),
        }
    }

    /// Waits until QEMU has closed the monitor, which it does when it ends. False if it did not in time.
    pub(crate) fn wait_closed(&self, within: Duration) -> bool {
        let until = Instant::now() + within;
        let mut state = self.ending.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.closed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.ending.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Why the guest stopped, if an event told (QMP's `ShutdownCause`: `guest-shutdown`, `guest-reset`, …).
    pub(crate) fn shutdown_reason(&self) -> Option<String> {
        self.ending.state.lock().unwrap_or_else(PoisonError::into_inner).reason.clone()
    }

    /// Whether QEMU was told to end because the guest did not stay up.
    pub(crate) fn gave_up(&self) -> bool {
        self.ending.state.lock().unwrap_or_else(PoisonError::into_inner).gave_up
    }
}

fn no_reply(what: &str) -> Error {
    Error::Deadline { what: what.to_owned(), within: COMMAND_DEADLINE, transcript: Transcript::default() }
}

/// Sorts what QEMU sends into replies and events until QEMU closes the connection. Ends QEMU when the guest restarts and
/// restarts.
fn read_lines(mut stream: UnixStream, replies: &Sender<Value>, ending: &Ending) {
    let state = || ending.state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut lives = Lives::new(Instant::now());
    let lines = stream.try_clone().into_iter().flat_map(|stream| BufReader::new(stream).lines());
    for line in lines {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { break };
        match message["event"].as_str() {
            None => {
                if replies.send(message).is_err() {
                    break;
                }
            }
            Some("SHUTDOWN") => state().reason = message["data"]["reason"].as_str().map(str::to_owned),
            Some("RESET") if message["data"]["guest"] == true && lives.reset(Instant::now()) => {
                state().gave_up = true;
                // Nobody waits for the reply. If QEMU is gone already, that is what was wanted.
                let _ = stream.write_all(b"{\"execute\":\"quit\"}\n");
            }
            Some(_) => {}
        }
    }
    state().closed = true;
    ending.changed.notify_all();
}
