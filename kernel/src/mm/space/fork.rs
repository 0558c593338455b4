//! The copy of an address space for `fork`: page tables are made, pages are shared.

use super::super::frames::{self, Priority};
use super::super::paging;
use super::super::tables::Tables;
use super::{AddressSpace, copy_of, flags};
use askr_abi::Errno;
use askr_core::areas::Area;
use x86_64::PhysAddr;
use x86_64::structures::paging::page_table::PageTableEntry;

impl AddressSpace {
    /// A copy of everything, for `fork`. No page is copied: both spaces refer to the same frames, and private ones can't
    /// be written to in either until they are touched again. `priority` is the copy's. On an error this space is as usable as before.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn duplicate(&mut self, priority: Priority) -> Result<Self, Errno> {
        let mut copy = Self {
            tables: Tables::new(priority.keep())?,
            areas: self.areas.try_clone()?,
            heap_start: self.heap_start,
            heap_end: self.heap_end,
            stack_start: self.stack_start,
            resident: 0,
        };
        let mut result = Ok(());
        for area in self.areas.iter() {
            self.tables.for_each(&area.range, &mut |address, entry| {
                if result.is_ok() {
                    result = copy.take(area, address, entry);
                }
            });
        }
        // Some of this space's entries have lost the permission to write, on an error too.
        paging::flush(self.root());
        result.map(|()| copy)
    }

    /// Adds the page at `address` that the other space has by `entry`.
    fn take(&mut self, area: &Area, address: u64, entry: &mut PageTableEntry) -> Result<(), Errno> {
        let (frame, keep) = (entry.addr().as_u64(), self.tables.keep());
        let own = self.tables.make_entry(address)?;
        if frames::share(frame) {
            // In both: nobody writes to a private frame that two refer to.
            let flags = flags(area, frame);
            entry.set_flags(flags);
            own.set_addr(PhysAddr::new(frame), flags);
        } else if area.shared {
            return Err(Errno::ENOMEM); // more sharers than can be counted, and a copy would not be shared
        } else {
            let copy = copy_of(frame, keep)?;
            own.set_addr(PhysAddr::new(copy), flags(area, copy));
        }
        self.resident += 1;
        Ok(())
    }
}
