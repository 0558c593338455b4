//! The kernel heap: a contiguous piece of memory under `rlsf`, and a second one in reserve. The reserve
//! serves blocks of moderate size when the first has none, so that small allocations everywhere find room while the
//! calls that make the kernel remember more are being refused ([`require_room`]).

use super::{frames, phys_to_virt};
use alloc::vec::Vec;
use askr_abi::Errno;
use core::alloc::{GlobalAlloc, Layout};
use core::num::NonZeroUsize;
use core::ptr::NonNull;
use rlsf::{GRANULARITY, Tlsf};
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
const PROBE: Layout = block_of(64 << 10);
/// Any call may begin while the reserve has a block of this size: more than one call takes, until it waits or ends,
/// without being able to fail.
const STEP: Layout = block_of(128 << 10);
/// What an allocation costs beside its bytes.
const HEADER: usize = GRANULARITY / 2;
/// Sizes are told apart by this power of two, up to [`LARGEST`], ...
const CLASSES: usize = (LARGEST.ilog2() - GRANULARITY.ilog2() + 1) as usize;
/// ... and each in so many steps: a search passes over blocks that are too large by less than one of them.
const STEPS: usize = 16;

const fn block_of(bytes: usize) -> Layout {
    match Layout::from_size_align(bytes, 64) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    }
}

/// Memory that is given out in constant time, however many pieces it is in (two-level segregated fit).
struct Pool {
    blocks: Tlsf<'static, u32, u16, CLASSES, STEPS>,
    start: usize,
    total: usize,
    used: usize,
}

impl Pool {
    const fn empty() -> Self {
        Self { blocks: Tlsf::new(), start: 0, total: 0, used: 0 }
    }

    /// # Safety
    /// Mapped, unused memory that stays the pool's for ever.
    unsafe fn init(&mut self, start: u64, bytes: u64) {
        let memory = core::ptr::slice_from_raw_parts_mut(start as *mut u8, bytes as usize);
        let memory = NonNull::new(memory).expect("an address in the kernel half");
        // SAFETY: the caller's promise.
        let taken = unsafe { self.blocks.insert_free_block_ptr(memory) };
        (self.start, self.total) = (start as usize, taken.map_or(0, NonZeroUsize::get));
    }

    fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let block = self.blocks.allocate(layout)?;
        self.used += cost(layout);
        Some(block)
    }

    /// # Safety
    /// `block` came from `allocate` of this pool with this layout.
    unsafe fn deallocate(&mut self, block: NonNull<u8>, layout: Layout) {
        self.used -= cost(layout);
        // SAFETY: the caller's promise.
        unsafe { self.blocks.deallocate(block, layout.align()) };
    }

    /// Makes a block larger or smaller. A smaller one stays where it is.
    ///
    /// # Safety
    /// As [`Self::deallocate`]; `new` has the alignment of `old`.
    unsafe fn reallocate(&mut self, block: NonNull<u8>, old: Layout, new: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the caller's promise.
        let moved = unsafe { self.blocks.reallocate(block, new) }?;
        self.used = self.used - cost(old) + cost(new);
        Some(moved)
    }

    fn holds(&self, block: *mut u8) -> bool {
        (self.start..self.start + self.total).contains(&(block as usize))
    }

    /// Whether it could give such a block now.
    fn could_give(&mut self, layout: Layout) -> bool {
        let Some(block) = self.allocate(layout) else { return false };
        // SAFETY: just allocated with this layout.
        unsafe { self.deallocate(block, layout) };
        true
    }
}

/// Bytes that an allocation takes.
const fn cost(layout: Layout) -> usize {
    (layout.size() + HEADER).next_multiple_of(GRANULARITY)
}

struct KernelHeap {
    first: Mutex<Pool>,
    reserve: Mutex<Pool>,
}

#[global_allocator]
static HEAP: KernelHeap = KernelHeap { first: Mutex::new(Pool::empty()), reserve: Mutex::new(Pool::empty()) };

