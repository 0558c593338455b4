//! A client of QEMU's guest agent: one line of JSON there, one back (`docs/interop/qemu-ga-ref` of QEMU).

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::Result;
use crate::guest::{ANSWER, PATIENCE};
use crate::screen::Screen;

/// Bytes of a file that are read or written at once: smaller and larger pieces are slower.
const PIECE: usize = 256 << 10;
/// Pause between two looks whether a program has ended: with a shorter one, or none, it is not known sooner.
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// The agent's port.
pub(crate) struct Agent {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    /// What Linux shows, for errors.
    screen: Screen,
}

impl Agent {
    pub(super) fn new(writer: UnixStream, screen: Screen) -> Result<Self> {
        writer.set_write_timeout(Some(ANSWER))?;
        Ok(Self { reader: BufReader::new(writer.try_clone()?), writer, screen })
    }

    fn execute(&mut self, command: &str, arguments: &Value) -> Result<Value> {
        self.execute_within(command, arguments, ANSWER)
    }

    /// A command and its answer, which begins to come within this time.
    fn execute_within(&mut self, command: &str, arguments: &Value, within: Duration) -> Result<Value> {
        self.writer.set_read_timeout(Some(within))?;
        let line = json!({ "execute": command, "arguments": arguments });
        let mut answer = String::new();
        let heard = self.writer.write_all(format!("{line}\n").as_bytes());
        match heard.and_then(|()| self.reader.read_line(&mut answer)) {
            Ok(0) => return Err(self.screen.blame("the peer is gone").into()),
            Ok(_) => {}
            Err(error) => {
                let what = format_args!("no answer to {command}");
                return Err(self.screen.missed(what, within, &error).into());
            }
        }
        let mut answer: Value = serde_json::from_str(&answer)?;
        match answer.get_mut("return") {
            Some(value) => Ok(value.take()),
            None => Err(format!("{command}: {answer}").into()),
        }
    }

    /// Whether it is there.
    pub(crate) fn ping(&mut self) -> Result<()> {
        self.ping_within(ANSWER)
    }

    /// As [`Agent::ping`], of one that is still on its way.
    pub(super) fn ping_within(&mut self, within: Duration) -> Result<()> {
        self.execute_within("guest-ping", &json!({}), within).map(drop)
    }

    /// Runs a program to its end; its output.
    pub(crate) fn run(&mut self, argv: &[&str]) -> Result<String> {
        let pid = self
            .execute("guest-exec", &json!({ "path": argv[0], "arg": argv[1..], "capture-output": true }))?;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            thread::sleep(LOOK_PAUSE);
            let status = self.execute("guest-exec-status", &pid)?;
            if status["exited"] == true {
                if status["exitcode"] != 0 {
                    return Err(format!("{argv:?}: {status}").into());
                }
                let output = status["out-data"].as_str().unwrap_or_default();
                return Ok(String::from_utf8(BASE64.decode(output)?)?);
            }
        }
        Err(self.screen.blame(format_args!("{argv:?} did not end within {PATIENCE:?}")).into())
    }

    /// The whole file, of which the size is known.
    pub(crate) fn read_file(&mut self, path: &str, size: usize) -> Result<Vec<u8>> {
        let handle = self.execute("guest-file-open", &json!({ "path": path, "mode": "r" }))?;
        let mut data = Vec::with_capacity(size);
        while data.len() < size {
            let read = self.execute("guest-file-read", &json!({ "handle": handle, "count": PIECE }))?;
            let piece = BASE64.decode(read["buf-b64"].as_str().ok_or("no content")?)?;
            if piece.is_empty() {
                return Err(format!("{path} ends after {} bytes", data.len()).into());
            }
            data.extend(piece);
        }
        self.execute("guest-file-close", &json!({ "handle": handle }))?;
        Ok(data)
    }

    /// Makes this the content of the file.
    pub(crate) fn write_file(&mut self, path: &str, data: &[u8]) -> Result<()> {
        let handle = self.execute("guest-file-open", &json!({ "path": path, "mode": "w" }))?;
        for piece in data.chunks(PIECE) {
            let piece = json!({ "handle": handle, "buf-b64": BASE64.encode(piece) });
            self.execute("guest-file-write", &piece)?;
        }
        self.execute("guest-file-close", &json!({ "handle": handle })).map(drop)
    }
}
