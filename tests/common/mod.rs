//! What the tests of a booted system share: a shell that is typed at ([`Askr`]), a peer that speaks frames on COM2
//! ([`Peer`]), a hub that hears what it may ([`bridge`]), programs in C that are compiled on the spot ([`program`]), and packages of Python ([`python`]).
#![allow(dead_code, reason = "every test file has its own copy of this and uses a part of it")]

pub(crate) mod bridge;
pub(crate) mod jobs;
mod line;
pub(crate) mod peer;
pub(crate) mod program;
pub(crate) mod python;
pub(crate) mod screen;
pub(crate) mod shell;

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take that has to happen. The machine that tests run on may be slow and busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until `holds`.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < give_up, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
