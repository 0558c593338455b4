//! When the tick of a machine that has nothing to do rests (a dynamic tick), and which alarm, a one-shot timer, stands in
//! for it.

/// The longest rest in nanoseconds: an alarm comes late in proportion to its time, because the timer's scale is not exact.
pub const REST_MAX: u64 = 1_000_000_000;

/// Whether the tick rests. Times are nanoseconds of one clock.
#[derive(Debug)]
pub struct Rest {
    rests: bool,
    /// When the alarm comes that was set; `None` when none is.
    alarm: Option<u64>,
}

impl Rest {
    /// The tick runs.
    #[must_use]
    pub const fn new() -> Self {
        Self { rests: false, alarm: None }
    }

    /// Whether the tick rests. Who then adds a deadline tells it by [`Rest::until`].
    #[must_use]
    pub const fn rests(&self) -> bool {
        self.rests
    }

    /// Nothing is to be done before `deadline`: the tick rests from now on. Returns when the alarm is to be set to, unless
    /// one is set that comes in time; it replaces the one before and the tick.
    #[must_use = "the alarm has to be set"]
    pub fn until(&mut self, now: u64, deadline: u64) -> Option<u64> {
        let deadline = deadline.min(now.saturating_add(REST_MAX));
        // One whose time is over should have come.
        if self.alarm.is_some_and(|alarm| (now..=deadline).contains(&alarm)) {
            return None;
        }
        (self.rests, self.alarm) = (true, Some(deadline));
        Some(deadline)
    }

    /// The alarm came, or a tick. If it was too early, the next [`Rest::until`] sets another.
    pub const fn on_alarm(&mut self) {
        self.alarm = None;
    }

    /// There is something to do. Returns whether the tick has to be started.
    #[must_use = "the tick has to be started"]
    pub const fn end(&mut self) -> bool {
        self.alarm = None;
        core::mem::replace(&mut self.rests, false)
    }
}

impl Default for Rest {
    fn default() -> Self {
        Self::new()
    }
}
