//! Kernel stacks, each with an unmapped page below it: an overflow is a double fault with a report, not silent
//! damage.

use super::frames::{self, PAGE};
use super::paging::{self, Allocator};
use alloc::vec::Vec;
use askr_abi::Errno;
use core::sync::atomic::{AtomicU64, Ordering};
use spin::Mutex;
use x86_64::structures::paging::{Mapper, Page, PageTableFlags as Flags, PhysFrame, Size4KiB};
use x86_64::{PhysAddr, VirtAddr};

/// Where the stacks lie: a top slot of the kernel half that nothing else uses.
const AREA: u64 = 0xffff_c000_0000_0000;
const PAGES: u64 = 6;
/// One guard page and the stack.
const SLOT: u64 = (PAGES + 1) * PAGE;

static NEXT: AtomicU64 = AtomicU64::new(AREA);
/// Bottoms of stacks without a task. They stay mapped: there are never more than there were tasks at once.
static FREE: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// A mapped kernel stack. Dropping it keeps it for the next task; the drop must run on another stack.
pub(crate) struct KernelStack {
    bottom: u64,
}

impl KernelStack {
    /// # Errors
    /// ENOMEM when no frame is left.
    pub(crate) fn new() -> Result<Self, Errno> {
        if let Some(bottom) = FREE.lock().pop() {
            return Ok(Self { bottom });
        }
        frames::require_room(frames::RESERVE)?;
        let bottom = NEXT.fetch_add(SLOT, Ordering::Relaxed) + PAGE;
        let flags = Flags::PRESENT | Flags::WRITABLE | Flags::NO_EXECUTE | Flags::GLOBAL;
        for index in 0..PAGES {
            let frame = frames::allocate().ok_or(Errno::ENOMEM)?;
            let page = Page::<Size4KiB>::containing_address(VirtAddr::new(bottom + index * PAGE));
            // SAFETY: fresh addresses in the stack area, a fresh frame; the tables are not borrowed elsewhere.
            let mapped = unsafe {
                paging::tables(paging::kernel_root()).map_to(
                    page,
                    PhysFrame::containing_address(PhysAddr::new(frame)),
                    flags,
                    &mut Allocator,
                )
            };
            mapped.map_err(|_| Errno::ENOMEM)?.ignore();
        }
        Ok(Self { bottom })
    }

    /// The address just above the stack, 16-aligned.
    pub(crate) const fn top(&self) -> u64 {
        self.bottom + PAGES * PAGE
    }
}

impl Drop for KernelStack {
    fn drop(&mut self) {
        FREE.lock().push(self.bottom);
    }
}
