//! POWER: the end of this boot.

use super::super::{lanes, port, with_router};
use super::status;
use crate::arch::clock::{self, Nanos, SECOND};
use crate::arch::power;
use crate::{fs, policy, sched};
use alloc::vec::Vec;
use askr_agentbus::policy::Action;
use askr_agentbus::{Control, Door};
use askr_wire::message::PowerAction;
use askr_wire::status::Status;

/// How long the answer may take to be on the line. A host that does not read does not keep the machine on.
const PATIENCE: Nanos = 2 * SECOND;
/// Pause between two looks at it.
const PAUSE: Nanos = SECOND / 100;

/// Ends this boot: what is only in memory goes to the disk, the answer goes out, then the machine goes off or starts
/// again. Returns only if that is refused.
pub(super) fn end(control: &Control<'_>, action: PowerAction) -> Status {
    if let Err(errno) = policy::check(control.origin, Action::Power) {
        return status(errno);
    }
    fs::sync();
    lanes::respond(control.token, &Ok(Vec::new()));
    let deadline = clock::now() + PATIENCE;
    while clock::now() < deadline && !is_on_the_line(control) {
        sched::sleep_until(clock::now() + PAUSE, || false);
    }
    match action {
        // A host that runs one line hears of no status: there is none of that line.
        PowerAction::Off => power::off(None),
        PowerAction::Reboot => power::restart(),
    }
}

fn is_on_the_line(control: &Control<'_>) -> bool {
    !with_router(|router| router.is_due(control.token))
        && Door::ALL.into_iter().all(|door| port::of(door).is_clear())
}
