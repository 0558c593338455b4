//! How much faster the data door is than COM2: `cargo bench --bench doors`.
//!
//! Two guests run side by side, one whose hub has COM2 only and one whose hub has both doors. They are measured in turn, so
//! that whatever else the machine does slows both; what counts are the ratios of one run.

use std::path::Path;
use std::time::{Duration, Instant};

use askr::{Guest, Machine};
use host_bridge::client::HubClient;
use host_bridge::hub::{Hub, HubConfig};
use host_bridge::json::Answer;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How often each is measured: pings, and transfers of a file.
const PINGS: usize = 300;
const TRANSFERS: usize = 3;
/// Sizes of files, in MiB.
const SIZES: [usize; 2] = [1, 8];
/// Most bytes in one line to the hub, less than it takes.
const PIECE: usize = 2 << 20;
/// Longest that anything may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// The same for a request.
const TIMEOUT_MS: u64 = 110_000;
/// What the shell shows when the guest has booted.
const PROMPT: &str = "askr$ ";

fn main() {
    let mut com2 = Side::new("com2", &Machine::new().memory_mib(256).without_data_door());
    let mut data = Side::new("data", &Machine::new().memory_mib(256));
    println!("{:<16} {:>14} {:>14}   ratio", "", "COM2", "data door");
    compare("PING", PINGS, &mut com2, &mut data, None, |side| side.ping());
    for mib in SIZES {
        let content = "0123456789abcdef".repeat(mib << 16);
        let bytes = Some(content.len());
        compare(&format!("write {mib} MiB"), TRANSFERS, &mut com2, &mut data, bytes, |side| {
            side.write(&content)
        });
        compare(&format!("read {mib} MiB"), TRANSFERS, &mut com2, &mut data, bytes, |side| {
            side.read(&content)
        });
    }
}

/// Measures both in turn and prints the medians: times, or with a number of bytes rates.
fn compare(
    what: &str,
    rounds: usize,
    com2: &mut Side,
    data: &mut Side,
    bytes: Option<usize>,
    mut measure: impl FnMut(&mut Side) -> Duration,
) {
    let (mut slow, mut fast) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        slow.push(measure(com2));
        fast.push(measure(data));
    }
    let (slow, fast) = (median(&mut slow), median(&mut fast));
    let shown = |time: Duration| match bytes {
        None => format!("{} us", time.as_micros()),
        Some(bytes) => format!("{:.2} MB/s", bytes as f64 / 1e6 / time.as_secs_f64()),
    };
    let ratio = slow.as_secs_f64() / fast.as_secs_f64();
    println!("{what:<16} {:>14} {:>14}   {ratio:.1} times as fast", shown(slow), shown(fast));
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A guest and its hub.
struct Side {
    client: HubClient,
    _hub: Hub,
    _folder: TempDir,
    _guest: Guest,
}

impl Side {
    fn new(door: &str, machine: &Machine) -> Self {
        let mut guest = machine.start().expect("QEMU");
        guest.wait_for(PROMPT, PATIENCE).expect("a prompt");
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("agent.sock");
        let vm = guest.vm();
        let config =
            HubConfig { com2: vm.com2_path(), data: vm.data_path(), socket: socket.clone(), agent: false };
        let hub = Hub::start(config).expect("a hub");
        hub.wait_ready(PATIENCE).expect("a session");
        let mut side = Self { client: client(&socket), _hub: hub, _folder: folder, _guest: guest };
        let begun = Instant::now();
        while side.call(&json!({ "op": "status" }))["door"] != door {
            assert!(begun.elapsed() < PATIENCE, "the hub is not at {door}");
        }
        side
    }

    fn call(&mut self, request: &Value) -> Value {
        let reply = self.client.request(request).expect("a reply");
        match Answer::of(&reply) {
            Answer::Ok(ok) => ok,
            _ => panic!("{reply}"),
        }
    }

    fn ping(&mut self) -> Duration {
        let pong = self.call(&json!({ "op": "ping" }));
        Duration::from_micros(pong["round_trip_us"].as_u64().expect("a number"))
    }

    fn write(&mut self, content: &str) -> Duration {
        let pieces =
            (0..content.len()).step_by(PIECE).map(|at| (at, &content[at..content.len().min(at + PIECE)]));
        let requests: Vec<Value> = pieces
            .map(|(at, piece)| json!({ "op": "fs.write", "path": "/tmp/file", "content": piece, "offset": at, "timeout_ms": TIMEOUT_MS }))
            .collect();
        let started = Instant::now();
        for request in &requests {
            self.call(request);
        }
        started.elapsed()
    }

    fn read(&mut self, content: &str) -> Duration {
        let started = Instant::now();
        let reply = self.call(&json!({ "op": "fs.read", "path": "/tmp/file", "timeout_ms": TIMEOUT_MS }));
        let took = started.elapsed();
        assert!(reply["content"] == content, "other bytes came back");
        took
    }
}

fn client(socket: &Path) -> HubClient {
    let client = HubClient::connect(socket).expect("a hub");
    client.set_patience(Some(PATIENCE)).expect("a time over zero");
    client
}
