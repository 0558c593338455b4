//! Clients that make requests of all kinds and know what must come of each.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use host_bridge::client::HubClient;
use host_bridge::json::{Answer, content_of};
use serde_json::{Value, json};

use crate::common::PATIENCE;

/// Longest that the hub may take over a request without getting on, in milliseconds.
const TIMEOUT_MS: u64 = 20_000;
/// Longest file, in bytes: some of them take several frames.
const FILE_MAX: usize = 9_000;
/// Errors that say that the line, and not the guest, is to blame.
const LINE_ERRORS: [&str; 5] = ["timed_out", "outcome_unknown", "session_lost", "not_ready", "overloaded"];

/// What came of the requests of one client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) right: u64,
    /// Errors of the line, by their code.
    pub(crate) errors: Vec<String>,
}

/// One client with a folder of its own.
pub(crate) struct Client {
    hub: HubClient,
    rng: Rng,
    folder: String,
    /// What the log may hold: more than one text after an append of which nobody knows.
    log: BTreeSet<String>,
    appended: u64,
    files: Vec<(String, Option<Vec<u8>>)>,
    pub(crate) tally: Tally,
}

impl Client {
    pub(crate) fn new(socket: &Path, number: usize, seed: u64) -> Self {
        let hub = HubClient::connect(socket).unwrap();
        hub.set_patience(Some(PATIENCE)).unwrap();
        let folder = format!("/tmp/client-{number}");
        let rng = Rng::with_seed(seed.wrapping_add(number as u64));
        let log = BTreeSet::from([String::new()]);
        let files = (0..4).map(|file| (format!("{folder}/{file}"), None)).collect();
        Self { hub, rng, folder, log, appended: 0, files, tally: Tally::default() }
    }

    /// Makes its folder, and an empty log in it.
    pub(crate) fn prepare(&mut self) {
        let make = json!({ "op": "fs.mkdir", "path": self.folder });
        assert!(matches!(self.call(make), Ok(_) | Err(Lost::Guest(_))));
        let log = json!({ "op": "fs.write", "path": self.log_path(), "content": "" });
        self.call(log).unwrap();
        self.tally = Tally::default();
    }

    fn log_path(&self) -> String {
        format!("{}/log", self.folder)
    }

    fn call(&mut self, mut request: Value) -> Result<Value, Lost> {
        request["timeout_ms"] = json!(TIMEOUT_MS);
        let reply = self.hub.request(&request).unwrap_or_else(|error| panic!("{request}: {error}"));
        match Answer::of(&reply) {
            Answer::Ok(ok) => Ok(ok),
            Answer::Error { code, .. } if LINE_ERRORS.contains(&code.as_str()) => Err(Lost::Line(code)),
            Answer::Error { code, .. } => Err(Lost::Guest(code)),
            Answer::Other => panic!("no reply: {reply}"),
        }
    }

    /// Makes one request of any kind.
    pub(crate) fn request(&mut self) {
        let outcome = match self.rng.u32(..10) {
            0 | 1 => self.append(),
            2 => self.read_log(),
            3 => self.write_file(),
            4 | 5 => self.read_file(),
            6 => self.remove_file(),
            7 => self.stat_version(),
            8 => self.look_for_nothing(),
            _ => self.ping(),
        };
        match outcome {
            Ok(()) => self.tally.right += 1,
            Err(Lost::Line(code)) => self.tally.errors.push(code),
            Err(Lost::Guest(code)) => panic!("the guest answered {code}"),
        }
    }

    /// The log gets each line once, or at most once if nobody knows.
    fn append(&mut self) -> Result<(), Lost> {
        self.appended += 1;
        let line = format!("{}\n", self.appended);
        let path = self.log_path();
        let outcome = self.call(json!({ "op": "fs.write", "path": path, "content": line, "mode": "append" }));
        let longer: BTreeSet<String> = self.log.iter().map(|log| format!("{log}{line}")).collect();
        match &outcome {
            Ok(_) => self.log = longer,
            Err(Lost::Line(code)) if code == "outcome_unknown" => self.log.extend(longer),
            Err(_) => {}
        }
        outcome.map(|_| ())
    }

    pub(crate) fn read_log(&mut self) -> Result<(), Lost> {
        let reply = self.call(json!({ "op": "fs.read", "path": self.log_path() }))?;
        let text = String::from_utf8(content_of(&reply).unwrap()).unwrap();
        assert!(self.log.contains(&text), "a line is there twice, or never came: {text:?} of {:?}", self.log);
        self.log = BTreeSet::from([text]);
        Ok(())
    }

    /// A file of up to three frames, and what it holds while nobody knows.
    fn write_file(&mut self) -> Result<(), Lost> {
        let (file, length) = (self.rng.usize(..self.files.len()), self.rng.usize(..FILE_MAX));
        let content: String = (0..length).map(|_| self.rng.alphanumeric()).collect();
        let path = self.files[file].0.clone();
        // Until it is known to be whole again, nothing is known.
        self.files[file].1 = None;
        let reply = self.call(json!({ "op": "fs.write", "path": path, "content": content }))?;
        assert_eq!(reply["written"], content.len());
        self.files[file].1 = Some(content.into_bytes());
        Ok(())
    }

    fn read_file(&mut self) -> Result<(), Lost> {
        let file = self.rng.usize(..self.files.len());
        let (path, expected) = self.files[file].clone();
        let Some(expected) = expected else { return self.ping() };
        let reply = self.call(json!({ "op": "fs.read", "path": path }))?;
        assert!(content_of(&reply).as_deref() == Some(&expected[..]), "{path} holds something else");
        Ok(())
    }

    fn remove_file(&mut self) -> Result<(), Lost> {
        let file = self.rng.usize(..self.files.len());
        let path = self.files[file].0.clone();
        if self.files[file].1.take().is_none() {
            return self.ping();
        }
        self.call(json!({ "op": "fs.remove", "path": path })).map(|_| ())
    }

    fn stat_version(&mut self) -> Result<(), Lost> {
        let reply = self.call(json!({ "op": "fs.stat", "path": "/proc/version" }))?;
        assert_eq!((&reply["type"], &reply["mode"]), (&json!("file"), &json!(0o444)));
        Ok(())
    }

    fn look_for_nothing(&mut self) -> Result<(), Lost> {
        match self.call(json!({ "op": "fs.read", "path": format!("{}/nothing", self.folder) })) {
            Err(Lost::Guest(code)) if code == "ENOENT" => Ok(()),
            Ok(reply) => panic!("nothing is {reply}"),
            Err(other) => Err(other),
        }
    }

    fn ping(&mut self) -> Result<(), Lost> {
        self.call(json!({ "op": "ping" })).map(|_| ())
    }
}

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The line.
    Line(String),
    /// The guest said no.
    Guest(String),
}

/// Pause between two looks at something that has to come.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);
