//! Time, the machine's name and its power.

use super::raw::syscall;
use askr_abi::types::{
    REBOOT_MAGIC1, REBOOT_MAGIC2, REBOOT_POWER_OFF, REBOOT_RESTART, Timespec, UTSNAME_FIELD, Utsname,
};
use askr_abi::{Errno, number};
use core::time::Duration;

/// Highest number of times that a sleep is taken up again after a signal.
const RESUMES_MAX: u32 = 1_000_000;

/// `clock_gettime(2)` of `CLOCK_REALTIME` or `CLOCK_MONOTONIC`.
///
/// # Errors
/// What the kernel says, or EIO if it gave a time before the clock's start.
pub fn clock_gettime(clock: u64) -> Result<Duration, Errno> {
    let mut time = Timespec::default();
    // SAFETY: the kernel writes one `Timespec`, for which every bit pattern is valid.
    unsafe { syscall(number::CLOCK_GETTIME, [clock, &raw mut time as u64]) }?;
    let seconds = u64::try_from(time.sec).map_err(|_| Errno::EIO)?;
    let nanoseconds = u32::try_from(time.nsec).map_err(|_| Errno::EIO)?;
    Ok(Duration::new(seconds, nanoseconds))
}

/// `nanosleep(2)`; goes on sleeping after a signal that was ignored.
pub fn nanosleep(duration: Duration) -> Result<(), Errno> {
    let seconds = i64::try_from(duration.as_secs()).map_err(|_| Errno::EINVAL)?;
    let mut request = Timespec { sec: seconds, nsec: i64::from(duration.subsec_nanos()) };
    for _ in 0..RESUMES_MAX {
        let mut remaining = request;
        let arguments = [&raw const request as u64, &raw mut remaining as u64];
        // SAFETY: the kernel reads one `Timespec` and may write the other; every bit pattern is valid.
        match unsafe { syscall(number::NANOSLEEP, arguments) } {
            Err(Errno::EINTR) => request = remaining,
            other => return other.map(drop),
        }
    }
    Err(Errno::EINTR)
}

/// `uname(2)`.
pub fn uname() -> Result<Utsname, Errno> {
    let empty = [0; UTSNAME_FIELD];
    let mut name = Utsname {
        sysname: empty,
        nodename: empty,
        release: empty,
        version: empty,
        machine: empty,
        domainname: empty,
    };
    // SAFETY: the kernel writes one `Utsname`, for which every bit pattern is valid.
    unsafe { syscall(number::UNAME, [&raw mut name as u64]) }?;
    Ok(name)
}

/// What [`reboot`] is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reboot {
    /// Switch the machine off, with an exit status for a host that wants one.
    PowerOff(u8),
    /// Start it again.
    Restart,
}

/// `reboot(2)`: returns only if the kernel refused.
#[must_use]
pub fn reboot(what: Reboot) -> Errno {
    let (command, argument) = match what {
        Reboot::PowerOff(status) => (REBOOT_POWER_OFF, u64::from(status)),
        Reboot::Restart => (REBOOT_RESTART, 0),
    };
    let arguments = [REBOOT_MAGIC1, REBOOT_MAGIC2, command, argument];
    // SAFETY: no address is passed.
    match unsafe { syscall(number::REBOOT, arguments) } {
        Ok(_) => Errno::EIO,
        Err(errno) => errno,
    }
}
