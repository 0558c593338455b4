//! brk, mmap, munmap, mprotect, mremap, madvise: anonymous memory. prlimit64 and its older kin.

use super::Call;
use crate::mm::{PAGE, Placement, Remap, USER_END};
use crate::{policy, process};
use askr_abi::Errno;
use askr_abi::types::{
    MADV_DONTNEED, MAP_ANONYMOUS, MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_GROWSDOWN, MAP_HUGETLB, MAP_PRIVATE,
    MAP_SHARED, MAP_TYPE, MREMAP_FIXED, MREMAP_MAYMOVE, PROT_EXEC, PROT_READ, PROT_WRITE,
};
use askr_agentbus::policy::Action;
use askr_core::elf::Rights;
use askr_core::limits::Limit;
use core::ops::Range;

/// Size of `struct rlimit`: two 64-bit words.
const RLIMIT_SIZE: usize = 16;
/// Advice that promises nothing and needs nothing to be done (`man 2 madvise`): MADV_NORMAL, RANDOM, SEQUENTIAL,
/// WILLNEED, FREE, MERGEABLE, UNMERGEABLE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP, COLD, PAGEOUT.
const HINTS: [u64; 13] = [0, 1, 2, 3, 8, 12, 13, 14, 15, 16, 17, 20, 21];

/// `brk(addr)`: returns the end of the heap, moved or not.
pub(super) fn brk(call: &mut Call<'_>) -> Result<u64, Errno> {
    let (wanted, process) = (call.args[0], call.process());
    process.with_space(|space| Ok(space.set_break(wanted, &process.limits())))
}

/// `mmap(addr, length, prot, flags, fd, offset)` of anonymous memory.
pub(super) fn mmap(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [address, length, protection, flags, _, offset] = call.args;
    let kind = flags & MAP_TYPE;
    let known = [MAP_PRIVATE, MAP_SHARED].contains(&kind) && flags & (MAP_GROWSDOWN | MAP_HUGETLB) == 0;
    if !known || length == 0 || !offset.is_multiple_of(PAGE) {
        return Err(Errno::EINVAL);
    }
    if flags & MAP_ANONYMOUS == 0 {
        call.process().files().lock().get(call.int(4))?;
        return Err(Errno::ENODEV);
    }
    let length = length.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
    // Other bits of `prot` mean nothing here, as on Linux.
    let rights = rights_of(protection & (PROT_READ | PROT_WRITE | PROT_EXEC))?;
    let placement = if flags & MAP_FIXED_NOREPLACE != 0 {
        Placement::Free(address)
    } else if flags & MAP_FIXED != 0 {
        Placement::Replace(address)
    } else {
        Placement::Hint(address)
    };
    let process = call.process();
    process.with_space(|space| space.map(placement, length, rights, kind == MAP_SHARED, &process.limits()))
}

/// `munmap(addr, length)`
pub(super) fn munmap(call: &mut Call<'_>) -> Result<u64, Errno> {
    let range = range(call.args[0], call.args[1], Errno::EINVAL)?;
    if range.is_empty() {
        return Err(Errno::EINVAL);
    }
    call.process().with_space(|space| space.unmap(&range))?;
    Ok(0)
}

/// `mprotect(addr, length, prot)`
pub(super) fn mprotect(call: &mut Call<'_>) -> Result<u64, Errno> {
    let range = range(call.args[0], call.args[1], Errno::ENOMEM)?;
    let rights = rights_of(call.args[2])?;
    if !range.is_empty() {
        call.process().with_space(|space| space.protect(&range, rights))?;
    }
    Ok(0)
}

/// `mremap(old_addr, old_size, new_size, flags, new_addr)`
pub(super) fn mremap(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [address, old, new, flags, target, _] = call.args;
    let remap = match flags {
        0 => Remap::Stay,
        MREMAP_MAYMOVE => Remap::Move,
        flags if flags == MREMAP_MAYMOVE | MREMAP_FIXED => Remap::Fixed(target),
        _ => return Err(Errno::EINVAL),
    };
    let old = range(address, old, Errno::EINVAL)?;
    if old.is_empty() || new == 0 {
        return Err(Errno::EINVAL);
    }
    let new = new.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
    let process = call.process();
    process.with_space(|space| space.remap(&old, new, remap, &process.limits()))
}

/// `madvise(addr, length, advice)`
pub(super) fn madvise(call: &mut Call<'_>) -> Result<u64, Errno> {
    let (range, advice) = (range(call.args[0], call.args[1], Errno::EINVAL)?, call.args[2]);
    if advice != MADV_DONTNEED && !HINTS.contains(&advice) {
        return Err(Errno::EINVAL);
    }
    let advise = |space: &mut crate::mm::AddressSpace| match advice {
        MADV_DONTNEED => space.discard(&range),
        _ => space.check_mapped(&range),
    };
    call.process().with_space(advise).map(|()| 0)
}

/// Whole pages from `address`, which is a page's; `beyond` is the error when they leave what programs may use.
fn range(address: u64, length: u64, beyond: Errno) -> Result<Range<u64>, Errno> {
    if !address.is_multiple_of(PAGE) {
        return Err(Errno::EINVAL);
    }
    let length = length.checked_next_multiple_of(PAGE).ok_or(beyond)?;
    let end = address.checked_add(length).filter(|&end| end <= USER_END).ok_or(beyond)?;
    Ok(address..end)
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

/// `getrlimit(resource, limit)`
pub(super) fn getrlimit(call: &mut Call<'_>) -> Result<u64, Errno> {
    let limit = call.process().limits().get(call.int(0) as u32 as usize)?;
    put_limit(call, call.args[1], limit)?;
    Ok(0)
}

/// `setrlimit(resource, limit)`
pub(super) fn setrlimit(call: &mut Call<'_>) -> Result<u64, Errno> {
    let limit = get_limit(call, call.args[1])?;
    call.process().change_limits(|limits| limits.set(call.int(0) as u32 as usize, limit))?;
    Ok(0)
}

/// `prlimit64(pid, resource, new, old)`: of any process, since there is one user.
pub(super) fn prlimit64(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [pid, resource, new, old, ..] = call.args;
    let task = match u32::try_from(pid as i32).map_err(|_| Errno::ESRCH)? {
        0 => call.task.clone(),
        pid => process::find(pid).ok_or(Errno::ESRCH)?,
    };
    let target = task.process().ok_or(Errno::ESRCH)?;
    let resource = resource as u32 as usize;
    let new = if new == 0 { None } else { Some(get_limit(call, new)?) };
    let before = target.limits().get(resource)?;
    if let Some(limit) = new {
        policy::check(call.process().origin(), Action::Limits(target.pid()))?;
        target.change_limits(|limits| limits.set(resource, limit))?;
    }
    if old != 0 {
        put_limit(call, old, before)?;
    }
    Ok(0)
}

fn get_limit(call: &Call<'_>, address: u64) -> Result<Limit, Errno> {
    let mut bytes = [0; RLIMIT_SIZE];
    call.copy_in(address, &mut bytes)?;
    let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|index| bytes[at + index]));
    Ok(Limit { current: word(0), maximum: word(8) })
}

fn put_limit(call: &Call<'_>, address: u64, limit: Limit) -> Result<(), Errno> {
    let mut bytes = [0; RLIMIT_SIZE];
    bytes[..8].copy_from_slice(&limit.current.to_le_bytes());
    bytes[8..].copy_from_slice(&limit.maximum.to_le_bytes());
    call.copy_out(address, &bytes)
}
