//! `/proc/timeline`: when the kernel passed its points.

mod common;

use std::str::FromStr;

use askr::Machine;
use askr_wire::code;
use askr_wire::status::Status;
use common::peer::Peer;
use common::shell::{Askr, Shared, number_after};

static GUEST: Shared = Shared::new(Machine::new);

/// Moments that are kept.
const RING: usize = 2048;

struct Timeline {
    lost: u64,
    /// Microseconds, point, number.
    moments: Vec<(i64, String, u64)>,
}

impl Timeline {
    fn of(askr: &mut Askr) -> Self {
        askr.run("cat /proc/timeline").parse().unwrap()
    }

    /// Where these points come, one after the other.
    #[track_caller]
    fn find(&self, points: &[(&str, u64)]) -> Vec<usize> {
        let mut from = 0;
        let mut places = Vec::new();
        for &(point, number) in points {
            let found = self.moments[from..].iter().position(|(_, name, of)| name == point && *of == number);
            from +=
                found.unwrap_or_else(|| panic!("no {point} {number} after {from}: {:?}", self.moments)) + 1;
            places.push(from - 1);
        }
        places
    }
}

impl FromStr for Timeline {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut lines = text.lines();
        let lost = lines.next().unwrap_or_default().trim_start_matches("lost ").parse()?;
        let moment = |line: &str| {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap_or_default().to_owned();
            Ok((word().parse()?, word(), word().parse()?))
        };
        Ok(Self { lost, moments: lines.map(moment).collect::<Result<_, _>>()? })
    }
}

#[test]
fn a_boot_is_told_from_its_first_stage_to_the_prompt() {
    let mut askr = Askr::boot(&Machine::new());
    let timeline = Timeline::of(&mut askr);
    assert_eq!(timeline.lost, 0);
    let mut points: Vec<_> = (0..=5).map(|stage| ("boot", stage)).collect();
    points.extend([("start", 1), ("fork", 2), ("start", 2)]);
    let places = timeline.find(&points);
    let rest = &timeline.moments[places[places.len() - 1]..];
    assert!(rest.iter().any(|moment| moment.1 == "read"), "the shell has asked for a command: {rest:?}");
    // The clock is set between the stages 1 and 2, and nothing is told out of its order.
    assert!(
        timeline.moments[places[1]].0 < 0 && timeline.moments[places[2]].0 >= 0,
        "{:?}",
        timeline.moments
    );
    assert!(timeline.moments.is_sorted_by_key(|moment| moment.0), "{:?}", timeline.moments);
}

#[test]
fn a_program_is_told_from_its_fork_to_its_end() {
    let mut askr = GUEST.take();
    let pid = number_after(&askr.run("hello"), "hello from pid ");
    let points = [("fork", pid), ("start", pid), ("end", pid), ("zombie", pid)];
    Timeline::of(&mut askr).find(&points);
}

#[test]
fn frames_are_told_and_what_is_lost_is_counted() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for _ in 0..RING {
        assert_eq!(peer.path_status(code::STAT, b"/proc/version"), Status::Ok);
    }
    let timeline = Timeline::of(&mut askr);
    assert!(
        timeline.lost > 0 && timeline.moments.len() == RING,
        "{} {}",
        timeline.lost,
        timeline.moments.len()
    );
    for point in ["interrupt", "frame-in", "answer", "frame-out"] {
        let count = timeline.moments.iter().filter(|moment| moment.1 == point).count();
        assert!(count > RING / 32, "{count} times {point}");
    }
}
