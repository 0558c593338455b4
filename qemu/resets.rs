//! Tells a guest that is restarted from one that cannot stay up.

use std::time::{Duration, Instant};

/// A guest that resets itself so soon after its start has not done what it was started for.
pub(crate) const SHORT: Duration = Duration::from_secs(10);
/// After so many short lives in a row it is not started again. Firmware may need two for each start: SeaBIOS resets the
/// machine once more when it was not switched on.
const SHORT_MAX: u32 = 10;

/// The lives of one guest.
pub(crate) struct Lives {
    began: Instant,
    short: u32,
}

impl Lives {
    pub(crate) const fn new(began: Instant) -> Self {
        Self { began, short: 0 }
    }

    /// The guest has reset itself, and its next life begins. Returns whether it should rather end.
    pub(crate) fn reset(&mut self, now: Instant) -> bool {
        let was_short = now.saturating_duration_since(self.began) < SHORT;
        self.short = if was_short { self.short + 1 } else { 0 };
        self.began = now;
        self.short >= SHORT_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the guest ends after lives of so many seconds, for each of them.
    fn ends(lives: &[u64]) -> Vec<bool> {
        let mut now = Instant::now();
        let mut guest = Lives::new(now);
        let mut live = |&seconds| {
            now += Duration::from_secs(seconds);
            guest.reset(now)
        };
        lives.iter().map(&mut live).collect()
    }

    #[test]
    fn ten_short_lives_in_a_row_are_enough() {
        let last = |lives: &[u64]| (ends(lives).iter().filter(|&&ends| ends).count(), ends(lives).pop());
        assert_eq!(last(&[1; 10]), (1, Some(true)));
        assert_eq!(last(&[0; 10]), (1, Some(true)));
        assert_eq!(last(&[60, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]), (1, Some(true)));
    }

    #[test]
    fn one_that_stays_up_is_restarted_as_often_as_it_likes() {
        assert_eq!(ends(&[10; 20]), [false; 20]);
        assert_eq!(ends(&[1, 0, 10, 0, 10, 0, 10, 0, 1, 0, 1, 0, 10, 0]), [false; 14]);
    }
}
