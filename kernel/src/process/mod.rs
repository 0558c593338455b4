//! Processes: their state, the table of all of them, and the door back to user mode.

pub(crate) mod alarm;
mod beginning;
mod deliver;
mod exec;
mod exit;
pub(crate) mod fault;
mod files;
mod fork;
mod interpreter;
mod oom;
mod restart;
mod role;
mod signal;
mod spawn;
mod stop;
mod table;
mod target;
pub(crate) mod terminal;
mod victim;
mod wait;

use beginning::Beginning;
pub(crate) use deliver::resume;
pub(crate) use exec::execute;
use exec::prepare;
pub(crate) use exit::ExitStatus;
pub(crate) use files::Files;
pub(crate) use fork::{CloneArguments, clone};
pub(crate) use oom::with_memory;
pub(crate) use restart::{Interrupted, Restart};
use role::Role;
pub(crate) use signal::{dying, interrupted, kill, kill_all, kill_group, raise};
pub(crate) use spawn::{Program, spawn_init};
pub(crate) use table::{Facts, count, facts_from, find, member, new_session, set_group, wake};
pub(crate) use target::{Target, end_job, kill_target, reap};
pub(crate) use wait::{Children, WaitOptions, Waited, wait};

use crate::arch::clock::{self, Nanos};
use crate::arch::cpu::{self, VectorState};
use crate::arch::trap::TrapFrame;
use crate::fs::Directory;
use crate::mm::{self, AddressSpace};
use crate::sched::{self, Class};
use alarm::Alarm;
use alloc::boxed::Box;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::signal::SIGKILL;
use askr_agentbus::Fault;
use askr_agentbus::policy::Origin;
use askr_core::limits::Limits;
use askr_core::signal::Signals;
use askr_core::signal::fault::FaultRecord;
use askr_core::told::Told;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use fork::Debt;
use spin::Mutex;
use stop::JobState;
use x86_64::instructions::interrupts;

/// Number of a process.
pub(crate) type Pid = u32;

/// The first process: parent of orphans. It takes no signal that it does not handle.
pub(crate) use askr_core::family::INIT;

/// One process with its one task.
pub(crate) struct Process {
    pid: Pid,
    origin: Mutex<Origin>,
    /// The job of the agent that it belongs to, with all that descend from it; 0 for none.
    agent_job: u32,
    name: Mutex<Vec<u8>>,
    space: Mutex<Option<AddressSpace>>,
    /// Top page table of `space`, for the switch.
    root: AtomicU64,
    files: Mutex<Files>,
    cwd: Mutex<Directory>,
    /// Permission bits that new files do not get (`umask(2)`).
    umask: AtomicU32,
    limits: Mutex<Limits>,
    role: Mutex<Role>,
    /// What its role says about that, for the scheduler.
    serves_console: AtomicBool,
    scheduled_group: AtomicU32,
    vector: UnsafeCell<VectorState>,
    fs_base: AtomicU64,
    signals: Mutex<Signals>,
    /// The signal that its parent gets at its end, 0 for none, as long as that is who made it; see `wait::end_signal`.
    end_signal: AtomicU32,
    job: Mutex<JobState>,
    alarm: Mutex<Alarm>,
    /// What it owes the parent that waits for it after `vfork`.
    debt: Mutex<Option<Debt>>,
    /// Where its number is cleared when it gives borrowed memory back; 0 for nowhere.
    clear_tid: AtomicU64,
    /// What a signal handler is told about the last exception.
    fault: Mutex<FaultRecord>,
    /// What is known of the fault that ends it, for whoever waits for it.
    last_fault: Mutex<Option<Box<Fault>>>,
    /// The call that goes on after a stop, if it has a deadline.
    interrupted: Mutex<Option<Interrupted>>,
    /// Set when it is decided that the process ends; carried out on its way to user mode.
    ending: Mutex<Option<ExitStatus>>,
    /// Set when it has ended and waits to be reaped.
    zombie: Mutex<Option<ExitStatus>>,
    /// Numbers of the system calls that its program missed.
    missing_calls: Mutex<Told>,
    /// Whether the agent was told that it has started.
    announced: AtomicBool,
    /// Whether it had to end because memory was used up.
    out_of_memory: AtomicBool,
    /// Time that it has had the processor.
    time: AtomicU64,
    /// The same of its children that it has waited for, and of those that they had waited for.
    children_time: AtomicU64,
    started: Nanos,
}

