//! Kernel stacks, each with an unmapped page below it: an overflow is a double fault with a report, not silent
//! damage.

use super::frames::{self, PAGE, Priority};
use super::paging::{self, Allocator};
use crate::sched::TASKS_MAX;
use askr_abi::Errno;
use heapless::Vec;
use spin::Mutex;
use x86_64::structures::paging::{Mapper, Page, PageTableFlags as Flags, PhysFrame, Size4KiB};
use x86_64::{PhysAddr, VirtAddr};

/// Where the stacks lie: a top slot of the kernel half that nothing else uses.
const AREA: u64 = 0xffff_c000_0000_0000;
const PAGES: u64 = 6;
/// One guard page and the stack.
const SLOT: u64 = (PAGES + 1) * PAGE;
/// Stacks without a task that stay mapped for the next ones; the memory of others goes back.
const SPARE_MAX: usize = 2;

/// Places for stacks.
struct Places {
    /// Places from this one on were never used.
    fresh: u64,
    /// Bottoms of stacks that are mapped and have no task.
    spare: Vec<u64, SPARE_MAX>,
    /// Bottoms of stacks that are not mapped.
    empty: Vec<u64, TASKS_MAX>,
}

static PLACES: Mutex<Places> = Mutex::new(Places { fresh: AREA, spare: Vec::new(), empty: Vec::new() });

/// A mapped kernel stack. Dropping it gives it back; the drop must run on another stack.
pub(crate) struct KernelStack {
    bottom: u64,
}

impl KernelStack {
    /// # Errors
    /// ENOMEM when there are no frames for somebody of this `priority`.
    pub(crate) fn new(priority: Priority) -> Result<Self, Errno> {
        if let Some(bottom) = PLACES.lock().spare.pop() {
            return Ok(Self { bottom });
        }
        frames::require_room(priority.keep() + PAGES)?;
        let bottom = {
            let mut places = PLACES.lock();
            places.empty.pop().unwrap_or_else(|| {
                places.fresh += SLOT;
                places.fresh - SLOT + PAGE
            })
        };
        match (0..PAGES).try_for_each(|index| map_page(bottom + index * PAGE)) {
            Ok(()) => Ok(Self { bottom }),
            Err(errno) => {
                unmap(bottom);
                Err(errno)
            }
        }
    }

    /// The address just above the stack, 16-aligned.
    pub(crate) const fn top(&self) -> u64 {
        self.bottom + PAGES * PAGE
    }
}

impl Drop for KernelStack {
    fn drop(&mut self) {
        if PLACES.lock().spare.push(self.bottom).is_err() {
            unmap(self.bottom);
        }
    }
}

fn map_page(address: u64) -> Result<(), Errno> {
    let frame = frames::allocate().ok_or(Errno::ENOMEM)?;
    let flags = Flags::PRESENT | Flags::WRITABLE | Flags::NO_EXECUTE | Flags::GLOBAL;
    // SAFETY: an address in the stack area that is not mapped, a fresh frame; the tables are not borrowed elsewhere.
    let mapped = unsafe {
        paging::tables(paging::kernel_root()).map_to(
            page_at(address),
            PhysFrame::containing_address(PhysAddr::new(frame)),
            flags,
            &mut Allocator,
        )
    };
    match mapped {
        Ok(flush) => flush.ignore(), // not mapped before, so not in the TLB
        Err(_) => {
            // SAFETY: it was not mapped.
            unsafe { frames::free(frame) };
            return Err(Errno::ENOMEM);
        }
    }
    Ok(())
}

/// Gives the memory of a stack back, as far as it is mapped, and keeps its place for another one.
fn unmap(bottom: u64) {
    for address in (0..PAGES).map(|index| bottom + index * PAGE) {
        // SAFETY: nobody runs on this stack; the tables are not borrowed elsewhere.
        let unmapped = unsafe { paging::tables(paging::kernel_root()).unmap(page_at(address)) };
        if let Ok((frame, flush)) = unmapped {
            flush.flush();
            // SAFETY: it came from `map_page`.
            unsafe { frames::free(frame.start_address().as_u64()) };
        }
    }
    // There is room for all: never more stacks are in use than there may be tasks. Else only the address is lost.
    let _ = PLACES.lock().empty.push(bottom);
}

fn page_at(address: u64) -> Page<Size4KiB> {
    Page::containing_address(VirtAddr::new(address))
}
