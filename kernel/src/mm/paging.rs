//! The kernel half of every address space: all of physical memory without execute permission, and the kernel's
//! image with code read-only, constants read-only, data not executable. Built afresh at boot, since the doors map
//! more than that and differently.

use super::frames::{self, PAGE};
use crate::arch::boot::PHYS_OFFSET;
use core::sync::atomic::{AtomicU64, Ordering};
use x86_64::registers::control::{Cr3, Cr3Flags};
use x86_64::structures::paging::mapper::{MapToError, TranslateResult};
use x86_64::structures::paging::{
    FrameAllocator, Mapper, OffsetPageTable, Page, PageTable, PageTableFlags as Flags, PhysFrame, Size2MiB,
    Size4KiB, Translate,
};
use x86_64::{PhysAddr, VirtAddr};

/// Every map of physical memory covers at least this, since devices live below it.
const LEAST_MAPPED: u64 = 4 << 30;
/// First slot of the top table that belongs to the kernel.
pub(super) const KERNEL_SLOTS: usize = 256;

static KERNEL_ROOT: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    static __image_start: u8;
    static __rodata_start: u8;
    static __data_start: u8;
    static __image_end: u8;
}

/// The frame allocator in the shape that the `x86_64` crate asks for.
pub(super) struct Allocator;

// SAFETY: `frames` hands each frame out once.
unsafe impl FrameAllocator<Size4KiB> for Allocator {
    fn allocate_frame(&mut self) -> Option<PhysFrame> {
        frames::allocate().map(|frame| PhysFrame::containing_address(PhysAddr::new(frame)))
    }
}

/// Address at which the kernel sees physical memory.
pub(crate) const fn phys_to_virt(physical: u64) -> u64 {
    PHYS_OFFSET + physical
}

/// The page tables under `root`, for changing them.
///
/// # Safety
/// `root` is a live top table, and no other reference to it or to tables below it exists.
pub(super) unsafe fn tables(root: u64) -> OffsetPageTable<'static> {
    // SAFETY: the caller's promise; all tables lie in mapped physical memory.
    unsafe {
        let top = &mut *(phys_to_virt(root) as *mut PageTable);
        OffsetPageTable::new(top, VirtAddr::new(PHYS_OFFSET))
    }
}

pub(super) fn init(end_of_memory: u64) {
    let root = frames::allocate().expect("a frame for the page tables");
    // SAFETY: fresh and not in use yet; the boot tables are only read.
    let (mut new, boot) = unsafe { (tables(root), tables(Cr3::read().0.start_address().as_u64())) };
    map_physical(&mut new, end_of_memory.max(LEAST_MAPPED));
    map_image(&mut new, &boot);
    // Every top slot of the kernel half gets its table now, so that later changes reach all address spaces.
    let top = new.level_4_table_mut();
    for entry in top.iter_mut().skip(KERNEL_SLOTS).filter(|entry| entry.is_unused()) {
        let table = frames::allocate().expect("a frame for the page tables");
        entry.set_addr(PhysAddr::new(table), Flags::PRESENT | Flags::WRITABLE);
    }
    KERNEL_ROOT.store(root, Ordering::Relaxed);
    use_kernel_root();
}

fn map_physical(tables: &mut OffsetPageTable<'_>, end: u64) {
    let flags = Flags::PRESENT | Flags::WRITABLE | Flags::NO_EXECUTE | Flags::GLOBAL;
    for start in (0..end).step_by(2 << 20) {
        let page = Page::<Size2MiB>::containing_address(VirtAddr::new(phys_to_virt(start)));
        let frame = PhysFrame::containing_address(PhysAddr::new(start));
        // SAFETY: the map of physical memory is what the whole module relies on; nothing else uses these addresses.
        let mapped: Result<_, MapToError<Size2MiB>> =
            unsafe { tables.map_to(page, frame, flags, &mut Allocator) };
        mapped.expect("the map of physical memory is fresh").ignore();
    }
}

/// Maps a device's registers where [`phys_to_virt`] says, if they lie beyond what is mapped there anyway.
pub(crate) fn map_device(physical: u64, size: u64) {
    const LARGE: u64 = 2 << 20;
    // SAFETY: only tasks come here, and no reference to a table outlives this function.
    let mut tables = unsafe { tables(kernel_root()) };
    let flags = Flags::PRESENT | Flags::WRITABLE | Flags::NO_EXECUTE | Flags::GLOBAL | Flags::NO_CACHE;
    for start in (physical / LARGE * LARGE..physical + size).step_by(LARGE as usize) {
        let page = Page::<Size2MiB>::containing_address(VirtAddr::new(phys_to_virt(start)));
        if tables.translate_addr(page.start_address()).is_some() {
            continue;
        }
        let frame = PhysFrame::containing_address(PhysAddr::new(start));
        // SAFETY: these addresses stand for this physical memory, and nothing was there.
        let mapped: Result<_, MapToError<Size2MiB>> =
            unsafe { tables.map_to(page, frame, flags, &mut Allocator) };
        mapped.expect("a frame for the page tables").flush();
    }
}

fn map_image(tables: &mut OffsetPageTable<'_>, boot: &OffsetPageTable<'_>) {
    let [start, rodata, data, end] = [
        &raw const __image_start,
        &raw const __rodata_start,
        &raw const __data_start,
        &raw const __image_end,
    ]
    .map(|symbol| symbol as u64);
    let parts = [
        (start..rodata, Flags::PRESENT | Flags::GLOBAL),
        (rodata..data, Flags::PRESENT | Flags::GLOBAL | Flags::NO_EXECUTE),
        (data..end, Flags::PRESENT | Flags::GLOBAL | Flags::NO_EXECUTE | Flags::WRITABLE),
    ];
    for (range, flags) in parts {
        for address in range.step_by(PAGE as usize).map(VirtAddr::new) {
            let TranslateResult::Mapped { .. } = boot.translate(address) else {
                continue; // between segments
            };
            let physical = boot.translate_addr(address).expect("mapped, as just seen");
            let page = Page::<Size4KiB>::containing_address(address);
            // SAFETY: the kernel's own pages, with the permissions that their sections need.
            let mapped = unsafe {
                tables.map_to(page, PhysFrame::containing_address(physical), flags, &mut Allocator)
            };
            mapped.expect("the image's pages are mapped once").ignore();
        }
    }
}

/// The kernel half's slots, to copy into a new top table.
pub(crate) fn kernel_root() -> u64 {
    KERNEL_ROOT.load(Ordering::Relaxed)
}

/// Whether the tables under `root` are in use.
pub(super) fn is_loaded(root: u64) -> bool {
    Cr3::read().0.start_address().as_u64() == root
}

/// Switches to the kernel's own tables: no program is mapped.
pub(crate) fn use_kernel_root() {
    load_root(kernel_root());
}

/// Switches to the tables under `root`, a top table with the kernel's half.
pub(crate) fn load_root(root: u64) {
    let frame = PhysFrame::containing_address(PhysAddr::new(root));
    if Cr3::read().0 != frame {
        // SAFETY: every root has the kernel half, so code, stack and data stay where they are.
        unsafe { Cr3::write(frame, Cr3Flags::empty()) };
    }
}

/// Forgets what the processor remembers of the user half under `root`.
pub(super) fn flush(root: u64) {
    let (frame, flags) = Cr3::read();
    if frame.start_address().as_u64() == root {
        // SAFETY: the tables in use stay in use. The kernel's pages are global and stay remembered.
        unsafe { Cr3::write(frame, flags) };
    }
}
