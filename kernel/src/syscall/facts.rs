//! What C libraries and tools ask about the system and the process, and what is simple for a process of one thread.

use super::Call;
use crate::arch::clock::{self, SECOND};
use crate::{mm, process, sched};
use askr_abi::Errno;
use askr_abi::types::{FUTEX_OPERATION, FUTEX_WAIT, FUTEX_WAKE, PR_GET_NAME, SYSINFO_SIZE, TASK_NAME};

/// Size of the list of mutexes' head that `set_robust_list` names, `struct robust_list_head`.
const ROBUST_HEAD: u64 = 24;

/// `sysinfo(info)`: uptime, memory in bytes and the number of processes. Nobody measures the load, so it is 0.
pub(super) fn sysinfo(call: &mut Call<'_>) -> Result<u64, Errno> {
    let mm::Usage { total, free } = mm::usage();
    let mut bytes = [0; SYSINFO_SIZE];
    for (at, word) in [(0, clock::now() / SECOND), (32, total * mm::PAGE), (40, free * mm::PAGE)] {
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
    let processes = u16::try_from(process::count()).unwrap_or(u16::MAX);
    bytes[80..82].copy_from_slice(&processes.to_le_bytes());
    // The unit of memory, one byte.
    bytes[104] = 1;
    call.copy_out(call.args[0], &bytes)?;
    Ok(0)
}

/// `prctl(option, ...)`: only the name of the program can be asked for. It cannot be changed: the agent is told by it who
/// asks.
pub(super) fn prctl(call: &mut Call<'_>) -> Result<u64, Errno> {
    if call.args[0] != PR_GET_NAME {
        return Err(Errno::EINVAL);
    }
    let name = call.process().name();
    let mut field = [0; TASK_NAME];
    let length = name.len().min(TASK_NAME - 1);
    field[..length].copy_from_slice(&name[..length]);
    call.copy_out(call.args[1], &field)?;
    Ok(0)
}

/// `getgroups(size, list)`: there are no further groups.
pub(super) fn getgroups(call: &mut Call<'_>) -> Result<u64, Errno> {
    if call.int(0) < 0 { Err(Errno::EINVAL) } else { Ok(0) }
}

/// `set_robust_list(head, size)`: nothing is done with the list, as a process has one thread and its mutexes end with it.
pub(super) fn set_robust_list(call: &mut Call<'_>) -> Result<u64, Errno> {
    if call.args[1] == ROBUST_HEAD { Ok(0) } else { Err(Errno::EINVAL) }
}

/// `sched_getaffinity(pid, size, mask)`: the one processor.
pub(super) fn sched_getaffinity(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [pid, size, mask, ..] = call.args;
    let pid = pid as process::Pid;
    if pid != 0 {
        process::find(pid).ok_or(Errno::ESRCH)?;
    }
    if size < 8 || size % 8 != 0 {
        return Err(Errno::EINVAL);
    }
    call.copy_out(mask, &1_u64.to_le_bytes())?;
    Ok(8)
}

/// `futex(word, operation, value, timeout)`: a process has one thread and shares no memory, so WAKE finds nobody, and
/// WAIT ends by its timeout or a signal, unless the word has another value (EAGAIN).
pub(super) fn futex(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [address, operation, value, timeout, ..] = call.args;
    if address % 4 != 0 {
        return Err(Errno::EINVAL);
    }
    match operation & FUTEX_OPERATION {
        FUTEX_WAKE => Ok(0),
        FUTEX_WAIT => {
            let mut word = [0; 4];
            call.copy_in(address, &mut word)?;
            if u32::from_le_bytes(word) != value as u32 {
                return Err(Errno::EAGAIN);
            }
            let patience = if timeout == 0 { u64::MAX } else { call.duration(timeout)? };
            let ended = sched::sleep_until(clock::now().saturating_add(patience), process::interrupted);
            Err(if ended { Errno::ETIMEDOUT } else { Errno::EINTR })
        }
        _ => Err(Errno::ENOSYS),
    }
}
