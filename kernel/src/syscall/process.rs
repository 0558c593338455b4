//! Processes.

use super::Call;
use crate::mm::{self, USER_END};
use crate::process::{self as processes, Children, ExitStatus};
use crate::sched;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{ARCH_GET_FS, ARCH_SET_FS, WNOHANG};
use askr_core::areas::Access;
use askr_core::stack::STACK_IMAGE_MAX;

/// Size of `struct rusage`.
const RUSAGE_SIZE: usize = 144;

/// `getpid()`, `gettid()` and the return value of `set_tid_address()`: one thread per process.
pub(super) fn getpid(call: &mut Call<'_>) -> Result<u64, Errno> {
    Ok(u64::from(call.process().pid()))
}

/// `getppid()`
pub(super) fn getppid(call: &mut Call<'_>) -> Result<u64, Errno> {
    Ok(u64::from(call.process().parent()))
}

/// `getuid()` and its kin: there is one user, root.
pub(super) fn get_zero(_call: &mut Call<'_>) -> Result<u64, Errno> {
    Ok(0)
}

/// `sched_yield()`
pub(super) fn sched_yield(_call: &mut Call<'_>) -> Result<u64, Errno> {
    sched::yield_now();
    Ok(0)
}

/// `fork()`, `vfork()`
pub(super) fn fork(call: &mut Call<'_>) -> Result<u64, Errno> {
    processes::fork(call.frame).map(u64::from)
}

/// `execve(path, argv, envp)`
pub(super) fn execve(call: &mut Call<'_>) -> Result<u64, Errno> {
    let path = call.path(call.args[0])?;
    let argv = strings(call, call.args[1])?;
    let envp = strings(call, call.args[2])?;
    processes::execute(call.frame, &path, &argv, &envp)?;
    Ok(0)
}

/// A null-terminated array of pointers to strings; a null pointer is an empty one, as on Linux.
fn strings(call: &Call<'_>, address: u64) -> Result<Vec<Vec<u8>>, Errno> {
    let mut all = Vec::new();
    let mut budget = STACK_IMAGE_MAX;
    if address == 0 {
        return Ok(all);
    }
    // Each string costs at least its NUL and pointer, so the budget bounds the loop.
    for index in 0.. {
        let at = address.checked_add(8 * index).ok_or(Errno::EFAULT)?;
        let string = call.process().with_space(|space| match mm::user::word(space, at)? {
            0 => Ok(None),
            pointer => mm::user::string(space, pointer, budget, Errno::E2BIG).map(Some),
        })?;
        let Some(string) = string else { break };
        budget = budget.checked_sub(string.len() + 9).ok_or(Errno::E2BIG)?;
        all.push(string);
    }
    Ok(all)
}

/// `exit(status)`, `exit_group(status)`: carried out on the way to user mode.
pub(super) fn exit(call: &mut Call<'_>) -> Result<u64, Errno> {
    call.process().end(ExitStatus::Code(call.args[0] as u8));
    Ok(0)
}

/// `wait4(pid, status, options, rusage)`; `rusage` is zeroed.
pub(super) fn wait4(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, status_at, options, usage_at, ..] = call.args;
    if options & !u64::from(WNOHANG) != 0 {
        return Err(Errno::EINVAL);
    }
    let children = Children::from_argument(call.int(0), call.process().group());
    // Before anything is reaped: a bad pointer must not lose a child's exit code.
    for (address, length) in [(status_at, 4), (usage_at, RUSAGE_SIZE)] {
        if address != 0 {
            call.process().with_space(|space| mm::user::check(space, address, length, Access::Write))?;
        }
    }
    let Some((pid, status)) = processes::wait(children, options & u64::from(WNOHANG) != 0)? else {
        return Ok(0);
    };
    if status_at != 0 {
        call.copy_out(status_at, &status.wait_word().to_le_bytes())?;
    }
    if usage_at != 0 {
        call.copy_out(usage_at, &[0; RUSAGE_SIZE])?;
    }
    Ok(u64::from(pid))
}

/// `setpgid(pid, pgid)` for the caller and its children.
pub(super) fn setpgid(call: &mut Call<'_>) -> Result<u64, Errno> {
    let me = call.process().pid();
    let pid = u32::try_from(call.int(0)).map_err(|_| Errno::EINVAL)?;
    let group = u32::try_from(call.int(1)).map_err(|_| Errno::EINVAL)?;
    let pid = if pid == 0 { me } else { pid };
    let group = if group == 0 { pid } else { group };
    let task = processes::find(pid).ok_or(Errno::ESRCH)?;
    let target = task.process().filter(|target| pid == me || target.parent() == me).ok_or(Errno::ESRCH)?;
    if group != pid && !processes::group_exists(group) {
        return Err(Errno::EPERM);
    }
    target.set_group(group);
    Ok(0)
}

/// `getpgid(pid)`
pub(super) fn getpgid(call: &mut Call<'_>) -> Result<u64, Errno> {
    let pid = u32::try_from(call.int(0)).map_err(|_| Errno::ESRCH)?;
    if pid == 0 {
        return Ok(u64::from(call.process().group()));
    }
    let task = processes::find(pid).ok_or(Errno::ESRCH)?;
    Ok(task.process().map_or(0, |process| u64::from(process.group())))
}

/// `arch_prctl(code, addr)`: FS base only.
pub(super) fn arch_prctl(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [code, address, ..] = call.args;
    match code {
        ARCH_SET_FS if address < USER_END => call.process().set_fs_base(address),
        ARCH_SET_FS => return Err(Errno::EPERM),
        ARCH_GET_FS => call.copy_out(address, &call.process().fs_base().to_le_bytes())?,
        _ => return Err(Errno::EINVAL),
    }
    Ok(0)
}
