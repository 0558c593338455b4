//! `brk`, `mmap`, `munmap`, `mprotect`, `mremap` and `madvise` on an address space.

use super::super::frames::{self, PAGE};
use super::super::paging;
use super::{AddressSpace, USER_END, flags, populate};
use askr_abi::Errno;
use askr_core::areas::Area;
use askr_core::elf::{Rights, USER_MIN};
use askr_core::limits::Limits;
use core::ops::Range;

/// `mmap` hands out addresses downwards from here.
const MMAP_TOP: u64 = 0x7fff_0000_0000;
/// Largest piece of memory that `mmap` makes for sharing, in bytes: its pages are made at once.
const SHARED_MAX: u64 = 64 << 20;

/// Where `mmap` is to put an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Here if there is room, else anywhere.
    Hint(u64),
    /// Here; what is there goes (MAP_FIXED).
    Replace(u64),
    /// Here if nothing is there (MAP_FIXED_NOREPLACE).
    Free(u64),
}

/// Where `mremap` may put what it makes larger or smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remap {
    /// Where it is.
    Stay,
    /// Anywhere (MREMAP_MAYMOVE).
    Move,
    /// Here; what is there goes (MREMAP_FIXED).
    Fixed(u64),
}

/// Whether the machine has `bytes` of memory at all.
///
/// # Errors
/// ENOMEM
fn check_machine(bytes: u64) -> Result<(), Errno> {
    if bytes > frames::usage().total * PAGE { Err(Errno::ENOMEM) } else { Ok(()) }
}

impl AddressSpace {
    /// `brk`: moves the end of the heap and returns where it now is; on failure where it was, as Linux does.
    pub(crate) fn set_break(&mut self, wanted: u64, limits: &Limits) -> u64 {
        if wanted < self.heap_start || wanted > USER_END {
            return self.heap_end;
        }
        let (old, new) = (self.heap_end.next_multiple_of(PAGE), wanted.next_multiple_of(PAGE));
        let done = if new > old {
            let grown = check_machine(new - old)
                .and_then(|()| self.check_limits(new - old, Rights::READ_WRITE, false, limits));
            grown.and_then(|()| self.areas.add(old..new, Rights::READ_WRITE)).is_ok()
        } else {
            new == old || self.unmap(&(new..old)).is_ok()
        };
        if done {
            self.heap_end = wanted;
        }
        self.heap_end
    }

    /// `mmap` of `length` bytes (whole pages) of zeroed memory. Shared memory gets its pages at once, since parent and
    /// child of a later `fork` must find the same ones.
    ///
    /// # Errors
    /// ENOMEM: no room, a limit, or more than the machine has; EINVAL for an address that is no page's; EPERM below what
    /// programs may use; EEXIST for [`Placement::Free`] where something is.
    pub(crate) fn map(
        &mut self,
        placement: Placement,
        length: u64,
        rights: Rights,
        shared: bool,
        limits: &Limits,
    ) -> Result<u64, Errno> {
        check_machine(length)?;
        if shared && length > SHARED_MAX {
            return Err(Errno::ENOMEM);
        }
        let range = self.place(placement, length)?;
        self.check_limits(length - self.overlap(&range), rights, shared, limits)?;
        if let Placement::Replace(_) = placement {
            self.unmap(&range)?;
        }
        let area = Area { range: range.clone(), rights, shared };
        self.areas.add_area(area.clone()).map_err(|_| Errno::ENOMEM)?;
        if shared {
            let mut pages = range.clone().step_by(PAGE as usize);
            let fill = |at| populate(&mut self.tables, &mut self.resident, at, &area).map(drop);
            if let Err(errno) = pages.try_for_each(fill) {
                self.unmap(&range)?;
                return Err(errno);
            }
        }
        Ok(range.start)
    }

    /// The range for a new area of `length` bytes.
    fn place(&self, placement: Placement, length: u64) -> Result<Range<u64>, Errno> {
        let at = |address: u64| {
            let end = address.checked_add(length).filter(|&end| end <= USER_END).ok_or(Errno::ENOMEM)?;
            Ok(address..end)
        };
        match placement {
            Placement::Hint(hint) => {
                let wanted = at(hint.next_multiple_of(PAGE)).ok();
                let wanted = wanted.filter(|range| range.start >= USER_MIN && self.areas.is_free(range));
                let within = self.heap_end.next_multiple_of(PAGE)..MMAP_TOP;
                wanted.or_else(|| self.areas.highest_room(length, within)).ok_or(Errno::ENOMEM)
            }
            Placement::Replace(address) | Placement::Free(address) => {
                if !address.is_multiple_of(PAGE) {
                    return Err(Errno::EINVAL);
                }
                let range = at(address)?;
                if range.start < USER_MIN {
                    return Err(Errno::EPERM);
                }
                let taken = matches!(placement, Placement::Free(_)) && !self.areas.is_free(&range);
                if taken { Err(Errno::EEXIST) } else { Ok(range) }
            }
        }
    }

    /// Bytes of `range` that belong to areas.
    fn overlap(&self, range: &Range<u64>) -> u64 {
        let part =
            |area: &Area| area.range.end.min(range.end).saturating_sub(area.range.start.max(range.start));
        self.areas.iter().map(part).sum()
    }

