//! Memory of the process.

use super::raw::syscall;
use askr_abi::types::{MAP_ANONYMOUS, MAP_PRIVATE, PROT_READ, PROT_WRITE};
use askr_abi::{Errno, number};

/// `brk(2)` as the kernel has it: asks for the program break at `address` and returns where it is now, unchanged
/// if the kernel refused. 0 only asks.
///
/// # Safety
/// Moving the break down takes memory away: nothing above `address` may be in use.
pub unsafe fn brk(address: usize) -> usize {
    // SAFETY: the caller vouches for what lies above `address`; the call never returns an error.
    unsafe { syscall(number::BRK, [address as u64]) }.unwrap_or(0)
}

/// Moves the program break up by `length` bytes: the address where the new memory starts.
///
/// # Errors
/// ENOMEM if the kernel refused.
pub fn grow_break(length: usize) -> Result<usize, Errno> {
    // SAFETY: 0 moves nothing.
    let start = unsafe { brk(0) };
    let end = start.checked_add(length).ok_or(Errno::ENOMEM)?;
    // SAFETY: the break only moves up.
    if start == 0 || unsafe { brk(end) } != end {
        return Err(Errno::ENOMEM);
    }
    Ok(start)
}

/// `mmap(2)` of `length` bytes of zeroed private memory. It stays mapped until the process ends.
pub fn map_anonymous(length: usize) -> Result<&'static mut [u8], Errno> {
    let no_fd = u64::MAX;
    let arguments = [0, length as u64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, no_fd, 0];
    // SAFETY: without MAP_FIXED the kernel chooses a place where nothing of ours lies.
    let address = unsafe { syscall(number::MMAP, arguments) }?;
    // SAFETY: the mapping is new, readable, writable, zeroed, `length` bytes long and never unmapped.
    Ok(unsafe { core::slice::from_raw_parts_mut(core::ptr::with_exposed_provenance_mut(address), length) })
}
