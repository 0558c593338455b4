//! Ends a job that nobody waits for any more: the call was cancelled, or its client is gone.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use host_bridge::client::HubClient;
use host_bridge::json::{Answer, Problem};
use serde_json::{Value, json};

/// How long a hub is tried that takes no more clients. Then the guest ends the job at its deadline.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a hub that takes the request may take to reply.
const REPLY: Duration = Duration::from_secs(1);

/// Those that are not done yet.
static AT_WORK: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Kills its job when it is dropped.
pub(super) struct Killer {
    pub(super) hub: PathBuf,
    pub(super) job: Option<u32>,
    pub(super) boot: String,
}

impl Killer {
    pub(super) fn disarm(mut self) {
        self.job = None;
    }
}

impl Drop for Killer {
    fn drop(&mut self) {
        let Some(job) = self.job else { return };
        let request = json!({ "op": "proc.kill", "job": job, "signal": "KILL", "boot": self.boot });
        let hub = self.hub.clone();
        // Whoever drops it serves all calls of the client and must not wait. Without a thread the guest ends the job at its
        // deadline.
        let Ok(handle) = thread::Builder::new().spawn(move || kill(&hub, &request)) else { return };
        let mut at_work = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.retain(|handle| !handle.is_finished());
        at_work.push(handle);
    }
}

/// Waits until all jobs have been killed, as long as that is tried.
pub(in crate::mcp) fn finish() {
    let at_work = std::mem::take(&mut *AT_WORK.lock().unwrap_or_else(PoisonError::into_inner));
    for handle in at_work {
        // One that panicked has said so.
        let _ = handle.join();
    }
}

fn kill(hub: &Path, request: &Value) {
    let give_up = Instant::now() + PATIENCE;
    while Instant::now() < give_up && is_turned_away(hub, request) {
        thread::sleep(PAUSE);
    }
}

/// Sends the request. Returns whether the hub took no more clients; without a hub there is nothing left to end.
fn is_turned_away(hub: &Path, request: &Value) -> bool {
    let Ok(mut client) = HubClient::connect(hub) else { return false };
    let reply = client.set_patience(Some(REPLY)).and_then(|()| client.request(request));
    reply.is_ok_and(|reply| {
        matches!(Answer::of(&reply), Answer::Error { code, .. } if code == Problem::TooManyClients.code())
    })
}
