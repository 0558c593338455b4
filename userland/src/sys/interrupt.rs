//! SIGINT and its like as a flag, for a program that goes on after Ctrl-C.

use super::process::KernelSigaction;
use super::raw::syscall;
use askr_abi::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use askr_abi::types::SA_RESTORER;
use askr_abi::{Errno, number};
use core::arch::naked_asm;
use core::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The handler. It touches nothing but the flag, since the program may be anywhere.
extern "C" fn note(_signal: i32) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Where the handler returns to (`sigreturn(2)`): the kernel puts back what was interrupted.
///
/// # Safety
/// Only the kernel may lead here, with its frame on the stack.
#[unsafe(naked)]
unsafe extern "C" fn give_back() -> ! {
    naked_asm!("mov eax, {call}", "syscall", "ud2", call = const number::RT_SIGRETURN)
}

/// From now on SIGINT sets a flag, and a call that waits ends with EINTR.
///
/// # Errors
/// What `rt_sigaction(2)` says.
pub fn catch_interrupts() -> Result<(), Errno> {
    catch(SIGINT)
}

/// From now on each of the signals that ask a program to end sets that flag: SIGINT, SIGQUIT, SIGTERM, SIGHUP.
///
/// # Errors
/// What `rt_sigaction(2)` says.
pub fn catch_ends() -> Result<(), Errno> {
    [SIGINT, SIGQUIT, SIGTERM, SIGHUP].into_iter().try_for_each(catch)
}

fn catch(signal: u32) -> Result<(), Errno> {
    let handler: extern "C" fn(i32) = note;
    let restorer: unsafe extern "C" fn() -> ! = give_back;
    let action = KernelSigaction {
        handler: handler as usize as u64,
        flags: SA_RESTORER,
        restorer: restorer as usize as u64,
        mask: 0,
    };
    let arguments = [u64::from(signal), &raw const action as u64, 0, size_of::<u64>() as u64];
    // SAFETY: the kernel reads one `struct sigaction` and is not asked for the old one. The handler may run at any
    // point: it only stores to an atomic, and the kernel saves and restores every register.
    unsafe { syscall(number::RT_SIGACTION, arguments) }.map(drop)
}

/// Whether such a signal came since the last call.
pub fn take_interrupt() -> bool {
    INTERRUPTED.swap(false, Ordering::Relaxed)
}