    /// Whether `more` bytes may be added (RLIMIT_AS, RLIMIT_DATA).
    fn check_limits(&self, more: u64, rights: Rights, shared: bool, limits: &Limits) -> Result<(), Errno> {
        let is_data = |area: &Area| area.rights.write && !area.shared && area.range.start < self.stack_start;
        let data = if rights.write && !shared { self.areas.bytes(is_data) + more } else { 0 };
        if self.size() + more > limits.memory() || data > limits.data() {
            return Err(Errno::ENOMEM);
        }
        Ok(())
    }

    /// Removes whatever lies in `range` and gives its memory back.
    ///
    /// # Errors
    /// Those of [`Areas::remove`](askr_core::areas::Areas::remove); ENOMEM for a cut that the kernel has no room to
    /// remember.
    pub(crate) fn unmap(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        if self.areas.cuts(range) > 0 {
            super::super::require_heap_room()?;
        }
        self.areas.remove(range)?;
        self.release(range);
        Ok(())
    }

    /// `mprotect`: gives `range` other rights.
    ///
    /// # Errors
    /// Those of [`Areas::protect`](askr_core::areas::Areas::protect).
    pub(crate) fn protect(&mut self, range: &Range<u64>, rights: Rights) -> Result<(), Errno> {
        self.areas.protect(range, rights)?;
        let areas = &self.areas;
        self.tables.for_each(range, &mut |address, entry| {
            if let Some(area) = areas.find(address) {
                entry.set_flags(flags(area, entry.addr().as_u64()));
            }
        });
        paging::flush(self.root());
        Ok(())
    }

    /// `madvise(MADV_DONTNEED)`: private memory in `range` is zero again, and its pages are given back. Shared memory
    /// keeps what is in it.
    ///
    /// # Errors
    /// ENOMEM when part of it belongs to no area; the rest has been done.
    pub(crate) fn discard(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        let areas = core::mem::take(&mut self.areas);
        for area in areas.iter().filter(|area| !area.shared) {
            self.release(&(area.range.start.max(range.start)..area.range.end.min(range.end)));
        }
        self.areas = areas;
        self.check_mapped(range)
    }

    /// # Errors
    /// ENOMEM when part of `range` belongs to no area.
    pub(crate) fn check_mapped(&self, range: &Range<u64>) -> Result<(), Errno> {
        if self.areas.covered(range) == range.end - range.start { Ok(()) } else { Err(Errno::ENOMEM) }
    }

    /// `mremap`: makes the part `old` of an area `length` bytes long (both whole pages), where it is or elsewhere, with
    /// the pages that it has. Returns where it is then.
    ///
    /// # Errors
    /// EFAULT when `old` is not within one area; EINVAL when the new place meets the old one or shared memory would grow;
    /// ENOMEM.
    pub(crate) fn remap(
        &mut self,
        old: &Range<u64>,
        length: u64,
        remap: Remap,
        limits: &Limits,
    ) -> Result<u64, Errno> {
        let area =
            self.areas.find(old.start).filter(|area| area.range.end >= old.end).ok_or(Errno::EFAULT)?;
        let (rights, shared) = (area.rights, area.shared);
        let more = length.saturating_sub(old.end - old.start);
        if shared && more > 0 {
            return Err(Errno::EINVAL);
        }
        check_machine(more)?;
        self.check_limits(more, rights, shared, limits)?;
        if let Remap::Fixed(address) = remap {
            let new = self.place(Placement::Replace(address), length)?;
            if new.start < old.end && old.start < new.end {
                return Err(Errno::EINVAL);
            }
            self.unmap(&new)?;
            return self.relocate(old, &Area { range: new, rights, shared });
        }
        let in_place = old.start.checked_add(length).filter(|&end| end <= USER_END).ok_or(Errno::ENOMEM)?;
        if more == 0 {
            if in_place < old.end {
                self.unmap(&(in_place..old.end))?;
            }
            return Ok(old.start);
        }
        if self.areas.is_free(&(old.end..in_place)) {
            self.areas.add_area(Area { range: old.end..in_place, rights, shared })?;
            return Ok(old.start);
        }
        if remap == Remap::Stay {
            return Err(Errno::ENOMEM);
        }
        let new = self.place(Placement::Hint(0), length)?;
        self.relocate(old, &Area { range: new, rights, shared })
    }

    /// Moves the pages of `old` to the new area, as far as they fit; the old place is free then. On an error nothing has
    /// changed.
    fn relocate(&mut self, old: &Range<u64>, new: &Area) -> Result<u64, Errno> {
        let start = new.range.start;
        let kept = old.start..old.end.min(old.start + new.len());
        super::super::require_heap_room()?;
        self.areas.add_area(new.clone())?;
        let moved = self.tables.prepare(&kept, start).and_then(|()| self.areas.remove(old));
        if let Err(errno) = moved {
            self.unmap(&new.range)?;
            return Err(errno);
        }
        self.tables.move_pages(&kept, start);
        paging::flush(self.root());
        self.release(old);
        Ok(start)
    }
}
