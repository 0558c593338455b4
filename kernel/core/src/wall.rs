//! The time of day: the monotonic clock from a date on, set right by a clock that shows whole seconds and also goes on
//! while the machine stands still, as under a host that was suspended.

/// Nanoseconds.
type Nanos = u64;

const SECOND: Nanos = 1_000_000_000;
/// Time between two looks at the other clock, and how long the date may be wrong after the machine stood still.
const LOOK_EVERY: Nanos = SECOND / 10;
/// How far the two may differ: the other clock may have shown its second for almost a second already when this one was
/// set, and again when it is compared; and a clock that is measured may go a little wrong between.
const TOLERANCE: Nanos = 2 * SECOND;

/// The time of day as a function of the monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wall {
    /// Since 1970, when the monotonic clock was 0.
    at_zero: Nanos,
    next_look: Nanos,
}

impl Wall {
    /// One that begins in 1970.
    #[must_use]
    pub const fn new() -> Self {
        Self { at_zero: 0, next_look: 0 }
    }

    /// Nanoseconds since 1970 when the monotonic clock shows `now`.
    #[must_use]
    pub const fn at(&self, now: Nanos) -> Nanos {
        self.at_zero.saturating_add(now)
    }

    /// Whether to look at the other clock: ten times a second is enough.
    #[must_use]
    pub const fn is_look_due(&mut self, now: Nanos) -> bool {
        if now < self.next_look {
            return false;
        }
        self.next_look = now.saturating_add(LOOK_EVERY);
        true
    }

    /// Takes the other clock's time, in seconds since 1970, if this one is two seconds off or more.
    pub const fn compare(&mut self, now: Nanos, seconds: u64) {
        let other = seconds.saturating_mul(SECOND);
        if self.at(now).abs_diff(other) >= TOLERANCE {
            self.at_zero = other.saturating_sub(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SECOND, Wall};

    const TODAY: u64 = 1_700_000_000;

    fn set(now: u64) -> Wall {
        let mut wall = Wall::new();
        wall.compare(now, TODAY);
        wall
    }

    #[test]
    fn it_is_set_and_goes_on() {
        let wall = set(5);
        assert_eq!(wall.at(5), TODAY * SECOND);
        assert_eq!(wall.at(7 * SECOND + 5), (TODAY + 7) * SECOND);
    }

    #[test]
    fn a_clock_of_whole_seconds_does_not_set_it_off() {
        let mut wall = set(0);
        let exact = wall;
        for (now, seconds) in [(0, 0), (SECOND - 1, 0), (0, 1), (9 * SECOND + 1, 10), (10 * SECOND - 1, 9)] {
            wall.compare(now, TODAY + seconds);
            assert_eq!(wall.at(0), exact.at(0), "{now} {seconds}");
        }
    }

    #[test]
    fn after_a_time_that_was_lost_it_shows_the_date_again() {
        let mut wall = set(0);
        wall.compare(3 * SECOND, TODAY + 43);
        assert_eq!(wall.at(3 * SECOND), (TODAY + 43) * SECOND);
        wall.compare(4 * SECOND, TODAY);
        assert_eq!(wall.at(4 * SECOND), TODAY * SECOND, "also back");
    }

    #[test]
    fn it_looks_ten_times_a_second_at_most() {
        const PART: u64 = SECOND / 10;
        let mut wall = Wall::new();
        let looks = [0, 1, PART - 1, PART, PART + 1, 9 * PART, 10 * PART - 1, 10 * PART];
        assert_eq!(
            looks.map(|now| wall.is_look_due(now)),
            [true, false, false, true, false, true, false, true]
        );
    }

    #[test]
    fn absurd_times_are_the_last_ones() {
        let mut wall = Wall::new();
        wall.compare(u64::MAX, u64::MAX);
        assert_eq!(wall.at(u64::MAX), u64::MAX);
        wall.compare(0, 0);
        assert_eq!(wall.at(0), 0);
    }
}
