//! A task: a kernel stack and what the scheduler knows about it.

use crate::mm::KernelStack;
use crate::process::Process;
use alloc::sync::Arc;
use askr_wait::WakeToken;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// Something that runs. Kernel tasks have no process.
pub(crate) struct Task {
    stack: KernelStack,
    /// Stack pointer while it does not run.
    rsp: UnsafeCell<u64>,
    token: WakeToken,
    parked: AtomicBool,
    process: Option<Process>,
}

// SAFETY: `rsp` is touched only by the scheduler, with interrupts off on the one core.
unsafe impl Sync for Task {}
// SAFETY: as above; the other fields are Send.
unsafe impl Send for Task {}

impl Task {
    pub(super) fn new_kernel(rsp: u64, stack: KernelStack) -> Arc<Self> {
        Arc::new(Self {
            stack,
            rsp: UnsafeCell::new(rsp),
            token: WakeToken::new(),
            parked: AtomicBool::new(false),
            process: None,
        })
    }

    /// A task of a process; `rsp` was prepared on `stack`.
    pub(crate) fn new_user(process: Process, rsp: u64, stack: KernelStack) -> Arc<Self> {
        let process = Some(process);
        Arc::new(Self {
            stack,
            rsp: UnsafeCell::new(rsp),
            token: WakeToken::new(),
            parked: AtomicBool::new(false),
            process,
        })
    }

    /// The process it runs, unless it is a kernel task.
    pub(crate) const fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    /// Whether it waits for a wake.
    pub(crate) fn is_parked(&self) -> bool {
        self.parked.load(Ordering::Relaxed)
    }

    pub(super) fn set_parked(&self, parked: bool) {
        self.parked.store(parked, Ordering::Relaxed);
    }

    pub(super) const fn token(&self) -> &WakeToken {
        &self.token
    }

    pub(super) const fn stack_top(&self) -> u64 {
        self.stack.top()
    }

    pub(super) fn saved_rsp(&self) -> u64 {
        // SAFETY: see the Sync implementation.
        unsafe { *self.rsp.get() }
    }

    pub(super) const fn rsp_slot(&self) -> *mut u64 {
        self.rsp.get()
    }
}
