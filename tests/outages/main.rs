//! What comes between an agent and a booted guest, and what must hold then: replies that are lost, a guest that reboots,
//! stands still or is set back to a snapshot, a bridge that is killed, a peer that is slow or wants too much at
//! once. Nothing is done twice, nothing is
//! told wrong, and all go on soon after.
//!
//! The long forms: `cargo test --test outages -- --ignored --nocapture`.

#[path = "../common/mod.rs"]
mod common;

mod killed;
mod once;
mod paused;
mod reboots;
mod rewound;
mod slow;
mod window;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use askr::{Disk, Machine};
use common::bridge::Bridge;
use common::program::program;
use common::shell::{Askr, Shared};
use common::until;
use serde_json::json;

/// For the tests that need no machine of their own.
static GUEST: Shared = Shared::new(machine);

/// How far the guest's date may be off: the host's clock is read in seconds, and the test may be held up between.
const DATE_OFF: Duration = Duration::from_secs(5);

/// KiB of memory that may be used for what comes and goes.
const SLACK: u64 = 64;

/// It starts again when it resets itself. What it writes to its disk goes to an overlay (qcow2), which can hold snapshots.
fn machine() -> Machine {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outages.img");
    File::create(&path).unwrap().set_len(16 << 20).unwrap();
    Machine::new().restarts().disk(Disk::open(&path, true).unwrap()).with(program("count"))
}

/// A time of the guest's own clocks: since boot, and the date since 1970.
fn clocks(bridge: &Bridge) -> (Duration, Duration) {
    let info = bridge.ok(json!({ "op": "sys.info" }));
    let time = |name: &str| Duration::from_nanos(info[name].as_u64().unwrap());
    (time("uptime_ns"), time("unix_ns"))
}

/// The guest's date is that of the host, or is set right as soon as it runs again.
#[track_caller]
fn has_the_right_date(bridge: &Bridge) {
    until("the right date", || {
        let (_, guest) = clocks(bridge);
        guest.abs_diff(SystemTime::now().duration_since(UNIX_EPOCH).unwrap()) < DATE_OFF
    });
}

/// The person at the console is served, and sleeps as long as told.
#[track_caller]
fn is_served(askr: &mut Askr) {
    assert!(askr.run("hello").starts_with("hello from pid "));
    let before = askr.uptime();
    askr.run("sleep 0.5");
    let slept = askr.uptime() - before;
    assert!((0.5..20.0).contains(&slept), "half a second took {slept} s");
}
