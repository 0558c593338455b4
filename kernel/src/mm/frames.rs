//! Physical memory in frames of 4 KiB: never-used memory is handed out from the boot map in order (so a guest
//! touches, and the host backs, only what it uses), freed frames come back from a list threaded through them. A frame
//! may be referred to by several address spaces; the last one that gives it back frees it.

use super::phys_to_virt;
use askr_abi::Errno;
use core::ops::Range;
use spin::Mutex;

/// Size of a page and of a frame in bytes.
pub(crate) const PAGE: u64 = 4096;

/// Frames that are kept for the shell at the console, and for what it starts until that runs: other programs get ENOMEM
/// before.
const RESERVE: u64 = 256;
/// Those of them that are kept for process 1.
const RESERVE_INIT: u64 = 128;
/// With so many more left nobody but the shell can fork: what runs already needs some for the pages that it writes to.
const FORK_RESERVE: u64 = 256;
/// Regions of the boot map that are kept, neighbours as one; more are left unused. UEFI reports over a hundred small ones.
const REGIONS_MAX: usize = 256;
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
    /// By frame number: how many refer to the frame beside the first one.
    sharers: &'static mut [u16],
    /// How often somebody was refused.
    refusals: u64,
}

static FRAMES: Mutex<Frames> = Mutex::new(Frames {
    regions: [const { 0..0 }; REGIONS_MAX],
    count: 0,
    current: 0,
    free: NONE,
    free_frames: 0,
    total_frames: 0,
    sharers: &mut [],
    refusals: 0,
});

/// Frames in the machine and frames free.
pub(crate) struct Usage {
    pub(crate) total: u64,
    pub(crate) free: u64,
}

/// Who asks for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Any program.
    Ordinary,
    /// The shell at the console: without it nobody could end the others.
    Shell,
    /// Process 1: without it nobody could start a shell.
    Init,
}

impl Priority {
    /// Frames that are left to others.
    pub(super) const fn keep(self) -> u64 {
        match self {
            Self::Ordinary => RESERVE,
            Self::Shell => RESERVE_INIT,
            Self::Init => 0,
        }
    }
}

/// Takes the usable regions of the boot map.
pub(super) fn init(regions: impl Iterator<Item = Range<u64>>) {
    let mut frames = FRAMES.lock();
    for region in regions {
        let start = region.start.max(PAGE).next_multiple_of(PAGE);
        let end = region.end / PAGE * PAGE;
        if start >= end {
            continue;
        }
        let count = frames.count;
        if count > 0 && frames.regions[count - 1].end == start {
            frames.regions[count - 1].end = end;
        } else if count < REGIONS_MAX {
            frames.regions[count] = start..end;
            frames.count += 1;
        } else {
            continue;
        }
        frames.total_frames += (end - start) / PAGE;
    }
    frames.free_frames = frames.total_frames;
}

/// Makes room to count who shares a frame. All of memory is mapped by now.
pub(super) fn init_sharing() {
    let end = FRAMES.lock().regions.iter().map(|region| region.end).max().unwrap_or(0);
    let count = (end / PAGE) as usize;
    let table = allocate_contiguous((count * size_of::<u16>()) as u64).expect("memory to count frames");
    // SAFETY: mapped memory that stays the table's for ever; zeroed before it is read.
    FRAMES.lock().sharers = unsafe {
        let first = phys_to_virt(table) as *mut u16;
        first.write_bytes(0, count);
        core::slice::from_raw_parts_mut(first, count)
    };
}

/// A zeroed frame's physical address, or `None` when memory is used up.
pub(crate) fn allocate() -> Option<u64> {
    let frame = FRAMES.lock().take()?;
    // SAFETY: a frame nobody else has, inside mapped memory.
    unsafe { core::ptr::write_bytes(phys_to_virt(frame) as *mut u8, 0, PAGE as usize) };
    Some(frame)
}

/// A new frame with what the frame `source` holds, or `None` when memory is used up.
pub(super) fn allocate_copy(source: u64) -> Option<u64> {
    let frame = FRAMES.lock().take()?;
    // SAFETY: two different frames inside mapped memory; nobody else has the new one.
    unsafe {
        let (from, to) = (phys_to_virt(source) as *const u8, phys_to_virt(frame) as *mut u8);
        core::ptr::copy_nonoverlapping(from, to, PAGE as usize);
    }
    Some(frame)
}

/// One more refers to `frame`, which came from an `allocate` and is in use. False, and nothing has changed, when there
/// are so many that one more cannot be counted.
#[must_use]
pub(super) fn share(frame: u64) -> bool {
    let mut frames = FRAMES.lock();
    let Some(sharers) = frames.sharers.get_mut((frame / PAGE) as usize) else { return false };
    match sharers.checked_add(1) {
        Some(more) => {
            *sharers = more;
            true
        }
        None => false,
    }
}

/// Whether more than one refers to `frame`.
pub(super) fn is_shared(frame: u64) -> bool {
    FRAMES.lock().sharers.get((frame / PAGE) as usize).is_some_and(|&sharers| sharers > 0)
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

/// Gives a frame back: the last of those that share it frees it.
///
/// # Safety
/// It came from [`allocate`] or [`allocate_copy`], and the caller, who is one of those that share it, does not refer to
/// it any more.
pub(super) unsafe fn free(frame: u64) {
    let mut frames = FRAMES.lock();
    if let Some(sharers) = frames.sharers.get_mut((frame / PAGE) as usize).filter(|sharers| **sharers > 0) {
        *sharers -= 1;
        return;
    }
    // SAFETY: the frame is ours again, by the caller's promise.
    unsafe { (phys_to_virt(frame) as *mut u64).write(frames.free) };
    frames.free = frame;
    frames.free_frames += 1;
}

/// Refuses to go on when no more than `keep` frames are left.
///
/// # Errors
/// ENOMEM.
pub(super) fn require_room(keep: u64) -> Result<(), Errno> {
    let mut frames = FRAMES.lock();
    if frames.free_frames > keep {
        return Ok(());
    }
    frames.refusals += 1;
    Err(Errno::ENOMEM)
}

/// Refuses to fork for a child of this priority.
///
/// # Errors
/// ENOMEM.
pub(crate) fn require_fork_room(priority: Priority) -> Result<(), Errno> {
    match priority {
        Priority::Ordinary => require_room(RESERVE + FORK_RESERVE),
        Priority::Shell | Priority::Init => require_room(priority.keep()),
    }
}

/// How often somebody was refused a frame since boot.
pub(crate) fn refusals() -> u64 {
    FRAMES.lock().refusals
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