pub(super) fn init() {
    let bytes = (frames::usage().free * frames::PAGE / SHARE).clamp(SMALLEST, LARGEST);
    let reserve = (bytes / RESERVE_SHARE).next_multiple_of(frames::PAGE);
    let start =
        frames::allocate_contiguous(bytes).expect("memory for the kernel heap (at least 4 MiB in one piece)");
    // SAFETY: mapped, unused memory that stays the heaps' for ever, each its own part.
    unsafe {
        HEAP.reserve.lock().init(phys_to_virt(start), reserve);
        HEAP.first.lock().init(phys_to_virt(start + reserve), bytes - reserve);
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
    HeapUsage { total: first.total + reserve.total, used: first.used + reserve.used }
}

/// Refuses to go on when the reserve is in use or is about to be: called where a program asks for something that the
/// kernel has to remember.
///
/// # Errors
/// ENOMEM.
pub(crate) fn require_room() -> Result<(), Errno> {
    if HEAP.reserve.lock().used == 0 && HEAP.first.lock().could_give(PROBE) {
        Ok(())
    } else {
        Err(Errno::ENOMEM)
    }
}

/// Refuses to go on when so much of the reserve is in use that one more call might find nothing: asked before each call
/// that doesn't give anything back. So the kernel is never in want of memory where it can't say so.
///
/// # Errors
/// ENOMEM.
pub(crate) fn require_step() -> Result<(), Errno> {
    let mut reserve = HEAP.reserve.lock();
    if reserve.used == 0 || reserve.could_give(STEP) { Ok(()) } else { Err(Errno::ENOMEM) }
}

/// An empty vector with room for `count`, for what a program decides the size of.
///
/// # Errors
/// ENOMEM.
pub(crate) fn with_room<T>(count: usize) -> Result<Vec<T>, Errno> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| Errno::ENOMEM)?;
    Ok(room)
}

/// So many bytes, all zero.
///
/// # Errors
/// ENOMEM.
pub(crate) fn zeroed(count: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = with_room(count)?;
    bytes.resize(count, 0);
    Ok(bytes)
}

// Interrupt handlers never allocate, so the locks need no masking.
// SAFETY: the pools hand out disjoint blocks of the memory given to them.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.first.lock().allocate(layout).or_else(|| {
            if layout.size() > RESERVE_BLOCK_MAX {
                return None;
            }
            self.reserve.lock().allocate(layout)
        });
        block.map_or(core::ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let Some(block) = NonNull::new(pointer) else { return };
        let mut reserve = self.reserve.lock();
        if reserve.holds(pointer) {
            // SAFETY: the caller's promise: it came from `alloc` with this layout, so from the pool it lies in.
            unsafe { reserve.deallocate(block, layout) };
        } else {
            // SAFETY: as above.
            unsafe { self.first.lock().deallocate(block, layout) };
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let (Some(block), Ok(new)) = (NonNull::new(pointer), Layout::from_size_align(bytes, layout.align()))
        else {
            return core::ptr::null_mut();
        };
        let mut reserve = self.reserve.lock();
        let in_reserve = reserve.holds(pointer);
        // SAFETY: the caller's promise, as in `dealloc`; the alignment is the same.
        let moved = unsafe {
            if !in_reserve {
                self.first.lock().reallocate(block, layout, new)
            } else if bytes <= layout.size() {
                reserve.reallocate(block, layout, new)
            } else {
                None // better in the first heap, should that have room again
            }
        };
        drop(reserve);
        if let Some(moved) = moved {
            return moved.as_ptr();
        }
        // SAFETY: `layout` is valid with the new size, which is not 0 by the caller's promise.
        let other = unsafe { self.alloc(new) };
        if !other.is_null() {
            // SAFETY: two blocks of at least so many bytes that don't overlap; the old one is given back once.
            unsafe {
                core::ptr::copy_nonoverlapping(pointer, other, bytes.min(layout.size()));
                self.dealloc(pointer, layout);
            }
        }
        other
    }
}
