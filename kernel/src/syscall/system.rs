//! Time, randomness, identity and power.

use super::Call;
use crate::arch::clock::{self, Nanos, SECOND};
use crate::arch::power;
use crate::{policy, process, random, sched, version};
use askr_abi::Errno;
use askr_abi::types::{
    CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, REBOOT_MAGIC1, REBOOT_MAGIC2, REBOOT_POWER_OFF,
    REBOOT_RESTART, UTSNAME_FIELD,
};
use askr_agentbus::policy::Action;

/// `nanosleep(request, remaining)`; the precision is one tick.
pub(super) fn nanosleep(call: &mut Call<'_>) -> Result<u64, Errno> {
    let request = call.duration(call.args[0])?;
    let deadline = call.deadline(clock::now().saturating_add(request));
    if sched::sleep_until(deadline, process::interrupted) {
        return Ok(0);
    }
    if call.args[1] != 0 {
        let left = timespec(deadline.saturating_sub(clock::now()));
        call.copy_out(call.args[1], &left)?;
    }
    Err(call.interrupted_before(deadline))
}

/// `clock_gettime(clock, timespec)`
pub(super) fn clock_gettime(call: &mut Call<'_>) -> Result<u64, Errno> {
    let now = match call.args[0] {
        CLOCK_REALTIME => clock::wall(),
        CLOCK_MONOTONIC | CLOCK_BOOTTIME => clock::now(),
        _ => return Err(Errno::EINVAL),
    };
    call.copy_out(call.args[1], &timespec(now))?;
    Ok(0)
}

fn timespec(nanos: Nanos) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(nanos / SECOND).to_le_bytes());
    bytes[8..].copy_from_slice(&(nanos % SECOND).to_le_bytes());
    bytes
}

/// `uname(buf)`: the system is Askr, with the release of its kernel.
pub(super) fn uname(call: &mut Call<'_>) -> Result<u64, Errno> {
    let fields = [version::NAME, "askr", version::RELEASE, version::VERSION, "x86_64", "(none)"];
    let mut buffer = [0; UTSNAME_FIELD * 6];
    for (field, slot) in fields.iter().zip(buffer.chunks_exact_mut(UTSNAME_FIELD)) {
        slot[..field.len()].copy_from_slice(field.as_bytes());
    }
    call.copy_out(call.args[0], &buffer)?;
    Ok(0)
}

/// `getrandom(buf, len, flags)`: at most 256 bytes a call, never blocks.
pub(super) fn getrandom(call: &mut Call<'_>) -> Result<u64, Errno> {
    const ONCE_MAX: usize = 256;
    const FLAGS: u64 = 7;
    let [address, length, flags, ..] = call.args;
    if flags & !FLAGS != 0 {
        return Err(Errno::EINVAL);
    }
    let length = usize::try_from(length).unwrap_or(ONCE_MAX).min(ONCE_MAX);
    let mut buffer = [0; ONCE_MAX];
    buffer.chunks_mut(16).for_each(|chunk| chunk.copy_from_slice(&random::bytes()[..chunk.len()]));
    call.copy_out(address, &buffer[..length])?;
    Ok(length as u64)
}

/// `reboot(magic1, magic2, command, argument)`: power off, with the low byte of the argument as the machine's exit
/// status, or restart.
pub(super) fn reboot(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [magic1, magic2, command, argument, ..] = call.args.map(|argument| argument & u64::from(u32::MAX));
    if magic1 != REBOOT_MAGIC1 || magic2 != REBOOT_MAGIC2 {
        return Err(Errno::EINVAL);
    }
    policy::check(call.process().origin(), Action::Power)?;
    match command {
        REBOOT_POWER_OFF => power::off(argument as u8),
        REBOOT_RESTART => power::restart(),
        _ => Err(Errno::EINVAL),
    }
}
