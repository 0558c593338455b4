//! `askr-bridge doctor`: what is wrong with a set-up, and what mends it.
//!
//! First what is installed ([`tools`]), then the hub ([`hub`]), then what is behind it ([`guest`]). Each check is told as
//! soon as it is made. Whatever hangs costs its own deadline, and all together [`TOTAL`].

mod check;
mod guest;
mod hub;
mod tools;

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use clap::ArgMatches;

use crate::exit::{Exit, Failure};
use check::{Check, Report};

/// Longest time for everything; the parts have deadlines of their own that are far below.
const TOTAL: Duration = Duration::from_secs(60);

/// Makes all checks and tells them.
pub(super) fn run(socket: Option<PathBuf>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let mut report = Report::new(matches.get_flag("json"));
    let (sender, checks) = mpsc::channel();
    thread::spawn(move || look(socket, &sender));
    let give_up = Instant::now() + TOTAL;
    loop {
        match checks.recv_timeout(give_up.saturating_duration_since(Instant::now())) {
            Ok(check) => report.add(check)?,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let text = format!("the checks did not end within {} s", TOTAL.as_secs());
                report.add(Check::fail("doctor", text, "run it again when the machine is less busy"))?;
                break;
            }
        }
    }
    report.end()
}

/// Makes the checks one after the other. Those that need what another found missing are left out.
fn look(socket: Option<PathBuf>, checks: &Sender<Check>) {
    // Nobody listens any more after the time for everything.
    let tell = |check| drop(checks.send(check));
    tools::look(&tell);
    if let Some(mut hub) = hub::look(socket, &tell) {
        guest::look(&mut hub, &tell);
    }
}
