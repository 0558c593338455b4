//! Timers that send SIGALRM.

use super::Call;
use crate::arch::clock::{self, Nanos, SECOND};
use crate::process::alarm::Alarm;
use askr_abi::Errno;

/// `which` of `setitimer`: the time of the clock on the wall. Those of processor time are not there.
const ITIMER_REAL: i32 = 0;
const ITIMER_PROF: i32 = 2;
/// Size of `struct itimerval`: interval and value, each of seconds and microseconds.
const ITIMERVAL: usize = 32;
const MICROSECOND: Nanos = 1000;

/// `alarm(seconds)`: returns the seconds that were left, rounded, but never down to 0.
pub(super) fn alarm(call: &mut Call<'_>) -> Result<u64, Errno> {
    let seconds = call.args[0] & u64::from(u32::MAX);
    let deadline = if seconds == 0 { 0 } else { clock::now() + seconds * SECOND };
    let before = call.process().set_alarm(Alarm { deadline, interval: 0 });
    let left = left(before);
    Ok(if left == 0 { 0 } else { ((left + SECOND / 2) / SECOND).max(1) })
}

/// `getitimer(which, value)`
pub(super) fn getitimer(call: &mut Call<'_>) -> Result<u64, Errno> {
    check_which(call.int(0))?;
    let alarm = call.process().alarm();
    call.copy_out(call.args[1], &to_bytes(alarm))?;
    Ok(0)
}

/// `setitimer(which, new, old)`; without `new` the timer is stopped, as Linux does.
pub(super) fn setitimer(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, new_at, old_at, ..] = call.args;
    check_which(call.int(0))?;
    let mut alarm = Alarm::default();
    if new_at != 0 {
        let mut bytes = [0; ITIMERVAL];
        call.copy_in(new_at, &mut bytes)?;
        let (interval, value) = (time(&bytes[..16])?, time(&bytes[16..])?);
        let deadline = if value == 0 { 0 } else { clock::now().saturating_add(value) };
        alarm = Alarm { deadline, interval };
    }
    if old_at != 0 {
        // First, so that a bad pointer changes nothing.
        call.copy_out(old_at, &to_bytes(call.process().alarm()))?;
    }
    call.process().set_alarm(alarm);
    Ok(0)
}

fn check_which(which: i32) -> Result<(), Errno> {
    match which {
        ITIMER_REAL => Ok(()),
        1..=ITIMER_PROF => Err(Errno::ENOSYS),
        _ => Err(Errno::EINVAL),
    }
}

fn left(alarm: Alarm) -> Nanos {
    if alarm.deadline == 0 { 0 } else { alarm.deadline.saturating_sub(clock::now()).max(MICROSECOND) }
}

/// A `struct timeval`.
fn time(bytes: &[u8]) -> Result<Nanos, Errno> {
    let (words, _) = bytes.as_chunks::<8>();
    let [seconds, micros] = [0, 1].map(|index| u64::try_from(i64::from_le_bytes(words[index])));
    match (seconds, micros) {
        (Ok(seconds), Ok(micros @ 0..1_000_000)) => {
            Ok(seconds.saturating_mul(SECOND).saturating_add(micros * MICROSECOND))
        }
        _ => Err(Errno::EINVAL),
    }
}

fn to_bytes(alarm: Alarm) -> [u8; ITIMERVAL] {
    let mut bytes = [0; ITIMERVAL];
    for (slot, time) in bytes.chunks_exact_mut(16).zip([alarm.interval, left(alarm)]) {
        slot[..8].copy_from_slice(&(time / SECOND).to_le_bytes());
        slot[8..].copy_from_slice(&(time % SECOND / MICROSECOND).to_le_bytes());
    }
    bytes
}
