//! The Python client, call by call.

use std::path::Path;
use std::process::Command;

use super::{GUEST, WORKSPACE};
use crate::common::bridge::Bridge;
use crate::common::python::{interpreter, output_of};

/// Runs the checks of one name against the guest.
#[track_caller]
fn check(name: &str) {
    let Some(python) = interpreter() else { return };
    let mut askr = GUEST.take();
    let bridge = Bridge::on(askr.vm());
    let folder = Path::new(WORKSPACE);
    let mut script = Command::new(python);
    script.args(["-B", "-W", "error"]).arg(folder.join("tests/sdk/checks.py")).arg(name);
    script.env("PYTHONPATH", folder.join("host-bridge/python")).env("ASKR_SOCKET", bridge.socket());
    assert_eq!(output_of(&mut script), Ok("ok\n".to_owned()));
}

/// The checks of these names, a test each.
macro_rules! checks {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}

checks! {
    bytes_are_exact
    programs_end_as_they_end
    errors_are_typed
    asks_and_events
    times_pass
    hubs_that_misbehave
    a_hub_that_closes_before_it_is_asked_has_said_why
    who_sent_half_a_line_sends_no_more
}
