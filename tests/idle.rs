//! A guest that has nothing to do rests: it takes no interrupts that lead to nothing, and is on time all the same.

mod common;

use std::thread;
use std::time::Duration;

use askr::{Machine, Model};
use common::peer::counters;
use common::shell::{Askr, Shared};

static GUEST: Shared = Shared::new(Machine::new);

/// How long the guest is left alone.
const ALONE: Duration = Duration::from_secs(2);
/// Timer interrupts in a second of a guest that rests, at most: it looks around each second, a ping comes now and then, and
/// what the person types is among them. One that does not rest takes 100.
const RESTING: f64 = 20.0;
/// Seconds after its time at which somebody is woken even on a busy host.
const LATE: f64 = 20.0;

/// Timer interrupts for each second of the guest's own clock, while it is left alone.
fn ticks_per_second(askr: &mut Askr) -> f64 {
    let mut look = || {
        let shown = askr.run("cat /proc/uptime /proc/bus");
        (shown.split(' ').next().unwrap().parse::<f64>().unwrap(), counters(&shown)["ticks"])
    };
    let (from, ticks) = look();
    thread::sleep(ALONE);
    let (to, more_ticks) = look();
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let count = (more_ticks - ticks) as f64;
    count / (to - from)
}

/// The same while nothing runs: the least of three, since the looks take ticks themselves on a busy host.
fn resting(askr: &mut Askr) -> f64 {
    (0..3).map(|_| ticks_per_second(askr)).fold(f64::INFINITY, f64::min)
}

#[test]
fn the_tick_rests_while_there_is_nothing_to_do() {
    let mut askr = GUEST.take();
    let resting = resting(&mut askr);
    assert!(resting <= RESTING, "{resting} ticks in a second");
    askr.run("spin &");
    // QEMU loses ticks when the host is busy.
    let busy = (0..3).map(|_| ticks_per_second(&mut askr)).fold(0.0, f64::max);
    askr.run("kill $!; wait");
    assert!(busy > resting * 2.0, "{busy} ticks in a second of a program that computes, {resting} of none");
}

#[test]
fn it_rests_on_every_kind_of_machine() {
    for model in [Model::Pc, Model::Microvm] {
        let resting = resting(&mut Askr::boot(&Machine::new().model(model)));
        assert!(resting <= RESTING, "{model:?}: {resting} ticks in a second");
    }
}

/// Sleeps for short and long by the guest's own clock.
fn sleeps_in_time(askr: &mut Askr) {
    for seconds in [0.03, 0.3, 2.5] {
        let before = askr.uptime();
        askr.run(&format!("sleep {seconds}"));
        let slept = askr.uptime() - before;
        assert!((seconds..seconds + LATE).contains(&slept), "{slept} s for {seconds} s");
    }
}

#[test]
fn a_deadline_ends_the_rest() {
    sleeps_in_time(&mut GUEST.take());
}

#[test]
fn without_a_local_apic_the_old_timer_ticks() {
    let mut askr = Askr::boot(&Machine::new().cpu("qemu64,-apic"));
    sleeps_in_time(&mut askr);
    let idle = (0..3).map(|_| ticks_per_second(&mut askr)).fold(0.0, f64::max);
    assert!(idle > RESTING, "{idle} ticks in a second");
}
