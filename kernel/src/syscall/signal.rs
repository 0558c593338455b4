//! Signals.

use super::Call;
use crate::arch::clock::{self, Nanos};
use crate::process::{self as processes};
use crate::{mm, sched};
use askr_abi::Errno;
use askr_abi::signal::{NSIG, SI_TKILL};
use askr_core::signal::{Action, AltStack, Detail, How, Info, SignalSet};

/// Size of the kernel's signal set in bytes, which `rt_sig*` calls pass along.
const SIGSET_SIZE: u64 = 8;

impl Call<'_> {
    /// The signal set at `address`.
    fn signal_set(&self, address: u64) -> Result<SignalSet, Errno> {
        let bits = self.process().with_space(|space| mm::user::word(space, address))?;
        Ok(SignalSet::from_bits(bits))
    }

    /// The signal set at `address`, of which the program says that it has `size` bytes.
    pub(super) fn signal_mask(&self, address: u64, size: u64) -> Result<SignalSet, Errno> {
        check_size(size)?;
        self.signal_set(address)
    }
}

fn check_size(size: u64) -> Result<(), Errno> {
    if size == SIGSET_SIZE { Ok(()) } else { Err(Errno::EINVAL) }
}

/// `rt_sigaction(signum, act, oldact, sigsetsize)`
pub(super) fn rt_sigaction(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, new_at, old_at, size, ..] = call.args;
    check_size(size)?;
    let signal = u32::try_from(call.int(0)).ok().filter(|signal| (1..NSIG).contains(signal));
    let signal = signal.ok_or(Errno::EINVAL)?;
    let mut new = [0; Action::SIZE];
    if new_at != 0 {
        call.copy_in(new_at, &mut new)?;
    }
    let signals = call.process().signals();
    // First, so that a bad pointer changes nothing.
    let old = signals.lock().action(signal);
    if old_at != 0 {
        call.copy_out(old_at, &old.to_bytes())?;
    }
    if new_at != 0 {
        signals.lock().set_action(signal, Action::from_bytes(&new))?;
    }
    Ok(0)
}

/// `rt_sigprocmask(how, set, oldset, sigsetsize)`
pub(super) fn rt_sigprocmask(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, new_at, old_at, size, ..] = call.args;
    check_size(size)?;
    let new = if new_at == 0 { None } else { Some(call.signal_set(new_at)?) };
    let how = How::from_argument(call.args[0] & u64::from(u32::MAX));
    let change = match new {
        Some(set) => Some((how.ok_or(Errno::EINVAL)?, set)),
        None => None,
    };
    let signals = call.process().signals();
    let old = signals.lock().blocked();
    if old_at != 0 {
        call.copy_out(old_at, &old.bits().to_le_bytes())?;
    }
    if let Some((how, set)) = change {
        signals.lock().change_mask(how, set);
    }
    Ok(0)
}

/// `rt_sigreturn()`: what a handler returns to; the context lies at the stack pointer.
pub(super) fn rt_sigreturn(call: &mut Call<'_>) -> Result<u64, Errno> {
    processes::resume(call.task.process().expect("only processes make system calls"), call.frame);
    Ok(call.frame.rax)
}

/// `rt_sigpending(set, sigsetsize)`
pub(super) fn rt_sigpending(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [set_at, size, ..] = call.args;
    // Linux takes less too, down to nothing.
    let Some(size) = usize::try_from(size).ok().filter(|&size| size <= SIGSET_SIZE as usize) else {
        return Err(Errno::EINVAL);
    };
    let pending = call.process().signals().lock().pending();
    call.copy_out(set_at, &pending.bits().to_le_bytes()[..size])?;
    Ok(0)
}

/// `rt_sigsuspend(mask, sigsetsize)`
pub(super) fn rt_sigsuspend(call: &mut Call<'_>) -> Result<u64, Errno> {
    let mask = call.signal_mask(call.args[0], call.args[1])?;
    call.process().signals().lock().set_temporary_mask(mask);
    wait_for_signal()
}

/// `pause()`
pub(super) fn pause(_call: &mut Call<'_>) -> Result<u64, Errno> {
    wait_for_signal()
}

fn wait_for_signal() -> Result<u64, Errno> {
    while !processes::interrupted() {
        sched::park();
    }
    Err(Errno::EINTR)
}

/// `rt_sigtimedwait(set, info, timeout, sigsetsize)`
pub(super) fn rt_sigtimedwait(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [set_at, info_at, timeout_at, size, ..] = call.args;
    check_size(size)?;
    let set = call.signal_set(set_at)?;
    let deadline = match timeout_at {
        0 => Nanos::MAX,
        at => clock::now().saturating_add(call.duration(at)?),
    };
    if info_at != 0 {
        // Before a signal is taken: a bad pointer must not lose it.
        call.check_writable(info_at, Info::SIZE)?;
    }
    let signals = call.process().signals();
    let info = loop {
        let taken = signals.lock().take(set);
        if let Some(info) = taken {
            break info;
        }
        if processes::interrupted() {
            return Err(Errno::EINTR);
        }
        if clock::now() >= deadline {
            return Err(Errno::EAGAIN);
        }
        sched::park_until(deadline);
    };
    if info_at != 0 {
        call.copy_out(info_at, &info.to_bytes())?;
    }
    Ok(u64::from(info.signal))
}

