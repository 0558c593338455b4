//! How long an answer is waited for.

use std::sync::Arc;
use std::time::Instant;

/// Whether somebody still waits for the answer.
pub(super) type Wanted = Arc<dyn Fn() -> bool + Send + Sync>;

/// How long an answer is waited for: until then, and as long as somebody wants it.
#[derive(Clone)]
pub(super) struct Patience {
    pub(super) deadline: Instant,
    pub(super) is_wanted: Wanted,
}

impl Patience {
    /// Time that is left: none if nobody waits any more.
    #[cfg(feature = "http")]
    pub(super) fn left(&self) -> std::time::Duration {
        if (self.is_wanted)() {
            self.deadline.saturating_duration_since(Instant::now())
        } else {
            std::time::Duration::ZERO
        }
    }
}
