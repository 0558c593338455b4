//! Clocks, sleeping, and the time that programs took. Sleeps end with the precision of a tick.

use super::Call;
use crate::arch::clock::{self, Nanos, SECOND};
use crate::{process, sched};
use askr_abi::Errno;
use askr_abi::types::{
    CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME, CLOCK_THREAD_CPUTIME_ID,
    RUSAGE_CHILDREN, RUSAGE_SELF, RUSAGE_THREAD, TIMER_ABSTIME, USER_HZ,
};

/// What `clock_getres` says of every clock: the time-stamp counter is read in nanoseconds, and sleeps go by the tick.
const RESOLUTION: Nanos = 1;
/// Bytes of a `struct timespec` and of a `struct timeval`.
const PAIR: usize = 16;
/// Size of `struct rusage`.
pub(super) const RUSAGE_SIZE: usize = 144;

/// `nanosleep(request, remaining)`
pub(super) fn nanosleep(call: &mut Call<'_>) -> Result<u64, Errno> {
    let request = call.duration(call.args[0])?;
    let deadline = clock::now().saturating_add(request);
    sleep(call, deadline, call.args[1])
}

/// `clock_nanosleep(clock, flags, request, remaining)`: with `TIMER_ABSTIME` until the clock shows `request`.
pub(super) fn clock_nanosleep(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [which, flags, request, remaining, ..] = call.args;
    let shown = wall_or_boot(which)?;
    let request = call.duration(request)?;
    if flags as u32 & TIMER_ABSTIME == 0 {
        let deadline = clock::now().saturating_add(request);
        return sleep(call, deadline, remaining);
    }
    // All clocks go alike, unless the wall clock is set right meanwhile: that moves no sleep.
    let deadline = clock::now().saturating_add(request.saturating_sub(shown));
    sleep(call, deadline, 0)
}

/// Sleeps until `deadline`; tells at `remaining`, unless that is null, what was left when a signal came.
fn sleep(call: &Call<'_>, deadline: Nanos, remaining: u64) -> Result<u64, Errno> {
    let deadline = call.deadline(deadline);
    if sched::sleep_until(deadline, process::interrupted) {
        return Ok(0);
    }
    if remaining != 0 {
        call.copy_out(remaining, &timespec(deadline.saturating_sub(clock::now())))?;
    }
    Err(call.interrupted_before(deadline))
}

/// `clock_gettime(clock, timespec)`
pub(super) fn clock_gettime(call: &mut Call<'_>) -> Result<u64, Errno> {
    let now = read(call, call.args[0])?;
    call.copy_out(call.args[1], &timespec(now))?;
    Ok(0)
}

/// `clock_getres(clock, timespec)`
pub(super) fn clock_getres(call: &mut Call<'_>) -> Result<u64, Errno> {
    read(call, call.args[0])?;
    if call.args[1] != 0 {
        call.copy_out(call.args[1], &timespec(RESOLUTION))?;
    }
    Ok(0)
}

/// `gettimeofday(timeval, timezone)`; the time zone is always UTC.
pub(super) fn gettimeofday(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [time, zone, ..] = call.args;
    let now = clock::wall();
    if time != 0 {
        call.copy_out(time, &pair(now / SECOND, now % SECOND / 1000))?;
    }
    if zone != 0 {
        call.copy_out(zone, &[0; 8])?;
    }
    Ok(0)
}

/// `time(seconds)`
pub(super) fn time(call: &mut Call<'_>) -> Result<u64, Errno> {
    let seconds = clock::wall() / SECOND;
    if call.args[0] != 0 {
        call.copy_out(call.args[0], &seconds.to_le_bytes())?;
    }
    Ok(seconds)
}

/// `getrusage(who, usage)`
pub(super) fn getrusage(call: &mut Call<'_>) -> Result<u64, Errno> {
    let time = match call.int(0) {
        RUSAGE_SELF | RUSAGE_THREAD => call.process().time(),
        RUSAGE_CHILDREN => call.process().children_time(),
        _ => return Err(Errno::EINVAL),
    };
    call.copy_out(call.args[1], &usage(time))?;
    Ok(0)
}

/// A `struct rusage` of somebody who has had the processor for so long. Nobody tells the time in the program from that in
/// the kernel, so all of it is `ru_utime`, and nothing else is counted.
pub(super) fn usage(time: Nanos) -> [u8; RUSAGE_SIZE] {
    let mut usage = [0; RUSAGE_SIZE];
    usage[..PAIR].copy_from_slice(&pair(time / SECOND, time % SECOND / 1000));
    usage
}

/// `times(buf)`; `buf` may be null.
pub(super) fn times(call: &mut Call<'_>) -> Result<u64, Errno> {
    let units = |time: Nanos| time / (SECOND / USER_HZ);
    let address = call.args[0];
    if address != 0 {
        let process = call.process();
        let (own, of_children) = (units(process.time()), units(process.children_time()));
        let mut all = [0; 4 * 8];
        for (at, value) in [(0, own), (16, of_children)] {
            all[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        call.copy_out(address, &all)?;
    }
    Ok(units(clock::now()))
}

/// What a clock shows to the caller. Its number is an int.
fn read(call: &Call<'_>, which: u64) -> Result<Nanos, Errno> {
    match u64::from(which as u32) {
        CLOCK_PROCESS_CPUTIME_ID | CLOCK_THREAD_CPUTIME_ID => Ok(call.process().time()),
        _ => wall_or_boot(which),
    }
}

/// What a clock shows that goes on by itself: the ones to sleep by.
fn wall_or_boot(which: u64) -> Result<Nanos, Errno> {
    match u64::from(which as u32) {
        CLOCK_REALTIME => Ok(clock::wall()),
        CLOCK_MONOTONIC | CLOCK_BOOTTIME => Ok(clock::now()),
        _ => Err(Errno::EINVAL),
    }
}

fn timespec(nanos: Nanos) -> [u8; PAIR] {
    pair(nanos / SECOND, nanos % SECOND)
}

fn pair(first: u64, second: u64) -> [u8; PAIR] {
    let mut bytes = [0; PAIR];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    bytes
}
