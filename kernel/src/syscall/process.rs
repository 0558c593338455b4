//! Processes.

use super::Call;
use super::time::{RUSAGE_SIZE, usage};
use crate::mm::{self, USER_END};
use crate::process::{self as processes, Children, CloneArguments, ExitStatus, Pid, WaitOptions, Waited};
use crate::sched;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{ARCH_GET_FS, ARCH_SET_FS};
use askr_core::clone::CloneRequest;
use askr_core::stack::STACK_IMAGE_MAX;

/// After so many arguments `execve` looks again whether the kernel's heap has room.
const STRINGS_AT_ONCE: u64 = 64;

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

/// `fork()`
pub(super) fn fork(call: &mut Call<'_>) -> Result<u64, Errno> {
    processes::clone(call.frame, CloneRequest::FORK, CloneArguments::default()).map(u64::from)
}

/// `vfork()`
pub(super) fn vfork(call: &mut Call<'_>) -> Result<u64, Errno> {
    processes::clone(call.frame, CloneRequest::VFORK, CloneArguments::default()).map(u64::from)
}

/// `clone(flags, stack, parent_tid, child_tid, tls)`: processes, no threads.
pub(super) fn clone(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [flags, stack, parent_tid, child_tid, tls, ..] = call.args;
    let request = CloneRequest::from_flags(flags)?;
    processes::clone(call.frame, request, CloneArguments { stack, parent_tid, child_tid, tls }).map(u64::from)
}

/// `set_tid_address(tidptr)`
pub(super) fn set_tid_address(call: &mut Call<'_>) -> Result<u64, Errno> {
    call.process().set_clear_tid(call.args[0]);
    getpid(call)
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
    // Each string costs at least its NUL and pointer, so the budget bounds the loop. Many short ones take more than the
    // room that was there when the call began.
    for index in 0.. {
        if index % STRINGS_AT_ONCE == 0 {
            call.require_heap_room()?;
        }
        let at = address.checked_add(8 * index).ok_or(Errno::EFAULT)?;
        let string = call.process().with_space(|space| match mm::user::word(space, at)? {
            0 => Ok(None),
            pointer => mm::user::string(space, pointer, budget, Errno::E2BIG).map(Some),
        })?;
        let Some(string) = string else { break };
        budget = budget.checked_sub(string.len() + 9).ok_or(Errno::E2BIG)?;
        all.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        all.push(string);
    }
    Ok(all)
}

/// `exit(status)`, `exit_group(status)`: carried out on the way to user mode.
pub(super) fn exit(call: &mut Call<'_>) -> Result<u64, Errno> {
    call.process().end(ExitStatus::Code(call.args[0] as u8));
    Ok(0)
}

/// `wait4(pid, status, options, rusage)`; of `rusage` only the time is filled in, all of it as the program's.
pub(super) fn wait4(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, status_at, options, usage_at, ..] = call.args;
    let options = WaitOptions::from_argument(options as u32)?;
    if call.int(0) == i32::MIN {
        return Err(Errno::ESRCH);
    }
    let children = Children::from_argument(call.int(0), call.process().group());
    // Before anything is reaped: a bad pointer must not lose a child's exit code.
    for (address, length) in [(status_at, 4), (usage_at, RUSAGE_SIZE)] {
        if address != 0 {
            call.check_writable(address, length)?;
        }
    }
    let Some(Waited { pid, event, time }) = processes::wait(children, options)? else {
        return Ok(0);
    };
    if status_at != 0 {
        call.copy_out(status_at, &event.wait_word().to_le_bytes())?;
    }
    if usage_at != 0 {
        call.copy_out(usage_at, &usage(time))?;
    }
    Ok(u64::from(pid))
}

/// `setpgid(pid, pgid)` for the caller and its children.
pub(super) fn setpgid(call: &mut Call<'_>) -> Result<u64, Errno> {
    let me = call.process().pid();
    let (pid, group) = (call.int(0), call.int(1));
    let group = u32::try_from(if group == 0 { pid } else { group }).map_err(|_| Errno::EINVAL)?;
    let pid = u32::try_from(pid).map_err(|_| Errno::ESRCH)?;
    let or_own = |number: u32| if number == 0 { me } else { number };
    processes::set_group(me, or_own(pid), or_own(group))?;
    Ok(0)
}

/// `setsid()`
pub(super) fn setsid(call: &mut Call<'_>) -> Result<u64, Errno> {
    processes::new_session(call.process().pid())?;
    getpid(call)
}

/// `getpgrp()`
pub(super) fn getpgrp(call: &mut Call<'_>) -> Result<u64, Errno> {
    Ok(u64::from(call.process().group()))
}

/// `getpgid(pid)`
pub(super) fn getpgid(call: &mut Call<'_>) -> Result<u64, Errno> {
    Ok(u64::from(processes::member(pid_or_own(call)?).ok_or(Errno::ESRCH)?.group))
}

/// `getsid(pid)`
pub(super) fn getsid(call: &mut Call<'_>) -> Result<u64, Errno> {
    Ok(u64::from(processes::member(pid_or_own(call)?).ok_or(Errno::ESRCH)?.session))
}

/// The process that the first argument names, the caller for 0.
fn pid_or_own(call: &Call<'_>) -> Result<Pid, Errno> {
    match u32::try_from(call.int(0)) {
        Ok(0) => Ok(call.process().pid()),
        Ok(pid) => Ok(pid),
        Err(_) => Err(Errno::ESRCH),
    }
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
