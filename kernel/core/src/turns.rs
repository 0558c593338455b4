//! Who has the processor next when kernel tasks and programs want it: kernel tasks first, but not for ever.

/// Nanoseconds that kernel tasks may have in a row before programs that wait go first, and for how long these do.
pub const TURN: u64 = 10_000_000;

/// The two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Kernel tasks.
    Kernel,
    /// Programs.
    Programs,
}

/// What it remembers between two choices. Times are nanoseconds of one clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    /// Time that kernel tasks have had since they last let programs run.
    kernel: u64,
    /// Until when programs go first.
    until: u64,
}

impl Turns {
    /// Nobody has run yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { kernel: 0, until: 0 }
    }

    /// A kernel task has had the processor for so long.
    pub const fn kernel_ran(&mut self, nanos: u64) {
        self.kernel = self.kernel.saturating_add(nanos);
    }

    /// Whose turn it is, of those who are ready; `None` if nobody is.
    pub const fn choose(&mut self, now: u64, kernel: bool, programs: bool) -> Option<Side> {
        if !kernel {
            // They have done all there was to do.
            self.kernel = 0;
            return if programs { Some(Side::Programs) } else { None };
        }
        if programs && self.kernel >= TURN {
            *self = Self { kernel: 0, until: now.saturating_add(TURN) };
        }
        Some(if programs && self.programs_first(now) { Side::Programs } else { Side::Kernel })
    }

    /// Whether a program that runs goes on although a kernel task is ready.
    #[must_use]
    pub const fn programs_first(&self, now: u64) -> bool {
        now < self.until
    }
}
