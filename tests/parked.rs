//! A peer that stops reading in mid-frame costs the guest nothing, and finds everything in order when it reads again.
//! The long form: `cargo test --test parked -- --ignored --nocapture`.

mod common;

use std::time::{Duration, Instant};

use askr::Machine;
use askr_wire::message::{PingRequest, ReadRequest};
use askr_wire::{FrameType, code};
use common::PATIENCE;
use common::peer::{Peer, bytes, counters};
use common::shell::Askr;

/// How long the peer does not read, in every run of the tests and in the long one.
const PARKED: Duration = Duration::from_secs(30);
const PARKED_LONG: Duration = Duration::from_secs(60);
/// How long the same is measured undisturbed, before and after.
const CONTROL: Duration = Duration::from_secs(10);
/// KiB of memory that may be used for what comes and goes.
const SLACK: u64 = 32;
/// Requests whose answers the peer does not read.
const REQUESTS: usize = 32;
/// A key may always take this long to come back: a busy host stops QEMU for such times by itself.
const ECHO_FLOOR: Duration = Duration::from_millis(500);
/// How many times the worst echo of the undisturbed guest is still good.
const ECHO_FACTOR: u32 = 4;
/// Part of the undisturbed rate of ticks that there must be. QEMU loses ticks by itself when the host is busy.
const TICKS_PART: f64 = 0.5;

/// What a person and the timer notice in a stretch of time.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// Timer interrupts for each second of the guest's own clock.
    ticks_per_second: f64,
    /// Longest time between a key and its echo.
    worst_echo: Duration,
    median_echo: Duration,
}

/// Seconds and ticks since boot.
fn clock_and_ticks(askr: &mut Askr) -> (f64, u64) {
    let shown = askr.run("cat /proc/uptime /proc/bus");
    (shown.split(' ').next().unwrap().parse().unwrap(), counters(&shown)["ticks"])
}

fn stalls(askr: &mut Askr) -> u64 {
    counters(&askr.run("cat /proc/bus"))["link_stalls"]
}

fn measure(askr: &mut Askr, time: Duration) -> Measured {
    let (from, ticks) = clock_and_ticks(askr);
    let until = Instant::now() + time;
    let mut echoes = Vec::new();
    while Instant::now() < until {
        // A letter, and the key that erases it: the cursor goes back at least.
        for (key, echo) in [(b"x", "x"), (b"\x7f", "\x08")] {
            let typed = Instant::now();
            askr.type_bytes(key).unwrap();
            askr.expect(echo);
            echoes.push(typed.elapsed());
        }
    }
    let (to, more_ticks) = clock_and_ticks(askr);
    echoes.sort_unstable();
    Measured {
        ticks_per_second: (more_ticks - ticks) as f64 / (to - from),
        worst_echo: echoes[echoes.len() - 1],
        median_echo: echoes[echoes.len() / 2],
    }
}

#[test]
fn a_peer_that_stops_reading_costs_nothing() {
    parked_costs_nothing(PARKED);
}

#[test]
#[ignore = "takes a minute and a half"]
fn a_peer_that_stops_reading_for_a_minute_costs_nothing() {
    parked_costs_nothing(PARKED_LONG);
}

fn parked_costs_nothing(time: Duration) {
    let mut askr = Askr::boot(&Machine::new());
    // The tick rests unless a program computes.
    askr.run("spin &");
    let before = measure(&mut askr, CONTROL);
    let memory = askr.memory();

    let mut peer = Peer::connect_without_reading(askr.vm());
    let read = bytes(&ReadRequest { offset: 0, len: u32::MAX, path: b"/bin/sh" });
    // As much as the guest takes on at once. Not more later: each good frame is a sign that the peer will read.
    for _ in 0..REQUESTS {
        peer.send(code::READ, &read);
    }
    let until = Instant::now() + PATIENCE;
    while stalls(&mut askr) == 0 {
        assert!(Instant::now() < until, "the line never stood still");
    }
    let parked = measure(&mut askr, time);
    assert!(askr.run("cat /proc/bus").contains("stalled true\r\n"));
    assert!(askr.run("hello").starts_with("hello from pid "));

    // What was cut is broken, once for each time that the line stood still; all after it is whole.
    let stalls = stalls(&mut askr);
    peer.begin_to_read();
    peer.hello();
    peer.keep_alive();
    peer.ok(code::PING, &bytes(&PingRequest { counter: 4711 }));
    let sh = peer.read("/bin/sh");
    assert!(sh.starts_with(b"\x7fELF") && sh.len() > 4000);
    assert!(peer.errors.len() as u64 <= stalls, "{stalls} stalls, and broken: {:?}", peer.errors);
    assert!(askr.run("cat /proc/bus").contains("stalled false\r\n"));

    drop(peer);
    askr.expect_memory(memory, SLACK);
    let after = measure(&mut askr, CONTROL);
    eprintln!("undisturbed {before:?}\nparked      {parked:?}\nundisturbed {after:?}");
    let worst = before.worst_echo.max(after.worst_echo) * ECHO_FACTOR + ECHO_FLOOR;
    assert!(parked.worst_echo <= worst, "a key took {:?}", parked.worst_echo);
    let median = before.median_echo.max(after.median_echo) * ECHO_FACTOR + ECHO_FLOOR / 10;
    assert!(parked.median_echo <= median, "half of the keys took over {:?}", parked.median_echo);
    let ticks = before.ticks_per_second.min(after.ticks_per_second) * TICKS_PART;
    assert!(parked.ticks_per_second >= ticks, "{} ticks a second", parked.ticks_per_second);
}

#[test]
fn a_peer_that_talks_and_never_reads_is_found_out_and_may_read_again() {
    let mut askr = Askr::boot(&Machine::new());
    let mut peer = Peer::connect_without_reading(askr.vm());
    let read = bytes(&ReadRequest { offset: 0, len: u32::MAX, path: b"/bin/sh" });
    for found in 1..=2 {
        let until = Instant::now() + PATIENCE;
        while stalls(&mut askr) < found {
            assert!(Instant::now() < until, "{found}: a peer that talks holds the line for ever");
            // Every good frame is a sign that it may read again, and must not put off the line's deadline.
            for _ in 0..REQUESTS {
                peer.send(code::READ, &read);
            }
        }
    }
    // It is attached by what it says. A program that asks has its own time, and is told the truth.
    assert!(askr.run("cat /proc/bus").starts_with("attached true\r\n"));
    assert_eq!(askr.run("ask -t 1 anybody"), "ask: nobody answered in time (ETIMEDOUT)\r\n");
    assert!(askr.run("hello").starts_with("hello from pid "));

    peer.begin_to_read();
    peer.hello();
    peer.ok(code::PING, &bytes(&PingRequest { counter: 4711 }));
    askr.start("ask \"and now?\"");
    let ask =
        peer.expect("ask", |frame| frame.kind == FrameType::DecisionReq && frame.payload == b"and now?");
    peer.answer(ask.frame.seq, "yes");
    assert_eq!(askr.finish(), "answer: yes\r\ndecided by: agent\r\n");
}
