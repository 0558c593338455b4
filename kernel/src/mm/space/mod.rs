//! The address space of a program: what may be used of it ([`Areas`]), and the pages behind that, which come zeroed
//! when first touched.
//!
//! After a `fork` parent and child have the same frames, which neither may write to: the page table entries lack the
//! permission that the area gives. The first write to such a page makes a copy of it, or, when nobody else has the frame
//! any more, only gives the permission back.

mod fork;
mod mapping;

pub(crate) use mapping::{Placement, Remap};

use super::frames::{self, PAGE, Priority};
use super::paging::{self, phys_to_virt};
use super::tables::Tables;
use askr_abi::Errno;
use askr_core::areas::{Access, Area, Areas};
use askr_core::elf::Rights;
pub(crate) use askr_core::elf::USER_END;
use askr_core::limits::Limits;
use core::ops::Range;
use x86_64::instructions::tlb;
use x86_64::structures::paging::PageTableFlags as Flags;
use x86_64::{PhysAddr, VirtAddr};

/// Top of the stack.
pub(crate) const STACK_TOP: u64 = USER_END;

/// Areas and page tables of one program.
pub(crate) struct AddressSpace {
    tables: Tables,
    areas: Areas,
    heap_start: u64,
    heap_end: u64,
    /// First address of the stack's area.
    stack_start: u64,
    /// Pages that are there, shared ones included.
    resident: u64,
}

/// The page table entry of a page with the rights of `area`.
fn flags(area: &Area, frame: u64) -> Flags {
    // A page without any right stays present, for the kernel alone: its content must survive.
    let mut flags = Flags::PRESENT;
    flags.set(Flags::USER_ACCESSIBLE, area.rights != Rights::default());
    flags.set(Flags::WRITABLE, area.rights.write && (area.shared || !frames::is_shared(frame)));
    flags.set(Flags::NO_EXECUTE, !area.rights.execute);
    flags
}

impl AddressSpace {
    /// An empty space with a stack area.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn new(limits: &Limits, priority: Priority) -> Result<Self, Errno> {
        let tables = Tables::new(priority.keep())?;
        let stack_start = STACK_TOP - limits.stack();
        let areas = Areas::new();
        let mut space = Self { tables, areas, heap_start: 0, heap_end: 0, stack_start, resident: 0 };
        space.areas.add(stack_start..STACK_TOP, Rights::READ_WRITE)?;
        Ok(space)
    }

    /// Physical address of the top table.
    pub(crate) const fn root(&self) -> u64 {
        self.tables.root()
    }

    /// Whether an area is there, whatever it allows.
    pub(crate) fn covers(&self, address: u64) -> bool {
        self.areas.rights(address).is_some()
    }

    /// Bytes of memory in use for it: its pages, those that it shares included, and its page tables.
    pub(crate) const fn resident(&self) -> u64 {
        (self.resident + self.tables.count()) * PAGE
    }

    /// Bytes that it may use.
    pub(crate) fn size(&self) -> u64 {
        self.areas.bytes(|_| true)
    }

    /// Changes which frames it may use.
    pub(crate) const fn set_priority(&mut self, priority: Priority) {
        self.tables.set_keep(priority.keep());
    }

    /// Adds memory with these rights.
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

    /// Makes sure that the page of `address` is there and may be used so; returns the physical address.
    ///
    /// # Errors
    /// EFAULT if no area allows it, ENOMEM if there is no frame for it.
    pub(crate) fn touch(&mut self, address: u64, access: Access) -> Result<u64, Errno> {
        let area = self.areas.find(address).filter(|area| area.rights.allow(access)).ok_or(Errno::EFAULT)?;
        let page = match self.tables.entry(address) {
            Some(entry) if access == Access::Write && !entry.flags().contains(Flags::WRITABLE) => {
                let (frame, keep) = (entry.addr().as_u64(), self.tables.keep());
                let own = if frames::is_shared(frame) { copy_of(frame, keep)? } else { frame };
                // Borrowed again: `entry` went with the question for `keep`.
                let entry = self.tables.entry(address).ok_or(Errno::EFAULT)?;
                entry.set_addr(PhysAddr::new(own), flags(area, own));
                tlb::flush(VirtAddr::new(address));
                if own != frame {
                    // SAFETY: the entry that referred to it refers to the copy now.
                    unsafe { frames::free(frame) };
                }
                own
            }
            Some(entry) => entry.addr().as_u64(),
            None => populate(&mut self.tables, &mut self.resident, address, area)?,
        };
        Ok(page + address % PAGE)
    }

    /// Copies `bytes` to `address` whatever the area's protection: for the program loader, whose pages nobody shares yet.
    ///
    /// # Errors
    /// EFAULT outside all areas, ENOMEM.
    pub(crate) fn load(&mut self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        let mut done = 0;
        while done < bytes.len() {
            let at = address + done as u64;
            let frame = match self.tables.entry(at) {
                Some(entry) => entry.addr().as_u64(),
                None => {
                    let area = self.areas.find(at).ok_or(Errno::EFAULT)?;
                    populate(&mut self.tables, &mut self.resident, at, area)?
                }
            };
            let count = (bytes.len() - done).min((PAGE - at % PAGE) as usize);
            // SAFETY: inside one mapped frame of this space.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    bytes[done..].as_ptr(),
                    phys_to_virt(frame + at % PAGE) as *mut u8,
                    count,
                );
            }
            done += count;
        }
        Ok(())
    }

    /// Frees the frames behind `range`.
    fn release(&mut self, range: &Range<u64>) {
        let resident = &mut self.resident;
        self.tables.for_each(range, &mut |address, entry| {
            let frame = entry.addr().as_u64();
            entry.set_unused();
            tlb::flush(VirtAddr::new(address));
            // SAFETY: it came from `populate` or `touch` and is unmapped now.
            unsafe { frames::free(frame) };
            *resident -= 1;
        });
    }
}

impl Drop for AddressSpace {
    fn drop(&mut self) {
        if paging::is_loaded(self.root()) {
            paging::use_kernel_root();
        }
        self.release(&(0..USER_END));
    }
}

/// A copy of the frame `source`, leaving `keep` frames to others.
fn copy_of(source: u64, keep: u64) -> Result<u64, Errno> {
    frames::require_room(keep)?;
    frames::allocate_copy(source).ok_or(Errno::ENOMEM)
}

/// Puts a zeroed page at `address`, where none is; returns its frame.
fn populate(tables: &mut Tables, resident: &mut u64, address: u64, area: &Area) -> Result<u64, Errno> {
    let keep = tables.keep();
    let entry = tables.make_entry(address)?;
    frames::require_room(keep)?;
    let frame = frames::allocate().ok_or(Errno::ENOMEM)?;
    // Not present before, so the processor remembers nothing of it.
    entry.set_addr(PhysAddr::new(frame), flags(area, frame));
    *resident += 1;
    Ok(frame)
}
