//! The kernel heap: a contiguous piece of memory under `linked_list_allocator`, and a second one in reserve. The reserve
//! serves blocks of moderate size when the first has none, so that small allocations everywhere find room while the
//! calls that make the kernel remember more are being refused ([`require_room`]).

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
/// This part of it is the reserve.
const RESERVE_SHARE: u64 = 8;
/// Largest block that the reserve gives: above the image of a program's first stack.
const RESERVE_BLOCK_MAX: usize = 256 << 10;
/// There is room while the first heap still has a block of this size, the largest that system calls ask for without
/// being able to do with less.
const PROBE: Layout = match Layout::from_size_align(64 << 10, 64) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

struct KernelHeap {
    first: Mutex<Heap>,
    reserve: Mutex<Heap>,
}

#[global_allocator]
static HEAP: KernelHeap = KernelHeap { first: Mutex::new(Heap::empty()), reserve: Mutex::new(Heap::empty()) };

pub(super) fn init() {
    let bytes = (frames::usage().free * frames::PAGE / SHARE).clamp(SMALLEST, LARGEST);
    let reserve = (bytes / RESERVE_SHARE).next_multiple_of(frames::PAGE);
    let start =
        frames::allocate_contiguous(bytes).expect("memory for the kernel heap (at least 4 MiB in one piece)");
    // SAFETY: mapped, unused memory that stays the heaps' for ever, each its own part.
    unsafe {
        HEAP.reserve.lock().init(phys_to_virt(start) as *mut u8, reserve as usize);
        HEAP.first.lock().init(phys_to_virt(start + reserve) as *mut u8, (bytes - reserve) as usize);
    }
}

/// Size of the heap and what of it is in use, in bytes, the reserve included.
pub(crate) struct HeapUsage {
    pub(crate) total: usize,
    pub(crate) used: usize,
}

/// How full the heap is.
pub(crate) fn usage() -> HeapUsage {
    let (first, reserve) = (HEAP.first.lock(), HEAP.reserve.lock());
    HeapUsage { total: first.size() + reserve.size(), used: first.used() + reserve.used() }
}

/// Refuses to go on when the reserve is in use or is about to be: called where a program asks for something that the
/// kernel has to remember.
///
/// # Errors
/// ENOMEM.
pub(crate) fn require_room() -> Result<(), Errno> {
    if HEAP.reserve.lock().used() > 0 {
        return Err(Errno::ENOMEM);
    }
    let mut first = HEAP.first.lock();
    let block = first.allocate_first_fit(PROBE).map_err(|()| Errno::ENOMEM)?;
    // SAFETY: just allocated with this layout.
    unsafe { first.deallocate(block, PROBE) };
    Ok(())
}

// Interrupt handlers never allocate, so the locks need no masking.
// SAFETY: `Heap` hands out disjoint blocks of the memory given to it.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.first.lock().allocate_first_fit(layout).or_else(|()| {
            if layout.size() > RESERVE_BLOCK_MAX {
                return Err(());
            }
            self.reserve.lock().allocate_first_fit(layout)
        });
        block.map_or(core::ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let Some(block) = NonNull::new(pointer) else { return };
        let mut reserve = self.reserve.lock();
        if (reserve.bottom()..reserve.top()).contains(&pointer) {
            // SAFETY: the caller's promise: it came from `alloc` with this layout, so from the heap it lies in.
            unsafe { reserve.deallocate(block, layout) };
        } else {
            // SAFETY: as above.
            unsafe { self.first.lock().deallocate(block, layout) };
        }
    }
}
