//! Physical memory in frames of 4 KiB: never-used memory is handed out from the boot map in order (so a guest
//! touches, and the host backs, only what it uses), freed frames come back from a list threaded through them.

use super::phys_to_virt;
use askr_abi::Errno;
use core::ops::Range;
use spin::Mutex;

/// Size of a page and of a frame in bytes.
pub(crate) const PAGE: u64 = 4096;

/// Frames that are kept for process 1 and for page tables: programs get ENOMEM before.
const RESERVE: u64 = 128;
/// Regions of the boot map that are kept; more are left unused.
const REGIONS_MAX: usize = 64;
/// End of the list of free frames: never a usable frame's address.
const NONE: u64 = 0;

struct Frames {
    regions: [Range<u64>; REGIONS_MAX],
    count: usize,
    /// Region that fresh frames come from at present.
    current: usize,
    free: u64,
    free_frames: u64,
    total_frames: u64,
}

static FRAMES: Mutex<Frames> = Mutex::new(Frames {
    regions: [const { 0..0 }; REGIONS_MAX],
    count: 0,
    current: 0,
    free: NONE,
    free_frames: 0,
    total_frames: 0,
});

/// Frames in the machine and frames free.
pub(crate) struct Usage {
    pub(crate) total: u64,
    pub(crate) free: u64,
}

/// Takes the usable regions of the boot map.
pub(super) fn init(regions: impl Iterator<Item = Range<u64>>) {
    let mut frames = FRAMES.lock();
    for region in regions.take(REGIONS_MAX) {
        let start = region.start.max(PAGE).next_multiple_of(PAGE);
        let end = region.end / PAGE * PAGE;
        if start < end {
            let index = frames.count;
            frames.regions[index] = start..end;
            frames.count += 1;
            frames.total_frames += (end - start) / PAGE;
        }
    }
    frames.free_frames = frames.total_frames;
}

/// A zeroed frame's physical address, or `None` when memory is used up.
pub(crate) fn allocate() -> Option<u64> {
    let frame = FRAMES.lock().take()?;
    // SAFETY: a frame nobody else has, inside mapped memory.
    unsafe { core::ptr::write_bytes(phys_to_virt(frame) as *mut u8, 0, PAGE as usize) };
    Some(frame)
}

/// `bytes` (rounded up to frames) of fresh, contiguous memory, not zeroed. For the heap at boot.
pub(super) fn allocate_contiguous(bytes: u64) -> Option<u64> {
    let bytes = bytes.next_multiple_of(PAGE);
    let mut frames = FRAMES.lock();
    let current = frames.current;
    let region = frames.regions[current..].iter_mut().filter(|region| region.end - region.start >= bytes);
    let region = region.max_by_key(|region| region.end - region.start)?;
    region.end -= bytes;
    let start = region.end;
    frames.free_frames -= bytes / PAGE;
    Some(start)
}

/// Gives a frame back.
///
/// # Safety
/// It came from [`allocate`], and nothing refers to it any more.
pub(super) unsafe fn free(frame: u64) {
    let mut frames = FRAMES.lock();
    // SAFETY: the frame is ours again, by the caller's promise.
    unsafe { (phys_to_virt(frame) as *mut u64).write(frames.free) };
    frames.free = frame;
    frames.free_frames += 1;
}

/// Refuses to go on when only the reserve is left.
///
/// # Errors
/// ENOMEM.
pub(crate) fn require_room() -> Result<(), Errno> {
    if FRAMES.lock().free_frames > RESERVE { Ok(()) } else { Err(Errno::ENOMEM) }
}

/// What there is and what is free.
pub(crate) fn usage() -> Usage {
    let frames = FRAMES.lock();
    Usage { total: frames.total_frames, free: frames.free_frames }
}

impl Frames {
    fn take(&mut self) -> Option<u64> {
        let frame = if self.free != NONE {
            let frame = self.free;
            // SAFETY: frames on the list hold the address of the next one.
            self.free = unsafe { (phys_to_virt(frame) as *const u64).read() };
            frame
        } else {
            while self.current < self.count && self.regions[self.current].is_empty() {
                self.current += 1;
            }
            let region = self.regions[..self.count].get_mut(self.current)?;
            let frame = region.start;
            region.start += PAGE;
            frame
        };
        self.free_frames -= 1;
        Some(frame)
    }
}
