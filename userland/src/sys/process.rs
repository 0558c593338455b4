//! Processes, process groups and signals.

use super::raw::syscall;
use alloc_crate::ffi::CString;
use alloc_crate::vec::Vec;
use askr_abi::types::{SIG_DFL, SIG_IGN};
use askr_abi::{Errno, number};
use core::ffi::{CStr, c_char};

/// Number of a process or, negated, of a process group.
pub type Pid = i32;

fn pid_argument(pid: Pid) -> u64 {
    i64::from(pid).cast_unsigned()
}

fn pid_result(result: usize) -> Result<Pid, Errno> {
    Pid::try_from(result).map_err(|_| Errno::EIO)
}

/// `exit_group(2)`: ends the process. Buffered output is lost; [`crate::process::exit`] writes it first.
pub fn exit(status: i32) -> ! {
    // SAFETY: no address is passed.
    let _ = unsafe { syscall(number::EXIT_GROUP, [u64::from(status.cast_unsigned())]) };
    // `exit_group` cannot return. A kernel in which it does gets an illegal instruction instead of a program that
    // runs on.
    // SAFETY: `ud2` touches nothing.
    unsafe { core::arch::asm!("ud2", options(noreturn)) }
}

/// Which of the two processes we are after [`fork`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fork {
    /// The new one.
    Child,
    /// The old one; the new one has this number.
    Parent(Pid),
}

/// `fork(2)`: the kernel copies the address space. Flush buffered output first or both will write it.
pub fn fork() -> Result<Fork, Errno> {
    // SAFETY: programs of this library have one thread, so the child's copy of memory is consistent.
    match unsafe { syscall(number::FORK, []) }? {
        0 => Ok(Fork::Child),
        pid => pid_result(pid).map(Fork::Parent),
    }
}

/// A NULL-terminated array of C strings, as `execve` takes it.
pub struct CStrings {
    /// Keeps alive what `pointers` points to.
    _owned: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl CStrings {
    /// The array of `strings`.
    ///
    /// # Errors
    /// EINVAL if one holds a NUL byte.
    pub fn new(strings: &[&[u8]]) -> Result<Self, Errno> {
        let owned: Vec<CString> = strings
            .iter()
            .map(|&string| CString::new(string).map_err(|_| Errno::EINVAL))
            .collect::<Result<_, _>>()?;
        let end = core::iter::once(core::ptr::null());
        let pointers = owned.iter().map(|string| string.as_ptr()).chain(end).collect();
        Ok(Self { _owned: owned, pointers })
    }
}

/// `execve(2)`: returns only if the kernel refused.
#[must_use]
pub fn execve(path: &CStr, arguments: &CStrings, environment: &CStrings) -> Errno {
    let registers =
        [path.as_ptr() as u64, arguments.pointers.as_ptr() as u64, environment.pointers.as_ptr() as u64];
    // SAFETY: the path and every string are NUL-terminated and live, both arrays end with NULL.
    match unsafe { syscall(number::EXECVE, registers) } {
        Ok(_) => Errno::EIO,
        Err(errno) => errno,
    }
}

/// `wait4(2)`: the child and its raw wait status, or `None` if `WNOHANG` is set and none has ended.
pub fn wait4(pid: Pid, options: u32) -> Result<Option<(Pid, i32)>, Errno> {
    let mut status = 0_i32;
    let arguments = [pid_argument(pid), &raw mut status as u64, u64::from(options), 0];
    // SAFETY: the kernel writes one `int`; the resource usage is not asked for.
    match unsafe { syscall(number::WAIT4, arguments) }? {
        0 => Ok(None),
        child => pid_result(child).map(|child| Some((child, status))),
    }
}

/// `kill(2)`.
pub fn kill(pid: Pid, signal: u32) -> Result<(), Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::KILL, [pid_argument(pid), u64::from(signal)]) }.map(drop)
}

/// `getpid(2)`.
#[must_use]
pub fn getpid() -> Pid {
    // SAFETY: no address is passed. The call cannot fail.
    unsafe { syscall(number::GETPID, []) }.and_then(pid_result).unwrap_or(0)
}

/// `getppid(2)`.
#[must_use]
pub fn getppid() -> Pid {
    // SAFETY: no address is passed. The call cannot fail.
    unsafe { syscall(number::GETPPID, []) }.and_then(pid_result).unwrap_or(0)
}

/// `getpgid(0)`: our process group.
pub fn getpgrp() -> Result<Pid, Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::GETPGID, [0]) }.and_then(pid_result)
}

/// `setpgid(2)`; 0 stands for ourselves, and as the group for the process's own number.
pub fn setpgid(pid: Pid, group: Pid) -> Result<(), Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::SETPGID, [pid_argument(pid), pid_argument(group)]) }.map(drop)
}

/// `setsid(2)`: a session and a group of our own.
pub fn setsid() -> Result<Pid, Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::SETSID, []) }.and_then(pid_result)
}

/// `getsid(2)`; 0 stands for ourselves.
pub fn getsid(pid: Pid) -> Result<Pid, Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::GETSID, [pid_argument(pid)]) }.and_then(pid_result)
}

/// `sched_yield(2)`.
pub fn sched_yield() {
    // SAFETY: no address is passed. The call cannot fail.
    let _ = unsafe { syscall(number::SCHED_YIELD, []) };
}

/// What happens on a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Disposition {
    /// The default action.
    Default = SIG_DFL,
    /// Nothing.
    Ignore = SIG_IGN,
}

/// The kernel's `struct sigaction` on x86-64 (`include/linux/signal_types.h`).
#[repr(C)]
pub(super) struct KernelSigaction {
    pub(super) handler: u64,
    pub(super) flags: u64,
    pub(super) restorer: u64,
    pub(super) mask: u64,
}

/// `rt_sigaction(2)`, without handlers.
pub fn set_signal(signal: u32, disposition: Disposition) -> Result<(), Errno> {
    let action = KernelSigaction { handler: disposition as u64, flags: 0, restorer: 0, mask: 0 };
    let arguments = [u64::from(signal), &raw const action as u64, 0, size_of::<u64>() as u64];
    // SAFETY: the kernel reads one `struct sigaction` and is not asked for the old one.
    unsafe { syscall(number::RT_SIGACTION, arguments) }.map(drop)
}
