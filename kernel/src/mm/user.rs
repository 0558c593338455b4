//! The one way to a program's memory. Every address is checked here against the program's areas and reached through
//! the map of physical memory; the kernel never dereferences a user address, so no access of its own can fault
//! and SMAP stays on. A program's memory cannot change under the copy: one core, and the kernel is not preempted.

use super::space::AddressSpace;
use super::{PAGE, USER_END, phys_to_virt};
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_core::areas::Access;

/// Copies from the program.
///
/// # Errors
/// EFAULT where the range is not readable memory of the program.
pub(crate) fn copy_in(space: &mut AddressSpace, address: u64, into: &mut [u8]) -> Result<(), Errno> {
    walk(space, address, into.len(), Access::Read, |source, range| {
        // SAFETY: `walk` gives pointers to mapped memory of that length.
        unsafe { core::ptr::copy_nonoverlapping(source, into[range.clone()].as_mut_ptr(), range.len()) };
        true
    })
}

/// Copies to the program.
///
/// # Errors
/// EFAULT where the range is not writable memory of the program; pages before it may be written already.
pub(crate) fn copy_out(space: &mut AddressSpace, address: u64, from: &[u8]) -> Result<(), Errno> {
    walk(space, address, from.len(), Access::Write, |target, range| {
        // SAFETY: `walk` gives pointers to mapped memory of that length.
        unsafe { core::ptr::copy_nonoverlapping(from[range.clone()].as_ptr(), target, range.len()) };
        true
    })
}

/// Lets `fill` write straight into the program's memory, a page at a time, until it has less for one than there is room.
/// It is told how much came before and must not wait. Returns how much came: less also where the rest of the range is not
/// writable memory of the program.
///
/// # Errors
/// Before anything came: EFAULT, and those of `fill`.
pub(crate) fn fill(
    space: &mut AddressSpace,
    address: u64,
    length: usize,
    mut fill: impl FnMut(&mut [u8], usize) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let (mut done, mut result) = (0, Ok(()));
    let walked = walk(space, address, length, Access::Write, |target, range| {
        // SAFETY: `walk` gives pointers to mapped memory of that length. The program does not run meanwhile, and who
        // does not wait is alone in the kernel.
        let page = unsafe { core::slice::from_raw_parts_mut(target, range.len()) };
        let wanted = range.len();
        match fill(page, range.start) {
            Ok(got) => done += got,
            Err(errno) => result = Err(errno),
        }
        result.is_ok() && done == range.start + wanted
    });
    if done > 0 { Ok(done) } else { walked.and(result).map(|()| 0) }
}

/// A NUL-terminated string without its NUL.
///
/// # Errors
/// EFAULT; ENOMEM; `too_long` when no NUL comes within `limit` bytes.
pub(crate) fn string(
    space: &mut AddressSpace,
    address: u64,
    limit: usize,
    too_long: Errno,
) -> Result<Vec<u8>, Errno> {
    let mut string = Vec::new();
    while string.len() < limit {
        let at = address.checked_add(string.len() as u64).ok_or(Errno::EFAULT)?;
        let mut chunk = [0; 64];
        let chunk = &mut chunk[..64.min((PAGE - at % PAGE) as usize)];
        copy_in(space, at, chunk)?;
        string.try_reserve(chunk.len()).map_err(|_| Errno::ENOMEM)?;
        if let Some(end) = chunk.iter().position(|&byte| byte == 0) {
            string.extend_from_slice(&chunk[..end]);
            return if string.len() < limit { Ok(string) } else { Err(too_long) };
        }
        string.extend_from_slice(chunk);
    }
    Err(too_long)
}

/// One 64-bit word.
///
/// # Errors
/// EFAULT.
pub(crate) fn word(space: &mut AddressSpace, address: u64) -> Result<u64, Errno> {
    let mut bytes = [0; 8];
    copy_in(space, address, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Whether a program can have memory there at all.
pub(crate) fn is_possible(address: u64, length: u64) -> bool {
    address.checked_add(length).is_some_and(|end| end <= USER_END)
}

/// Checks that the whole range may be used so, filling in pages, without copying anything.
///
/// # Errors
/// EFAULT.
pub(crate) fn check(
    space: &mut AddressSpace,
    address: u64,
    length: usize,
    access: Access,
) -> Result<(), Errno> {
    walk(space, address, length, access, |_, _| true)
}

/// Goes through the pages of a range until `visit` returns false.
fn walk(
    space: &mut AddressSpace,
    address: u64,
    length: usize,
    access: Access,
    mut visit: impl FnMut(*mut u8, core::ops::Range<usize>) -> bool,
) -> Result<(), Errno> {
    address.checked_add(length as u64).ok_or(Errno::EFAULT)?;
    let mut done = 0;
    while done < length {
        let at = address + done as u64;
        let physical = space.touch(at, access)?;
        let count = (length - done).min((PAGE - at % PAGE) as usize);
        if !visit(phys_to_virt(physical) as *mut u8, done..done + count) {
            break;
        }
        done += count;
    }
    Ok(())
}
