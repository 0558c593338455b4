//! The rest of the tick, on a timer that is wrong by a few per cent either way.

use askr_core::rest::{REST_MAX, Rest};
use proptest::prelude::*;

/// What the timer is set to: the tick, or an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Tick,
    Alarm(u64),
    /// An alarm that came.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The machine idles, with the earliest deadline so far away.
    Idle(u64),
    /// The timer's interrupt comes, so many per mille of the way to its time early.
    Timer(u64),
    /// So much time passes with other interrupts.
    Pass(u64),
    /// A program runs.
    Program,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop_oneof![0..20_000_000_u64, Just(u64::MAX)].prop_map(Step::Idle),
        4 => (0..100_u64).prop_map(Step::Timer),
        2 => (0..3_000_000_000_u64).prop_map(Step::Pass),
        1 => Just(Step::Program),
    ]
}

proptest! {
    /// A machine that idles always has a timer that will come, and none comes later than the deadline.
    #[test]
    fn whoever_idles_is_woken_in_time(steps in prop::collection::vec(step(), 1..200)) {
        let (mut rest, mut timer, mut now) = (Rest::new(), Timer::Tick, 1_u64);
        for step in steps {
            match step {
                Step::Idle(away) => {
                    let deadline = now.saturating_add(away);
                    if let Some(alarm) = rest.until(now, deadline) {
                        timer = Timer::Alarm(alarm);
                    }
                    let Timer::Alarm(alarm) = timer else { panic!("it rests with {timer:?}") };
                    prop_assert!(rest.rests() && alarm <= deadline.min(now + REST_MAX));
                }
                Step::Timer(early) => match timer {
                    Timer::Tick => now += 10_000_000,
                    Timer::Alarm(alarm) => {
                        now = now.max(alarm - alarm.saturating_sub(now) * early / 1000);
                        timer = Timer::Nothing;
                        rest.on_alarm();
                    }
                    Timer::Nothing => {}
                },
                // An alarm whose time has come is an interrupt, too.
                Step::Pass(time) => match timer {
                    Timer::Alarm(alarm) if alarm <= now + time => {
                        (now, timer) = (alarm.max(now), Timer::Nothing);
                        rest.on_alarm();
                    }
                    _ => now += time,
                },
                Step::Program => {
                    let starts = rest.end();
                    prop_assert_eq!(starts, timer != Timer::Tick);
                    timer = Timer::Tick;
                }
            }
        }
    }
}

#[test]
fn an_alarm_that_comes_in_time_is_not_set_again() {
    let mut rest = Rest::new();
    assert_eq!(rest.until(100, 5_000), Some(5_000));
    assert_eq!(rest.until(200, 6_000), None, "the earlier one stands");
    assert_eq!(rest.until(300, 4_000), Some(4_000));
    rest.on_alarm();
    assert_eq!(rest.until(3_900, 4_000), Some(4_000), "it came too early");
    assert!(rest.end() && !rest.end());
    assert_eq!(rest.until(5_000, u64::MAX), Some(5_000 + REST_MAX));
}
