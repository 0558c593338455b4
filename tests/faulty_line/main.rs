//! A line on which things go wrong between the bridge and the guest: every request gets the right answer or an error that
//! says that the line is to blame, nothing happens twice, and the guest's own programs do not notice.

#[path = "../common/mod.rs"]
mod common;

mod line;
mod load;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use askr::Machine;
use askr::Vm;
use common::PATIENCE;
use common::peer::counters;
use common::program::program;
use common::shell::{Askr, Shared};
use host_bridge::Hub;
use host_bridge::link::{Connect, Doors};
use line::{Fault, Line};
use load::{Client, LOOK_EVERY, Tally};

/// Clients at a time.
const CLIENTS: usize = 8;
/// Requests of all clients with one kind of fault, with all kinds, and with all kinds in the long form.
const REQUESTS: usize = 200;
const MIXED_REQUESTS: usize = 1_600;
/// The same on the data door: with one kind, and with all kinds on both doors.
const DATA_REQUESTS: usize = 80;
const BOTH_REQUESTS: usize = 800;
const LONG_REQUESTS: usize = 10_000;
/// The same on a good line, before and after.
const CONTROL_REQUESTS: usize = 1_000;
/// Names the run: the same faults at the same places, as far as the timing allows.
const SEED: u64 = 0x5eed;
/// The worst gap that the guest's programs may notice, against that of the same load on a good line.
const GAP_FACTOR: f64 = 2.0;
/// A gap may always be so long: the machine that the test runs on stops QEMU for such times by itself.
const GAP_FLOOR: Duration = Duration::from_millis(500);

static GUEST: Shared = Shared::new(|| Machine::new().with(program("gaps")));

/// Makes requests from all clients at once, and checks at the end that nothing happened twice.
fn load(socket: &Path, requests: usize, seed: u64) -> Vec<Tally> {
    let clients = (0..CLIENTS).map(|number| {
        let socket = socket.to_owned();
        thread::spawn(move || {
            let mut client = Client::new(&socket, number, seed);
            client.prepare();
            for _ in 0..requests / CLIENTS {
                client.request();
            }
            client
        })
    });
    // All of them before any is waited for.
    let clients: Vec<_> = clients.collect();
    clients.into_iter().map(|client| client.join().unwrap()).map(settled).collect()
}

/// Reads the log until the line lets it through.
fn settled(mut client: Client) -> Tally {
    let until = Instant::now() + PATIENCE;
    while let Err(lost) = client.read_log() {
        assert!(Instant::now() < until, "{lost:?}");
        thread::sleep(LOOK_EVERY);
    }
    client.tally
}

/// A hub on a line of the guest's, to COM2.
fn hub(vm: &Vm, socket: &Path, faults: &[Fault], seed: u64) -> (Hub, Line) {
    let line = Line::new(vm.com2_path(), faults, seed);
    (hub_on(line.connect(), socket), line)
}

fn hub_on(doors: impl Into<Doors>, socket: &Path) -> Hub {
    let hub = Hub::start_on(doors, socket, false).unwrap();
    hub.wait_ready(PATIENCE).unwrap();
    hub
}

/// A line that nobody can connect to.
fn no_line() -> Connect {
    Box::new(|| Err(std::io::ErrorKind::NotFound.into()))
}

fn report(what: &str, tallies: &[Tally], line: &Line, took: Duration) {
    let right: u64 = tallies.iter().map(|tally| tally.right).sum();
    let mut errors: Vec<&str> = tallies.iter().flat_map(|tally| &tally.errors).map(String::as_str).collect();
    errors.sort_unstable();
    let faults = line.count.load(Ordering::Relaxed);
    eprintln!("{what}: {right} right, {faults} faults, {took:.1?}, errors {errors:?}");
}

#[test]
fn each_kind_of_fault_costs_time_and_nothing_else() {
    let mut askr = GUEST.take();
    let folder = tempfile::tempdir().unwrap();
    for (number, fault) in Fault::ALL.into_iter().enumerate() {
        let socket = folder.path().join(format!("{number}.sock"));
        let (_hub, line) = hub(askr.vm(), &socket, &[fault], SEED + number as u64);
        line.faulty.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        let tallies = load(&socket, REQUESTS, SEED + number as u64);
        report(&format!("{fault:?}"), &tallies, &line, begun.elapsed());
        let lost = tallies.iter().map(|tally| tally.errors.len()).sum::<usize>();
        assert!(lost * 20 <= REQUESTS, "{fault:?}: {lost} of {REQUESTS} requests were lost");
        assert!(askr.run("hello").starts_with("hello from pid "));
    }
}