// SAFETY: `vector` is touched only by the scheduler and by the process itself (`fork`, `execve`, its signal handlers), on
// the one core, without preemption.
unsafe impl Sync for Process {}

impl Process {
    /// Its number.
    pub(crate) const fn pid(&self) -> Pid {
        self.pid
    }

    /// Who stands behind it.
    pub(crate) fn origin(&self) -> Origin {
        *self.origin.lock()
    }

    /// The job of the agent that it belongs to; 0 for none.
    pub(crate) const fn agent_job(&self) -> u32 {
        self.agent_job
    }

    /// Number of its parent.
    pub(crate) fn parent(&self) -> Pid {
        table::member(self.pid).map_or(0, |member| member.parent)
    }

    /// Its process group.
    pub(crate) fn group(&self) -> Pid {
        table::member(self.pid).map_or(0, |member| member.group)
    }

    /// Its session.
    pub(crate) fn session(&self) -> Pid {
        table::member(self.pid).map_or(0, |member| member.session)
    }

    /// Gives a process that has not run yet its memory.
    fn set_space(&self, space: AddressSpace) {
        self.root.store(space.root(), Ordering::Relaxed);
        *self.space.lock() = Some(space);
    }

    /// Where its number is cleared when it gives borrowed memory back.
    pub(crate) fn set_clear_tid(&self, address: u64) {
        self.clear_tid.store(address, Ordering::Relaxed);
    }

    /// Name of its program: the last part of the path.
    pub(crate) fn name(&self) -> Vec<u8> {
        self.name.lock().clone()
    }

    /// Its working directory.
    pub(crate) fn cwd(&self) -> Directory {
        self.cwd.lock().clone()
    }

    /// Changes its working directory.
    pub(crate) fn set_cwd(&self, directory: Directory) {
        let before = core::mem::replace(&mut *self.cwd.lock(), directory);
        drop(before); // the lock is free: a node that nobody has any more may wait for its medium
    }

    /// Permission bits that new files do not get.
    pub(crate) fn umask(&self) -> u32 {
        self.umask.load(Ordering::Relaxed)
    }

    /// Sets them and returns those before.
    pub(crate) fn set_umask(&self, mask: u32) -> u32 {
        self.umask.swap(mask & 0o777, Ordering::Relaxed)
    }

    /// Its resource limits.
    pub(crate) fn limits(&self) -> Limits {
        self.limits.lock().clone()
    }

    /// Changes its resource limits.
    ///
    /// # Errors
    /// What `change` says.
    pub(crate) fn change_limits(
        &self,
        change: impl FnOnce(&mut Limits) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        change(&mut self.limits.lock())
    }

    /// One more than the highest descriptor that it may get.
    pub(crate) fn descriptor_limit(&self) -> usize {
        let limit = usize::try_from(self.limits.lock().descriptors());
        limit.unwrap_or(usize::MAX).min(files::DESCRIPTORS_MAX)
    }

    /// Lets the scheduler know its group, which has no time to look for it.
    fn note_group(&self, group: Pid) {
        self.scheduled_group.store(group, Ordering::Relaxed);
    }

    /// With whom it waits for the processor, by the group that it was in last. For the scheduler: takes no lock.
    pub(crate) fn class(&self) -> Class {
        if self.serves_console.load(Ordering::Relaxed) {
            Class::Console
        } else if self.scheduled_group.load(Ordering::Relaxed) == terminal::scheduled_foreground() {
            Class::Foreground
        } else {
            Class::Background
        }
    }

    /// What it is to the person at the console.
    pub(crate) fn role(&self) -> Role {
        *self.role.lock()
    }

    /// Changes it: it executes another program.
    fn set_role(&self, role: Role) {
        *self.role.lock() = role;
        self.serves_console.store(role.serves_console(), Ordering::Relaxed);
    }

    /// Takes its memory away for good: it has ended, or its end is decided.
    pub(super) fn take_space(&self) -> Option<AddressSpace> {
        let space = self.space.lock().take();
        // It may be switched to once more, to end.
        self.root.store(mm::kernel_root(), Ordering::Relaxed);
        space
    }

    /// Its open files.
    pub(crate) const fn files(&self) -> &Mutex<Files> {
        &self.files
    }

    /// Its signals.
    pub(crate) const fn signals(&self) -> &Mutex<Signals> {
        &self.signals
    }

