//! brk, mmap, munmap, mprotect: anonymous private memory.

use super::Call;
use crate::mm::USER_END;
use askr_abi::Errno;
use askr_abi::types::{MAP_ANONYMOUS, MAP_FIXED, MAP_PRIVATE, PROT_EXEC, PROT_READ, PROT_WRITE};
use askr_core::elf::Rights;

/// `brk(addr)`: returns the end of the heap, moved or not.
pub(super) fn brk(call: &mut Call<'_>) -> Result<u64, Errno> {
    let wanted = call.args[0];
    call.process().with_space(|space| Ok(space.set_break(wanted)))
}

/// `mmap(addr, length, prot, flags, fd, offset)` of anonymous private memory; the address is chosen by the kernel.
///
/// EINVAL for other kinds of mapping, EACCES for memory that would be writable and executable, ENOMEM.
pub(super) fn mmap(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, length, protection, flags, ..] = call.args;
    if flags & MAP_ANONYMOUS == 0 || flags & MAP_PRIVATE == 0 || flags & MAP_FIXED != 0 {
        return Err(Errno::EINVAL);
    }
    let rights = rights_of(protection)?;
    call.process().with_space(|space| space.map_anonymous(length, rights))
}

/// `munmap(addr, length)`
pub(super) fn munmap(call: &mut Call<'_>) -> Result<u64, Errno> {
    let range = range(call.args[0], call.args[1])?;
    call.process().with_space(|space| space.unmap(&range))?;
    Ok(0)
}

/// `mprotect(addr, length, prot)`
pub(super) fn mprotect(call: &mut Call<'_>) -> Result<u64, Errno> {
    let range = range(call.args[0], call.args[1])?;
    let rights = rights_of(call.args[2])?;
    call.process().with_space(|space| space.protect(&range, rights))?;
    Ok(0)
}

fn range(address: u64, length: u64) -> Result<core::ops::Range<u64>, Errno> {
    let length = length.checked_next_multiple_of(crate::mm::PAGE).ok_or(Errno::EINVAL)?;
    let end = address.checked_add(length).filter(|&end| end <= USER_END).ok_or(Errno::EINVAL)?;
    if length == 0 { Err(Errno::EINVAL) } else { Ok(address..end) }
}

fn rights_of(bits: u64) -> Result<Rights, Errno> {
    if bits & !(PROT_READ | PROT_WRITE | PROT_EXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    let (write, execute) = (bits & PROT_WRITE != 0, bits & PROT_EXEC != 0);
    if write && execute {
        return Err(Errno::EACCES);
    }
    // On x86 whatever may be written or executed can be read.
    Ok(Rights { read: bits != 0, write, execute })
}
