//! The thread that asks for the figures of guest and link, over a connection of its own: a guest that is slow to answer
//! holds up no line.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use host_bridge::client::HubClient;
use host_bridge::json::Answer;
use serde_json::{Value, json};

use super::{Message, socket};

/// Longest time for the guest to answer.
const ANSWER_MS: u64 = 3000;
/// Longest time for the hub to say something.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why there are no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// There is no hub.
    NoHub,
    /// The hub has no guest, or none that answers.
    NoGuest,
    /// The hub itself does not answer.
    Silent,
}

/// Asks until nobody listens any more.
pub(super) fn run(named: &Option<PathBuf>, every: Duration, messages: &SyncSender<Message>) {
    let mut hub = None;
    loop {
        let figures = look(named, &mut hub);
        if figures.is_err() {
            hub = None;
        }
        if messages.send(Message::Figures(figures)).is_err() {
            return;
        }
        thread::sleep(every);
    }
}

/// `stats` and `ping` in one object, with the `boot` that they are of.
fn look(named: &Option<PathBuf>, hub: &mut Option<HubClient>) -> Result<Value, Missing> {
    if hub.is_none() {
        *hub = connect(named);
    }
    let hub = hub.as_mut().ok_or(Missing::NoHub)?;
    let (boot, pong) = ask(hub, "ping")?;
    let (_, mut figures) = ask(hub, "stats")?;
    figures["ping"] = pong;
    Ok(json!({ "boot": boot, "stats": figures }))
}

fn connect(named: &Option<PathBuf>) -> Option<HubClient> {
    let client = HubClient::connect(&socket(named).ok()?).ok()?;
    client.set_patience(Some(PATIENCE)).ok()?;
    Some(client)
}

fn ask(hub: &mut HubClient, op: &str) -> Result<(Value, Value), Missing> {
    let reply =
        hub.request(&json!({ "op": op, "timeout_ms": ANSWER_MS })).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Missing::Silent,
            _ => Missing::NoHub,
        })?;
    match Answer::of(&reply) {
        Answer::Ok(ok) => Ok((reply["boot"].clone(), ok)),
        _ => Err(Missing::NoGuest),
    }
}
