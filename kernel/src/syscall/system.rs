//! Randomness, identity and power.

use super::Call;
use crate::arch::power;
use crate::{fs, policy, random, version};
use askr_abi::Errno;
use askr_abi::types::{
    GRND_INSECURE, GRND_NONBLOCK, GRND_RANDOM, REBOOT_MAGIC1, REBOOT_MAGIC2, REBOOT_POWER_OFF,
    REBOOT_RESTART, UTSNAME_FIELD,
};
use askr_agentbus::policy::Action;

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

/// `getrandom(buf, len, flags)`: at most 64 KiB a call, never blocks. What was written before a bad address counts.
pub(super) fn getrandom(call: &mut Call<'_>) -> Result<u64, Errno> {
    const ONCE_MAX: u64 = 64 << 10;
    const PIECE: usize = 16;
    const SOURCES: u32 = GRND_RANDOM | GRND_INSECURE;
    let [address, length, flags, ..] = call.args;
    let flags = flags as u32;
    if flags & !(GRND_NONBLOCK | SOURCES) != 0 || flags & SOURCES == SOURCES {
        return Err(Errno::EINVAL);
    }
    let length = length.min(ONCE_MAX);
    let mut done = 0;
    while done < length {
        let piece = &random::bytes()[..PIECE.min((length - done) as usize)];
        let at = address.checked_add(done).ok_or(Errno::EFAULT);
        match at.and_then(|at| call.copy_out(at, piece)) {
            Ok(()) => done += piece.len() as u64,
            Err(_) if done > 0 => break,
            Err(errno) => return Err(errno),
        }
    }
    Ok(done)
}

/// `reboot(magic1, magic2, command, argument)`: power off, with the low byte of the argument as the machine's exit
/// status, or restart.
pub(super) fn reboot(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [magic1, magic2, command, argument, ..] = call.args.map(|argument| argument & u64::from(u32::MAX));
    if magic1 != REBOOT_MAGIC1 || magic2 != REBOOT_MAGIC2 {
        return Err(Errno::EINVAL);
    }
    policy::check(call.process().origin(), Action::Power)?;
    if matches!(command, REBOOT_POWER_OFF | REBOOT_RESTART) {
        fs::sync();
    }
    match command {
        REBOOT_POWER_OFF => power::off(Some(argument as u8)),
        REBOOT_RESTART => power::restart(),
        _ => Err(Errno::EINVAL),
    }
}
