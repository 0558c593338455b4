//! Lines that say how far the run is, on standard error.

use std::sync::LazyLock;
use std::time::Instant;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Says what begins now, and how long the run has taken so far.
pub(crate) fn say(what: &str) {
    eprintln!("[{:6.1} s] {what}", BEGAN.elapsed().as_secs_f64());
}
