//! A guest, a hub on it, and clients.

use std::path::PathBuf;
use std::time::Instant;

use host_bridge::Hub;
use host_bridge::client::HubClient;
use host_bridge::json::Answer;
use host_bridge::link::Doors;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::guest::{Guest, PATIENCE};

pub(crate) struct Bench {
    pub(crate) guest: Guest,
    /// Taken out to stop it.
    pub(crate) hub: Option<Hub>,
    pub(crate) socket: PathBuf,
    _folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Guest::new(), false)
    }

    pub(crate) fn with(guest: Guest, agent: bool) -> Self {
        let com2 = guest.connect();
        Self::on(guest, com2, agent)
    }

    /// In session through the better of two doors.
    pub(crate) fn with_both_doors() -> Self {
        let guest = Guest::new();
        let doors = guest.doors();
        let bench = Self::on(guest, doors, false);
        bench.until(json!({ "op": "status" }), |status| status["door"] == "data");
        bench
    }

    fn on(guest: Guest, doors: impl Into<Doors>, agent: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("agent.sock");
        let hub = Hub::start_on(doors, &socket, agent).unwrap();
        Self { guest, hub: Some(hub), socket, _folder: folder }
    }

    pub(crate) fn client(&self) -> HubClient {
        let client = HubClient::connect(&self.socket).unwrap();
        client.set_patience(Some(PATIENCE)).unwrap();
        client
    }

    /// One request on a connection of its own.
    pub(crate) fn call(&self, request: Value) -> Result<Value, String> {
        ask(&mut self.client(), request)
    }

    /// Calls until `holds` is true of what is in `ok`.
    #[allow(clippy::needless_pass_by_value, reason = "calls are easier to read with json!() in place")]
    pub(crate) fn until(&self, request: Value, holds: impl Fn(&Value) -> bool) {
        until(&request.to_string(), || holds(&self.call(request.clone()).unwrap()));
    }

    pub(crate) fn boot(&self) -> Value {
        self.client().request(&json!({ "op": "ping" })).unwrap()["boot"].clone()
    }
}

/// Tries until `holds`.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < give_up, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

/// One request: what is in `ok`, or the error's code.
#[allow(clippy::needless_pass_by_value, reason = "calls are easier to read with json!() in place")]
pub(crate) fn ask(client: &mut HubClient, request: Value) -> Result<Value, String> {
    let reply = client.request(&request).unwrap();
    match Answer::of(&reply) {
        Answer::Ok(ok) => Ok(ok),
        Answer::Error { code, message, hint } => {
            assert!(!message.is_empty() && !hint.is_empty(), "{reply}");
            Err(code)
        }
        Answer::Other => panic!("no reply: {reply}"),
    }
}

/// The next line from the hub.
pub(crate) fn line(client: &mut HubClient) -> Value {
    serde_json::from_str(&client.receive().unwrap().expect("the hub closed the connection")).unwrap()
}
