//! The address space of a program: what may be used of it ([`Areas`]), and the page tables, which
//! are filled with zeroed pages when first touched.

use super::frames::{self, PAGE};
use super::paging::{self, Allocator, KERNEL_SLOTS, phys_to_virt};
use askr_abi::Errno;
use askr_core::areas::{Access, Areas};
use askr_core::elf::Rights;
pub(crate) use askr_core::elf::USER_END;
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
/// The page table entry of a page with these rights.
fn flags(rights: Rights) -> Flags {
    // A page without any right stays present, for the kernel alone: its content must survive.
    let mut flags = Flags::PRESENT;
    flags.set(Flags::USER_ACCESSIBLE, rights != Rights::default());
    flags.set(Flags::WRITABLE, rights.write);
    flags.set(Flags::NO_EXECUTE, !rights.execute);
    flags
}

/// Areas and page tables of one program.
pub(crate) struct AddressSpace {
    root: u64,
    areas: Areas,
    heap_start: u64,
    heap_end: u64,
    resident: u64,
    /// Whether it may use the last frames: without process 1 nobody could start anything.
    essential: bool,
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
        let mut space =
            Self { root, areas: Areas::new(), heap_start: 0, heap_end: 0, resident: 0, essential: false };
        space.areas.add(STACK_TOP - STACK_SIZE..STACK_TOP, Rights::READ_WRITE)?;
        Ok(space)
    }

    /// Physical address of the top table.
    pub(crate) const fn root(&self) -> u64 {
        self.root
    }

    /// Lets it use the last frames too.
    pub(crate) fn make_essential(&mut self) {
        self.essential = true;
    }

    /// Bytes in memory.
    pub(crate) const fn resident(&self) -> u64 {
        self.resident * PAGE
    }

    /// Adds an area of zeroed memory; `range` is widened to whole pages.
    ///
    /// # Errors
    /// Those of [`Areas::add`].
    pub(crate) fn add_area(&mut self, range: Range<u64>, rights: Rights) -> Result<(), Errno> {
        self.areas.add(range, rights)
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
            self.areas.add(old..new, Rights::READ_WRITE).is_ok()
        } else {
            new == old || self.unmap(&(new..old)).is_ok()
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
    pub(crate) fn map_anonymous(&mut self, length: u64, rights: Rights) -> Result<u64, Errno> {
        let length =
            length.checked_next_multiple_of(PAGE).filter(|&length| length > 0).ok_or(Errno::EINVAL)?;
        let within = self.heap_end.next_multiple_of(PAGE)..MMAP_TOP;
        let room = self.areas.highest_room(length, within).ok_or(Errno::ENOMEM)?;
        let start = room.start;
        self.areas.add(room, rights).map_err(|_| Errno::ENOMEM)?;
        Ok(start)
    }

    /// Removes whatever lies in `range` and gives its memory back.
    ///
    /// # Errors
    /// Those of [`Areas::remove`]; ENOMEM for a cut that the kernel has no room to remember.
    pub(crate) fn unmap(&mut self, range: &Range<u64>) -> Result<(), Errno> {
        if self.areas.cuts(range) > 0 {
            super::require_heap_room()?;
        }
        self.areas.remove(range)?;
        self.release(range);
        Ok(())
    }

    /// `mprotect`: gives `range` other rights.
    ///
    /// # Errors
    /// Those of [`Areas::protect`]; EACCES for writable code.
    pub(crate) fn protect(&mut self, range: &Range<u64>, rights: Rights) -> Result<(), Errno> {
        if rights.write && rights.execute {
            return Err(Errno::EACCES);
        }
        self.areas.protect(range, rights)?;
        let flags = flags(rights);
        // SAFETY: the space is borrowed mutably, so nobody else has its tables. Only permissions change.
        unsafe {
            paging::for_each_page(self.root, range, &mut |address, entry| {
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
        let rights = self.areas.rights(address).filter(|rights| rights.allow(access)).ok_or(Errno::EFAULT)?;
        match self.translate(address) {
            Some(physical) => Ok(physical),
            None => Ok(self.populate(address, rights)? + address % PAGE),
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
                    let rights = self.areas.rights(at).ok_or(Errno::EFAULT)?;
                    self.populate(at, rights)? + at % PAGE
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
        for area in self.areas.iter() {
            let mut result = Ok(());
            // SAFETY: the parent's tables are only read; its space is borrowed.
            unsafe {
                paging::for_each_page(self.root, &area.range, &mut |address, entry| {
                    if result.is_ok() {
                        result = copy.take_copy(address, area.rights, entry.addr().as_u64());
                    }
                });
            }
            result?;
        }
        Ok(copy)
    }

    /// Adds the page of `address` with what the frame `source` holds.
    fn take_copy(&mut self, address: u64, rights: Rights, source: u64) -> Result<(), Errno> {
        let target = self.populate(address, rights)?;
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

    fn populate(&mut self, address: u64, rights: Rights) -> Result<u64, Errno> {
        if !self.essential {
            frames::require_room()?;
        }
        let frame = frames::allocate().ok_or(Errno::ENOMEM)?;
        let page = Page::<Size4KiB>::containing_address(VirtAddr::new(address));
        let parents = Flags::PRESENT | Flags::WRITABLE | Flags::USER_ACCESSIBLE;
        // SAFETY: a page of the program's own half that was not present, and a fresh frame.
        let mapped = unsafe {
            paging::tables(self.root).map_to_with_table_flags(
                page,
                PhysFrame::containing_address(PhysAddr::new(frame)),
                flags(rights),
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