#[test]
fn each_kind_of_fault_on_the_data_door_alone_costs_no_more() {
    let mut askr = GUEST.take();
    let folder = tempfile::tempdir().unwrap();
    for (number, fault) in Fault::ALL.into_iter().enumerate() {
        let socket = folder.path().join(format!("{number}.sock"));
        let line = Line::new(askr.vm().data_path().unwrap(), &[fault], SEED + number as u64);
        let _hub = hub_on(Doors { com2: no_line(), data: Some(line.connect()) }, &socket);
        line.faulty.store(true, Ordering::Relaxed);
        let begun = Instant::now();
        let tallies = load(&socket, DATA_REQUESTS, SEED + number as u64);
        report(&format!("{fault:?}, data door"), &tallies, &line, begun.elapsed());
        let lost = tallies.iter().map(|tally| tally.errors.len()).sum::<usize>();
        assert!(lost * 20 <= DATA_REQUESTS, "{fault:?}: {lost} of {DATA_REQUESTS} requests were lost");
    }
}

#[test]
fn with_every_fault_on_both_doors_every_request_is_answered_right_or_told_to_be_lost() {
    let mut askr = GUEST.take();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let com2 = Line::new(askr.vm().com2_path(), &Fault::ALL, SEED);
    let data = Line::new(askr.vm().data_path().unwrap(), &Fault::ALL, SEED + 1);
    let _hub = hub_on(Doors { com2: com2.connect(), data: Some(data.connect()) }, &socket);
    for line in [&com2, &data] {
        line.faulty.store(true, Ordering::Relaxed);
    }
    let begun = Instant::now();
    let tallies = load(&socket, BOTH_REQUESTS, SEED);
    report("both doors", &tallies, &data, begun.elapsed());
    let lost = tallies.iter().map(|tally| tally.errors.len()).sum::<usize>();
    assert!(lost * 20 <= BOTH_REQUESTS, "{lost} of {BOTH_REQUESTS} requests were lost");
    assert!(askr.run("hello").starts_with("hello from pid "));
}

/// What the guest's own programs noticed in the meantime, by the guest's clock: the worst gap and the median.
fn gaps_during<T>(askr: &mut Askr, work: impl FnOnce(&mut Askr) -> T) -> (Duration, Duration, T) {
    askr.run("rm -f /tmp/stop /tmp/gaps");
    askr.run("gaps > /tmp/gaps &");
    let result = work(askr);
    askr.run("echo > /tmp/stop");
    askr.run("wait");
    let shown = askr.run("cat /tmp/gaps");
    let words: Vec<&str> = shown.split_whitespace().collect();
    let number = |name: &str| {
        let at = words.iter().position(|word| *word == name).unwrap_or_else(|| panic!("{shown:?}"));
        Duration::from_micros(words[at + 1].parse().unwrap())
    };
    (number("worst"), number("median"), result)
}

#[test]
fn requests_of_all_kinds_over_a_line_with_every_fault() {
    mixed(MIXED_REQUESTS);
}

/// Takes some minutes: `cargo test --test faulty_line ten_thousand -- --ignored --nocapture`.
#[test]
#[ignore = "the long form of requests_of_all_kinds_over_a_line_with_every_fault"]
fn ten_thousand_requests_over_a_line_with_every_fault() {
    mixed(LONG_REQUESTS);
}

fn mixed(requests: usize) {
    let mut askr = GUEST.take();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("agent.sock");
    let (hub, line) = hub(askr.vm(), &socket, &Fault::ALL, SEED);
    // The same load before and after, on the good line.
    let control = |askr: &mut Askr| gaps_during(askr, |_| load(&socket, CONTROL_REQUESTS, SEED)).0;
    let before = control(&mut askr);

    line.faulty.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    let (worst, median, tallies) = gaps_during(&mut askr, |_| load(&socket, requests, SEED));
    line.faulty.store(false, Ordering::Relaxed);
    report("mixed", &tallies, &line, begun.elapsed());
    let lost = tallies.iter().map(|tally| tally.errors.len()).sum::<usize>();
    assert!(lost * 20 <= requests, "{lost} of {requests} requests were lost");

    let after = control(&mut askr);
    eprintln!(
        "worst gap: {before:?} undisturbed, {worst:?} with faults (median {median:?}), {after:?} undisturbed"
    );
    let allowed = before.max(after).mul_f64(GAP_FACTOR).max(GAP_FLOOR);
    assert!(worst <= allowed, "a program slept {worst:?} too long, {allowed:?} are allowed");

    // The counters add up: whatever came in as a whole frame was one of these, and there were no asks.
    drop(hub);
    let seen = counters(&askr.run("cat /proc/bus"));
    let kinds = [
        "requests",
        "replayed",
        "repeated",
        "refused",
        "pings",
        "sessions",
        "hellos_repeated",
        "frames_unexpected",
    ];
    let sum: u64 = kinds.iter().map(|kind| seen[*kind]).sum();
    assert_eq!(seen["frames_in"], sum, "{seen:?}");
    assert!(seen["frame_error_crc"] > 0 && seen["replayed"] > 0, "the line was faulty: {seen:?}");
}
