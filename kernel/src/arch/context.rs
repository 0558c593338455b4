//! Kernel stacks and the switch between them.

use crate::mm::KernelStack;
use x86_64::instructions::interrupts;

unsafe extern "C" {
    fn context_switch(save: *mut u64, load: u64);
    fn context_start();
    fn trap_return();
}

/// Words on a fresh stack: six registers and the return address. After them the stack pointer is the stack's top, which
/// is 16-aligned as the ABI wants it before a call (SysV ABI, 3.2.2).
const START_WORDS: usize = 7;

/// Prepares `stack` so that switching to it calls `function(argument)`; returns the stack pointer to load.
pub(crate) fn prepare(stack: &KernelStack, function: extern "C" fn(u64) -> !, argument: u64) -> u64 {
    let mut words = [0_u64; START_WORDS];
    words[3] = argument; // r12
    words[4] = function as usize as u64; // rbx
    words[6] = context_start as *const () as u64;
    let rsp = stack.top() - (START_WORDS * 8) as u64;
    // SAFETY: the stack is fresh, mapped and at least this large.
    unsafe { core::ptr::copy_nonoverlapping(words.as_ptr(), rsp as *mut u64, START_WORDS) };
    rsp
}

/// Prepares `stack` so that switching to it returns to user mode with `frame`.
pub(crate) fn prepare_user(stack: &KernelStack, frame: &super::trap::TrapFrame) -> u64 {
    let frame_at = stack.top() - size_of::<super::trap::TrapFrame>() as u64;
    let mut words = [0_u64; START_WORDS];
    words[6] = trap_return as *const () as u64;
    let rsp = frame_at - (START_WORDS * 8) as u64;
    // SAFETY: the stack is fresh, mapped and larger than frame and words.
    unsafe {
        (frame_at as *mut super::trap::TrapFrame).write(*frame);
        core::ptr::copy_nonoverlapping(words.as_ptr(), rsp as *mut u64, START_WORDS);
    }
    rsp
}

/// Switches to the stack pointer `load` and keeps the present one in `save`. Returns when somebody switches back.
///
/// # Safety
/// `load` was prepared by this module or saved by this function, and belongs to no running task; `save` lives
/// until the task is switched back to.
pub(crate) unsafe fn switch(save: *mut u64, load: u64) {
    debug_assert!(!interrupts::are_enabled());
    // SAFETY: the caller's promise.
    unsafe { context_switch(save, load) };
}
