//! The address space of a program: areas with their protection, filled with zeroed pages when first touched.

use super::frames::{self, PAGE};
use super::paging::{self, Allocator, KERNEL_SLOTS, phys_to_virt};
use alloc::vec::Vec;
use askr_abi::Errno;
pub(crate) use askr_core::elf::USER_END;
use askr_core::elf::USER_MIN;
use core::ops::Range;
use x86_64::instructions::tlb;
use x86_64::structures::paging::mapper::{MappedFrame, TranslateResult};
use x86_64::structures::paging::{
    Mapper, Page, PageTable, PageTableFlags as Flags, PhysFrame, Size4KiB, Translate,
};
use x86_64::{PhysAddr, VirtAddr};

/// Top of the stack.
pub(crate) const STACK_TOP: u64 = USER_END;
/// Largest stack (`RLIMIT_STACK` as on Linux).
const STACK_SIZE: u64 = 8 << 20;
/// `mmap` hands out addresses downwards from here.
const MMAP_TOP: u64 = 0x7fff_0000_0000;
/// Areas a program may have.
const AREAS_MAX: usize = 1024;

/// What may be done with an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Protection {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) execute: bool,
}

/// How memory is about to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Execute,
}

impl Protection {
    pub(crate) const READ_WRITE: Self = Self { read: true, write: true, execute: false };

    const fn allows(self, access: Access) -> bool {
        match access {
            Access::Read => self.read,
            Access::Write => self.write,
            Access::Execute => self.execute,
        }
    }

    fn flags(self) -> Flags {
        // A page without any right stays present, for the kernel alone: its content must survive.
        let mut flags = Flags::PRESENT;
        flags.set(Flags::USER_ACCESSIBLE, self.read || self.write || self.execute);
        flags.set(Flags::WRITABLE, self.write);
        flags.set(Flags::NO_EXECUTE, !self.execute);
        flags
    }
}

#[derive(Clone)]
struct Area {
    range: Range<u64>,
    protection: Protection,
}

/// Areas and page tables of one program.
pub(crate) struct AddressSpace {
    root: u64,
    /// Sorted, disjoint.
    areas: Vec<Area>,
    heap_start: u64,
    heap_end: u64,
    resident: u64,
}

