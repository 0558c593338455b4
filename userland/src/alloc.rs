//! The heap: `linked_list_allocator` over memory from `brk`.
#![allow(unsafe_code, reason = "GlobalAlloc is an unsafe trait")]

use crate::sys;
use crate::sys::single::Single;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut, with_exposed_provenance_mut};
use linked_list_allocator::Heap;

/// The heap grows by multiples of this, in bytes.
const GROWTH: usize = 64 * 1024;
/// What an allocation may cost beyond its size and alignment, in bytes.
const OVERHEAD: usize = 64;

struct State {
    heap: Heap,
    /// Whether the last request was refused, for the panic handler.
    exhausted: bool,
}

struct BrkHeap(Single<State>);

#[global_allocator]
static HEAP: BrkHeap = BrkHeap(Single::new(State { heap: Heap::empty(), exhausted: false }));

/// Whether the program's last allocation failed because the kernel gave no more memory.
pub(crate) fn is_exhausted() -> bool {
    HEAP.0.try_with(|state| state.exhausted).unwrap_or(false)
}

/// Gives `heap` enough new memory for `layout`; false if the kernel has no more, or if something else moved the
/// break, after which the new memory does not continue the old.
fn grow(heap: &mut Heap, layout: Layout) -> bool {
    let Some(need) = layout.size().checked_add(layout.align()).and_then(|need| need.checked_add(OVERHEAD))
    else {
        return false;
    };
    let Some(length) = need.checked_next_multiple_of(GROWTH) else { return false };
    let Ok(start) = sys::grow_break(length) else { return false };
    let fresh = with_exposed_provenance_mut::<u8>(start);
    if heap.size() == 0 {
        // SAFETY: the range was just added to our data segment and belongs to nobody else.
        unsafe { heap.init(fresh, length) };
    } else if heap.top() == fresh {
        // SAFETY: as above, and it begins where the heap ends.
        unsafe { heap.extend(length) };
    } else {
        return false;
    }
    true
}

// SAFETY: blocks come from `Heap`, which keeps them apart and aligned; `Single` excludes two users at a time.
unsafe impl GlobalAlloc for BrkHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.with(|state| {
            let mut block = state.heap.allocate_first_fit(layout);
            if block.is_err() && grow(&mut state.heap, layout) {
                block = state.heap.allocate_first_fit(layout);
            }
            state.exhausted = block.is_err();
            block.map_or(null_mut(), NonNull::as_ptr)
        })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller got `block` from `alloc` with this layout.
            self.0.with(|state| unsafe { state.heap.deallocate(block, layout) });
        }
    }
}
