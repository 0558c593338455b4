//! Memory of a device that is written only: a frame buffer.

use super::frames::PAGE;
use super::paging::{self, Allocator};
use super::phys_to_virt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use volatile::VolatilePtr;
use volatile::access::WriteOnly;
use x86_64::structures::paging::{Mapper, Page, PageTableFlags as Flags, PhysFrame, Size4KiB};
use x86_64::{PhysAddr, VirtAddr};

/// Where device memory is mapped: a top slot of the kernel half that nothing else uses.
const AREA: u64 = 0xffff_d000_0000_0000;
/// What the boot tables and the kernel's own map of physical memory cover at least.
const ALWAYS_MAPPED: u64 = 4 << 30;

static NEXT: AtomicU64 = AtomicU64::new(AREA);

/// A piece of device memory.
pub(crate) struct DeviceMemory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory stays mapped for ever, and what is written to it is never read.
unsafe impl Send for DeviceMemory {}
// SAFETY: as above; writes of two tasks may mix, in pixels.
unsafe impl Sync for DeviceMemory {}

impl DeviceMemory {
    /// As the map of physical memory has it, from the first moment on; `None` where that does not reach.
    ///
    /// # Safety
    /// `bytes` at `physical` are memory of a device, which may be written to.
    pub(crate) unsafe fn direct(physical: u64, bytes: usize) -> Option<Self> {
        let end = physical.checked_add(bytes as u64)?;
        let start = NonNull::new(phys_to_virt(physical) as *mut u8)?;
        (end <= ALWAYS_MAPPED).then_some(Self { start, bytes })
    }

    /// Mapped so that writes are gathered (entry 1 of the PAT, see `cpu::init`); `None` when there is no memory for
    /// the tables.
    ///
    /// # Safety
    /// As [`Self::direct`].
    pub(crate) unsafe fn gathering(physical: u64, bytes: usize) -> Option<Self> {
        let offset = physical % PAGE;
        let pages = (offset + bytes as u64).div_ceil(PAGE);
        let area = NEXT.fetch_add(pages * PAGE, Ordering::Relaxed);
        let flags =
            Flags::PRESENT | Flags::WRITABLE | Flags::NO_EXECUTE | Flags::GLOBAL | Flags::WRITE_THROUGH;
        for index in 0..pages {
            let page = Page::<Size4KiB>::containing_address(VirtAddr::new(area + index * PAGE));
            let frame = PhysFrame::containing_address(PhysAddr::new(physical - offset + index * PAGE));
            // SAFETY: fresh addresses in this area, of memory that is the device's; the tables are not borrowed
            // elsewhere.
            let mapped =
                unsafe { paging::tables(paging::kernel_root()).map_to(page, frame, flags, &mut Allocator) };
            mapped.ok()?.ignore();
        }
        Some(Self { start: NonNull::new((area + offset) as *mut u8)?, bytes })
    }

    /// Writes one value at a byte offset; outside of the memory, or across its unit, nothing.
    pub(crate) fn write<T: Copy>(&self, offset: usize, value: T) {
        let fits = offset.checked_add(size_of::<T>()).is_some_and(|end| end <= self.bytes);
        // SAFETY: inside of the memory, as just tested.
        let place = unsafe { self.start.add(if fits { offset } else { 0 }) }.cast::<T>();
        if fits && place.is_aligned() {
            // SAFETY: mapped, aligned and in use for pixels only.
            unsafe { VolatilePtr::new_restricted(WriteOnly, place) }.write(value);
        }
    }
}