/// `sigaltstack(ss, old_ss)`
pub(super) fn sigaltstack(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [new_at, old_at, ..] = call.args;
    let rsp = call.frame.rsp;
    let current = call.process().signals().lock().stack();
    let new = match new_at {
        0 => None,
        at => {
            let mut bytes = [0; AltStack::SIZE];
            call.copy_in(at, &mut bytes)?;
            Some(current.replaced(AltStack::from_bytes(&bytes), rsp)?)
        }
    };
    if old_at != 0 {
        call.copy_out(old_at, &current.seen_from(rsp).to_bytes())?;
    }
    if let Some(new) = new {
        call.process().signals().lock().set_stack(new);
    }
    Ok(0)
}

/// `kill(pid, signal)`: one process, or with a negative number or 0 a process group.
pub(super) fn kill(call: &mut Call<'_>) -> Result<u64, Errno> {
    let signal = u32::try_from(call.int(1)).map_err(|_| Errno::EINVAL)?;
    let origin = call.process().origin();
    let info = Info::from_process(signal, call.process().pid());
    match call.int(0) {
        i32::MIN => return Err(Errno::ESRCH),
        pid if pid > 0 => processes::kill(origin, pid.unsigned_abs(), info)?,
        -1 => processes::kill_all(origin, call.process().pid(), info)?,
        0 => processes::kill_group(origin, call.process().group(), info)?,
        group => processes::kill_group(origin, group.unsigned_abs(), info)?,
    }
    Ok(0)
}

/// `rt_sigqueueinfo(pid, signal, info)`: `sigqueue(3)`. The sender and a value come along; nobody passes for the kernel or
/// for `kill`.
pub(super) fn rt_sigqueueinfo(call: &mut Call<'_>) -> Result<u64, Errno> {
    let mut bytes = [0; Info::SIZE];
    call.copy_in(call.args[2], &mut bytes)?;
    let signal = u32::try_from(call.int(1)).map_err(|_| Errno::EINVAL)?;
    let pid = u32::try_from(call.int(0)).map_err(|_| Errno::ESRCH)?;
    let sender = call.process();
    let info = Info::queued(signal, &bytes);
    if pid != sender.pid() && (info.code >= 0 || info.code == SI_TKILL) {
        return Err(Errno::EPERM);
    }
    processes::kill(sender.origin(), pid, info)?;
    Ok(0)
}

/// `tkill(tid, signal)`: a process has one thread, with its own number.
pub(super) fn tkill(call: &mut Call<'_>) -> Result<u64, Errno> {
    send_to_thread(call, call.int(0), call.int(1))
}

/// `tgkill(tgid, tid, signal)`
pub(super) fn tgkill(call: &mut Call<'_>) -> Result<u64, Errno> {
    let (group, thread) = (call.int(0), call.int(1));
    if group <= 0 || thread <= 0 {
        return Err(Errno::EINVAL);
    }
    if group != thread {
        return Err(Errno::ESRCH);
    }
    send_to_thread(call, thread, call.int(2))
}

fn send_to_thread(call: &Call<'_>, thread: i32, signal: i32) -> Result<u64, Errno> {
    let pid = u32::try_from(thread).ok().filter(|&pid| pid > 0).ok_or(Errno::EINVAL)?;
    let signal = u32::try_from(signal).map_err(|_| Errno::EINVAL)?;
    let sender = call.process();
    let info = Info { signal, code: SI_TKILL, detail: Detail::Sender { pid: sender.pid() } };
    processes::kill(sender.origin(), pid, info)?;
    Ok(0)
}

/// `restart_syscall()`: goes on with a call that a stop interrupted. Programs do not call it themselves.
pub(super) fn restart_syscall(call: &mut Call<'_>) -> Result<u64, Errno> {
    let interrupted = call.process().take_interrupted().ok_or(Errno::EINTR)?;
    let handler = super::handler(interrupted.number).ok_or(Errno::EINTR)?;
    call.number = interrupted.number;
    call.resumed = Some(interrupted.deadline);
    handler(call)
}

impl Call<'_> {
    /// Checks that `length` bytes at `address` can be written, before something is taken that could be lost.
    pub(super) fn check_writable(&self, address: u64, length: usize) -> Result<(), Errno> {
        let access = askr_core::areas::Access::Write;
        self.process().with_space(|space| mm::user::check(space, address, length, access))
    }

    /// When this call ends: at `fresh`, or, if it goes on after a stop, when it would have ended before.
    pub(super) fn deadline(&self, fresh: Nanos) -> Nanos {
        self.resumed.unwrap_or(fresh)
    }

    /// EINTR for a call with a deadline: after a stop it goes on for the time that is left.
    pub(super) fn interrupted_before(&self, deadline: Nanos) -> Errno {
        self.process().set_interrupted(self.number, deadline);
        Errno::EINTR
    }
}
