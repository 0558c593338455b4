//! The kernel heap: one contiguous piece of memory under `linked_list_allocator`.

use super::{frames, phys_to_virt};
use askr_abi::Errno;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr::NonNull;
use linked_list_allocator::Heap;
use spin::Mutex;

/// The heap gets this part of memory, within the two bounds below.
const SHARE: u64 = 4;
const SMALLEST: u64 = 4 << 20;
const LARGEST: u64 = 256 << 20;
/// This part of the heap is kept for what cannot be refused, and at least so many bytes.
const RESERVE_SHARE: usize = 8;
const RESERVE_LEAST: usize = 1 << 20;

struct KernelHeap(Mutex<Heap>);

#[global_allocator]
static HEAP: KernelHeap = KernelHeap(Mutex::new(Heap::empty()));

pub(super) fn init() {
    let bytes = (frames::usage().free * frames::PAGE / SHARE).clamp(SMALLEST, LARGEST);
    let start =
        frames::allocate_contiguous(bytes).expect("memory for the kernel heap (at least 4 MiB in one piece)");
    // SAFETY: mapped, unused memory that stays the heap's for ever.
    unsafe { HEAP.0.lock().init(phys_to_virt(start) as *mut u8, bytes as usize) };
}

/// Size of the heap and what of it is in use, in bytes.
pub(crate) struct HeapUsage {
    pub(crate) total: usize,
    pub(crate) used: usize,
}

/// How full the heap is.
pub(crate) fn usage() -> HeapUsage {
    let heap = HEAP.0.lock();
    HeapUsage { total: heap.size(), used: heap.used() }
}

/// Refuses to go on when only the reserve is left: called where a program asks for something that the kernel has to
/// remember, so that the small allocations everywhere else find room.
///
/// # Errors
/// ENOMEM.
pub(crate) fn require_room() -> Result<(), Errno> {
    let HeapUsage { total, used } = usage();
    if total - used > (total / RESERVE_SHARE).max(RESERVE_LEAST) { Ok(()) } else { Err(Errno::ENOMEM) }
}

// Interrupt handlers never allocate, so the lock needs no masking.
// SAFETY: `Heap` hands out disjoint blocks of the memory given to it.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.lock().allocate_first_fit(layout).map_or(core::ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if let Some(pointer) = NonNull::new(pointer) {
            // SAFETY: the caller's promise: it came from `alloc` with this layout.
            unsafe { self.0.lock().deallocate(pointer, layout) };
        }
    }
}