    /// Uses its memory.
    ///
    /// # Errors
    /// ESRCH when it has ended and has none; what `use_it` returns.
    pub(crate) fn with_space<R>(
        &self,
        use_it: impl FnOnce(&mut AddressSpace) -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        self.space.lock().as_mut().map_or(Err(Errno::ESRCH), use_it)
    }

    /// Base of its thread-local storage.
    pub(crate) fn fs_base(&self) -> u64 {
        self.fs_base.load(Ordering::Relaxed)
    }

    /// Sets the base of thread-local storage of the running process.
    pub(crate) fn set_fs_base(&self, base: u64) {
        self.fs_base.store(base, Ordering::Relaxed);
        cpu::set_fs_base(base);
    }

    /// Whether it is decided that it ends.
    pub(super) fn is_ending(&self) -> bool {
        self.ending.lock().is_some()
    }

    /// Decides that it ends; the first reason counts.
    pub(crate) fn end(&self, status: ExitStatus) {
        self.ending.lock().get_or_insert(status);
    }

    /// Decides that it ends because memory is used up.
    fn end_for_memory(&self) {
        self.out_of_memory.store(true, Ordering::Relaxed);
        self.end(ExitStatus::Signal(SIGKILL));
    }

    /// Whether nobody has told the agent yet that it has started; true once.
    pub(crate) fn announce(&self) -> bool {
        !self.announced.swap(true, Ordering::Relaxed)
    }

    /// Whether its program misses the system call `number` for the first time.
    pub(crate) fn misses_call(&self, number: u64) -> bool {
        self.missing_calls.lock().is_new(number)
    }

    /// Nanoseconds since it started.
    pub(crate) fn age(&self) -> Nanos {
        clock::now().saturating_sub(self.started)
    }

    /// It has had the processor for so long. For the scheduler.
    pub(crate) fn add_time(&self, time: Nanos) {
        self.time.fetch_add(time, Ordering::Relaxed);
    }

    /// Time that it has had the processor, in its program and in the kernel, until now.
    pub(crate) fn time(&self) -> Nanos {
        let running = sched::current().process().is_some_and(|process| core::ptr::eq(process, self));
        self.time.load(Ordering::Relaxed) + if running { sched::uncharged() } else { 0 }
    }

    /// The same of the children that it has waited for, and of those that they had waited for.
    pub(crate) fn children_time(&self) -> Nanos {
        self.children_time.load(Ordering::Relaxed)
    }

    /// The vector registers of the running process.
    fn save_vector(&self) -> VectorState {
        // SAFETY: the process runs this itself; see the Sync implementation.
        unsafe {
            (*self.vector.get()).save();
            (*self.vector.get()).clone()
        }
    }

    /// Gives the running process other vector registers.
    fn set_vector(&self, state: VectorState) {
        // SAFETY: as above.
        unsafe {
            *self.vector.get() = state;
            (*self.vector.get()).load();
        }
    }

    /// Called by the scheduler before another task runs.
    pub(crate) fn leave_processor(&self) {
        // SAFETY: see the Sync implementation.
        unsafe { (*self.vector.get()).save() };
    }

    /// Called by the scheduler before this one runs.
    pub(crate) fn enter_processor(&self) {
        // SAFETY: see the Sync implementation.
        unsafe { (*self.vector.get()).load() };
        cpu::set_fs_base(self.fs_base());
        mm::load_root(self.root.load(Ordering::Relaxed));
    }
}

/// Everything that happens between the kernel's work and user code: due timers, signals, the end of the process,
/// other tasks. Interrupts are on; they are off on return, so that nothing comes between the last look and the user's
/// code. Does not return if the process ends. No caller holds a reference to the task. `restart` says what a system call
/// that a signal interrupted does after it.
pub(crate) fn before_user(frame: &mut TrapFrame, mut restart: Option<Restart>) {
    loop {
        sched::run_timers();
        if deliver::deliver(frame, &mut restart) {
            exit::finish();
        }
        interrupts::disable();
        if !sched::should_yield() {
            return;
        }
        sched::yield_now(); // turns them on again
    }
}

/// A named yield point in a system call that may take long: lets others run, and says whether to give up because a
/// signal ends the process. No lock is held.
pub(crate) fn breathe() -> bool {
    sched::run_timers();
    if sched::should_yield() {
        sched::yield_now();
    }
    dying()
}