impl AddressSpace {
    /// An empty space with a stack area.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn new() -> Result<Self, Errno> {
        let root = frames::allocate().ok_or(Errno::ENOMEM)?;
        // SAFETY: both are top tables in mapped memory; the new one is ours alone, the kernel's is only read.
        unsafe {
            let kernel = &*(phys_to_virt(paging::kernel_root()) as *const PageTable);
            let new = &mut *(phys_to_virt(root) as *mut PageTable);
            for slot in KERNEL_SLOTS..512 {
                new[slot] = kernel[slot].clone();
            }
        }
        let mut space = Self { root, areas: Vec::new(), heap_start: 0, heap_end: 0, resident: 0 };
        space.add_area(STACK_TOP - STACK_SIZE..STACK_TOP, Protection::READ_WRITE)?;
        Ok(space)
    }

    /// Physical address of the top table.
    pub(crate) const fn root(&self) -> u64 {
        self.root
    }

    /// Bytes in memory.
    pub(crate) const fn resident(&self) -> u64 {
        self.resident * PAGE
    }

    /// Adds an area of zeroed memory; `range` is widened to whole pages.
    ///
    /// # Errors
    /// EINVAL outside the user half, EEXIST if it meets another area, ENOMEM with too many areas.
    pub(crate) fn add_area(&mut self, range: Range<u64>, protection: Protection) -> Result<(), Errno> {
        let range =
            range.start / PAGE * PAGE..range.end.checked_next_multiple_of(PAGE).ok_or(Errno::EINVAL)?;
        if range.start < USER_MIN || range.end > USER_END || range.is_empty() {
            return Err(Errno::EINVAL);
        }
        let index = self.areas.partition_point(|area| area.range.end <= range.start);
        if self.areas.get(index).is_some_and(|next| next.range.start < range.end) {
            return Err(Errno::EEXIST);
        }
        // What continues the area before it becomes part of it: a heap that grows stays one area.
        if let Some(before) = index.checked_sub(1).map(|before| &mut self.areas[before])
            && before.range.end == range.start
            && before.protection == protection
        {
            before.range.end = range.end;
            return Ok(());
        }
        if self.areas.len() == AREAS_MAX {
            return Err(Errno::ENOMEM);
        }
        self.areas.insert(index, Area { range, protection });
        Ok(())
    }

    /// Sets where the heap begins: right above the program.
    pub(crate) fn set_heap_start(&mut self, address: u64) {
        self.heap_start = address.next_multiple_of(PAGE);
        self.heap_end = self.heap_start;
    }

    /// `brk`: moves the end of the heap and returns where it now is; on failure where it was, as Linux does.
    pub(crate) fn set_break(&mut self, wanted: u64) -> u64 {
        if wanted < self.heap_start || wanted > USER_END {
            return self.heap_end;
        }
        let (old, new) = (self.heap_end.next_multiple_of(PAGE), wanted.next_multiple_of(PAGE));
        let done = if new > old {
            self.add_area(old..new, Protection::READ_WRITE).is_ok()
        } else {
            new == old || self.unmap(new..old).is_ok()
        };
        if done {
            self.heap_end = wanted;
        }
        self.heap_end
    }

    /// `mmap` of anonymous private memory: finds room for `length` bytes and adds the area.
    ///
    /// # Errors
    /// EINVAL for length 0, ENOMEM.
    pub(crate) fn map_anonymous(&mut self, length: u64, protection: Protection) -> Result<u64, Errno> {
        let length =
            length.checked_next_multiple_of(PAGE).filter(|&length| length > 0).ok_or(Errno::EINVAL)?;
        let mut end = MMAP_TOP;
        for area in self.areas.iter().rev().filter(|area| area.range.start < MMAP_TOP) {
            if end >= area.range.end && end - area.range.end >= length {
                break;
            }
            end = area.range.start.min(end);
        }
        let start = end.checked_sub(length).filter(|&start| start >= self.heap_end.max(USER_MIN));
        let start = start.ok_or(Errno::ENOMEM)?;
        self.add_area(start..end, protection).map_err(|_| Errno::ENOMEM)?;
        Ok(start)
    }

    /// Removes whatever lies in `range` (whole pages), splitting areas that stick out.
    ///
    /// # Errors
    /// EINVAL if it is not page-aligned or leaves the user half, ENOMEM with too many areas.
    pub(crate) fn unmap(&mut self, range: Range<u64>) -> Result<(), Errno> {
        self.split_at(&range)?;
        self.areas.retain(|area| area.range.end <= range.start || area.range.start >= range.end);
        self.release(&range);
        Ok(())
    }

    /// `mprotect`: changes the protection of mapped pages.
    ///
    /// # Errors
    /// As [`Self::unmap`]; ENOMEM also where part of the range is not mapped; EACCES for writable code.
    pub(crate) fn protect(&mut self, range: Range<u64>, protection: Protection) -> Result<(), Errno> {
        if protection.write && protection.execute {
            return Err(Errno::EACCES);
        }
        self.split_at(&range)?;
        let inside = |area: &&mut Area| area.range.start >= range.start && area.range.end <= range.end;
        let covered: u64 =
            self.areas.iter_mut().filter(inside).map(|area| area.range.end - area.range.start).sum();
        if covered != range.end - range.start {
            return Err(Errno::ENOMEM);
        }
        self.areas.iter_mut().filter(inside).for_each(|area| area.protection = protection);
        let flags = protection.flags();
        // SAFETY: the space is borrowed mutably, so nobody else has its tables. Only permissions change.
        unsafe {
            paging::for_each_page(self.root, &range, &mut |address, entry| {
                entry.set_flags(flags);
                tlb::flush(VirtAddr::new(address));
            });
        }
        Ok(())
    }

    /// Makes sure that the page of `address` is there and may be used so; returns the physical address.
    ///
    /// # Errors
    /// EFAULT if no area allows it, ENOMEM if there is no frame for it.
    pub(crate) fn touch(&mut self, address: u64, access: Access) -> Result<u64, Errno> {
        let index = self.areas.partition_point(|area| area.range.end <= address);
        let area = self.areas.get(index).filter(|area| area.range.start <= address).ok_or(Errno::EFAULT)?;
        if !area.protection.allows(access) {
            return Err(Errno::EFAULT);
        }
        let protection = area.protection;
        match self.translate(address) {
            Some(physical) => Ok(physical),
            None => Ok(self.populate(address, protection)? + address % PAGE),
        }
    }

    /// Copies `bytes` to `address` whatever the area's protection: for the program loader.
    ///
    /// # Errors
    /// EFAULT outside all areas, ENOMEM.
    pub(crate) fn load(&mut self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        let mut done = 0;
        while done < bytes.len() {
            let at = address + done as u64;
            let physical = match self.translate(at) {
                Some(physical) => physical,
                None => {
                    let index = self.areas.partition_point(|area| area.range.end <= at);
                    let area =
                        self.areas.get(index).filter(|area| area.range.start <= at).ok_or(Errno::EFAULT)?;
                    self.populate(at, area.protection)? + at % PAGE
                }
            };
            let count = (bytes.len() - done).min((PAGE - at % PAGE) as usize);
            // SAFETY: inside one mapped frame of this space.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    bytes[done..].as_ptr(),
                    phys_to_virt(physical) as *mut u8,
                    count,
                );
            }
            done += count;
        }
        Ok(())
    }

    /// A copy of everything, for `fork`.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn duplicate(&self) -> Result<Self, Errno> {
        let mut copy = Self::new()?;
        copy.areas.clone_from(&self.areas);
        (copy.heap_start, copy.heap_end) = (self.heap_start, self.heap_end);
        for area in &self.areas {
            let mut result = Ok(());
            // SAFETY: the parent's tables are only read; its space is borrowed.
            unsafe {
                paging::for_each_page(self.root, &area.range, &mut |address, entry| {
                    if result.is_ok() {
                        result = copy.take_copy(address, area.protection, entry.addr().as_u64());
                    }
                });
            }
            result?;
        }
        Ok(copy)
    }

    /// Adds the page of `address` with what the frame `source` holds.
    fn take_copy(&mut self, address: u64, protection: Protection, source: u64) -> Result<(), Errno> {
        let target = self.populate(address, protection)?;
        // SAFETY: two different frames, both mapped.
        unsafe {
            core::ptr::copy_nonoverlapping(
                phys_to_virt(source) as *const u8,
                phys_to_virt(target) as *mut u8,
                PAGE as usize,
            );
        }
        Ok(())
    }

    fn translate(&self, address: u64) -> Option<u64> {
        // SAFETY: only read here; changes need the space mutably.
        let tables = unsafe { paging::tables(self.root) };
        match tables.translate(VirtAddr::new(address)) {
            TranslateResult::Mapped { frame: MappedFrame::Size4KiB(frame), offset, .. } => {
                Some(frame.start_address().as_u64() + offset)
            }
            _ => None,
        }
    }

    fn populate(&mut self, address: u64, protection: Protection) -> Result<u64, Errno> {
        let frame = frames::allocate().ok_or(Errno::ENOMEM)?;
        let page = Page::<Size4KiB>::containing_address(VirtAddr::new(address));
        let parents = Flags::PRESENT | Flags::WRITABLE | Flags::USER_ACCESSIBLE;
        // SAFETY: a page of the program's own half that was not present, and a fresh frame.
        let mapped = unsafe {
            paging::tables(self.root).map_to_with_table_flags(
                page,
                PhysFrame::containing_address(PhysAddr::new(frame)),
                protection.flags(),
                parents,
                &mut Allocator,
            )
        };
        match mapped {
            Ok(flush) => flush.ignore(), // not present before, so not in the TLB
            Err(_) => {
                // SAFETY: it was not mapped.
                unsafe { frames::free(frame) };
                return Err(Errno::ENOMEM);
            }
        }
        self.resident += 1;
        Ok(frame)
    }

    /// Cuts areas that stick out of `range` in two, so that each lies inside or outside.
    fn split_at(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        if !range.start.is_multiple_of(PAGE)
            || !range.end.is_multiple_of(PAGE)
            || range.start > range.end
            || range.end > USER_END
        {
            return Err(Errno::EINVAL);
        }
        if self.areas.len() + 2 > AREAS_MAX {
            return Err(Errno::ENOMEM);
        }
        for cut in [range.start, range.end] {
            let index = self.areas.partition_point(|area| area.range.end <= cut);
            if let Some(area) = self.areas.get_mut(index).filter(|area| area.range.start < cut) {
                let upper = Area { range: cut..area.range.end, protection: area.protection };
                area.range.end = cut;
                self.areas.insert(index + 1, upper);
            }
        }
        Ok(())
    }

    /// Frees the frames behind `range`.
    fn release(&mut self, range: &Range<u64>) {
        let resident = &mut self.resident;
        // SAFETY: the space is borrowed mutably; each frame came from `populate` and is unmapped before it is freed.
        unsafe {
            paging::for_each_page(self.root, range, &mut |address, entry| {
                let frame = entry.addr().as_u64();
                entry.set_unused();
                tlb::flush(VirtAddr::new(address));
                frames::free(frame);
                *resident -= 1;
            });
        }
    }
}

impl Drop for AddressSpace {
    fn drop(&mut self) {
        if paging::is_loaded(self.root) {
            paging::use_kernel_root();
        }
        // SAFETY: nobody uses these tables any more: they are not loaded, and the space is ours.
        unsafe { free_tables(self.root, 4, 0..KERNEL_SLOTS) };
    }
}

/// Frees a table of `level` with all that its `slots` lead to, down to the program's frames at level 1.
///
/// # Safety
/// The table is not in use, and its frames are referred to by nothing else.
unsafe fn free_tables(table: u64, level: u8, slots: Range<usize>) {
    // SAFETY: a table in mapped memory, by the caller's promise.
    let entries = unsafe { &*(phys_to_virt(table) as *const PageTable) };
    for entry in slots.map(|slot| &entries[slot]).filter(|entry| !entry.is_unused()) {
        let address = entry.addr().as_u64();
        // SAFETY: below level 1 there are frames of the program, above it tables; both are ours.
        unsafe {
            match level {
                1 => frames::free(address),
                _ => free_tables(address, level - 1, 0..512),
            }
        }
    }
    // SAFETY: emptied above.
    unsafe { frames::free(table) };
}
