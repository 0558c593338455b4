//! New processes: `fork`, `vfork` and `clone` as far as it makes processes.
//!
//! A child of `vfork` borrows the parent's memory, all of it, and the parent waits: there is one owner at any time. The
//! child gives it back when it executes a program or ends.

use super::{Beginning, INIT, Pid, Process, prepare, table, with_memory};
use crate::arch::trap::TrapFrame;
use crate::bus;
use crate::mm::{self, AddressSpace, KernelStack, USER_END, user};
use crate::sched::{self, Task};
use crate::timeline::{self, Point};
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_core::clone::CloneRequest;
use core::sync::atomic::Ordering;

/// What a child owes the parent that waits for it.
pub(super) struct Debt {
    parent: Arc<Task>,
    /// Whether its memory is the parent's.
    memory: bool,
}

/// The addresses that `clone` takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CloneArguments {
    /// Stack pointer of the child; 0 for that of the parent.
    pub(crate) stack: u64,
    /// Where the child's number goes in the parent.
    pub(crate) parent_tid: u64,
    /// Where it goes in the child.
    pub(crate) child_tid: u64,
    /// The child's thread-local storage.
    pub(crate) tls: u64,
}

/// Makes a child of the running process that returns 0 from the same call. Returns its number; if the request says so, only
/// when the child has executed a program or ended.
///
/// # Errors
/// EAGAIN with too many processes, ENOMEM, EPERM for thread-local storage outside of programs' memory.
pub(crate) fn clone(frame: &TrapFrame, request: CloneRequest, to: CloneArguments) -> Result<Pid, Errno> {
    let task = sched::current();
    let parent = task.process().ok_or(Errno::ESRCH)?;
    if request.set_tls && to.tls >= USER_END {
        return Err(Errno::EPERM);
    }
    if super::dying() {
        // It will not come back to user mode. A child that has not run yet would escape the signal that its group got: a
        // fork bomb could not be ended.
        return Err(Errno::EINTR);
    }
    let child = start(frame, &task, parent, request, to)?;
    let pid = child.process().map_or(0, Process::pid);
    timeline::pass(Point::Fork, pid.into());
    if request.waits {
        wait_for_debt(parent, &child, request.shares_memory);
    }
    Ok(pid)
}

fn start(
    frame: &TrapFrame,
    task: &Arc<Task>,
    parent: &Process,
    request: CloneRequest,
    to: CloneArguments,
) -> Result<Arc<Task>, Errno> {
    let limits = parent.limits();
    let role = parent.role();
    let pid = table::allocate_pid(limits.processes(), role)?;
    let priority = role.of_child().priority();
    let copy = || {
        mm::require_fork_room(priority)?;
        let stack = KernelStack::new(priority)?;
        let shared = request.shares_memory;
        Ok((stack, if shared { None } else { Some(parent.with_space(|space| space.duplicate(priority))?) }))
    };
    // Only for the person at the console does somebody end because of this: a fork bomb is refused.
    let (stack, space) = if role.is_privileged() { with_memory(copy) } else { copy() }?;
    let mut space = match space {
        Some(space) => space,
        None => parent.space.lock().take().ok_or(Errno::ESRCH)?,
    };
    if request.set_child_tid {
        // A bad address is the program's own loss, as on Linux.
        let _ = user::copy_out(&mut space, to.child_tid, &pid.to_le_bytes());
    }
    let beginning = Beginning {
        pid,
        origin: parent.origin(),
        agent_job: parent.agent_job,
        name: parent.name(),
        files: parent.files.lock().clone(),
        cwd: parent.cwd(),
        umask: parent.umask(),
        limits,
        role: role.of_child(),
        vector: parent.save_vector(),
        fs_base: if request.set_tls { to.tls } else { parent.fs_base() },
        signals: parent.signals.lock().inherit(),
        missing_calls: *parent.missing_calls.lock(),
        end_signal: request.end_signal,
    };
    let mut child_frame = *frame;
    child_frame.rax = 0;
    if to.stack != 0 {
        child_frame.rsp = to.stack;
    }
    let child = prepare(Process::new(beginning), &child_frame, stack);
    if let Some(process) = child.process() {
        if request.waits {
            *process.debt.lock() = Some(Debt { parent: task.clone(), memory: request.shares_memory });
        }
        if request.clear_child_tid {
            process.clear_tid.store(to.child_tid, Ordering::Relaxed);
        }
        process.set_space(space);
    }
    if request.set_parent_tid {
        let number = pid.to_le_bytes();
        let owner = if request.shares_memory { child.process() } else { Some(parent) };
        let _ = owner.map(|owner| owner.with_space(|space| user::copy_out(space, to.parent_tid, &number)));
    }
    table::insert(&child, parent.pid);
    bus::jobs::joined(parent.agent_job);
    sched::start(child.clone());
    Ok(child)
}

/// Waits until the child has paid, or whoever had to instead ([`Process::pass_debt_on`]). Only SIGKILL ends that; all other
/// signals wait.
fn wait_for_debt(parent: &Process, child: &Arc<Task>, memory: bool) {
    let child_owes = || child.process().is_some_and(|child| child.debt.lock().is_some());
    let owes = || if memory { parent.space.lock().is_none() } else { child_owes() };
    while owes() && !parent.signals.lock().killed() {
        sched::park();
    }
}

impl Process {
    /// The process whose memory it borrows, if it does.
    pub(super) fn lender(&self) -> Option<Arc<Task>> {
        self.debt.lock().as_ref().filter(|debt| debt.memory).map(|debt| debt.parent.clone())
    }

    /// Its memory is gone, so that nothing can be given back.
    pub(super) fn forget_debt(&self) {
        if let Some(debt) = self.debt.lock().take() {
            sched::unpark(&debt.parent);
        }
    }

    /// It ends while another process has the memory that it has borrowed itself: that one owes it from now on to whom it
    /// came from, who goes on waiting for it. Who waits in between ends only when it is killed.
    pub(super) fn pass_debt_on(&self) {
        if self.space.lock().is_some() || self.lender().is_none() {
            return;
        }
        let owes_to_it = |task: &Arc<Task>| {
            let lender = task.process().and_then(Process::lender);
            lender.is_some_and(|lender| lender.process().is_some_and(|lender| lender.pid == self.pid))
        };
        let Some(borrower) = table::tasks_from(INIT + 1).find(owes_to_it) else { return };
        let debt = self.debt.lock().take();
        if let Some(borrower) = borrower.process() {
            *borrower.debt.lock() = debt;
        }
    }

    /// Gives up memory that was used so far: back to the parent that it belongs to, or to nobody.
    pub(super) fn give_up_space(&self, space: Option<AddressSpace>) {
        let debt = self.debt.lock().take();
        let Some(Debt { parent, memory }) = debt else { return drop(space) };
        if let Some(lender) = parent.process().filter(|_| memory) {
            let mut space = space;
            let clear_tid = self.clear_tid.swap(0, Ordering::Relaxed);
            if let Some(space) = space.as_mut().filter(|_| clear_tid != 0) {
                // A bad address is the program's own loss.
                let _ = user::copy_out(space, clear_tid, &[0; 4]);
            }
            let has_ended = lender.zombie.lock().is_some();
            if !has_ended {
                *lender.space.lock() = space;
            }
        }
        sched::unpark(&parent);
    }
}
