//! From `hvm_start_info` to `BootInfo`.
//!
//! Layouts: Xen public headers, `arch-x86/hvm/start_info.h`, version 1. All addresses in them are physical and
//! below 4 GiB, which the entry stub has mapped at [`PHYS_OFFSET`].

use super::{CMDLINE_MAX, PHYS_OFFSET};
use bootloader_api::BootInfo;
use bootloader_api::info::{MemoryRegion, MemoryRegionKind, MemoryRegions, Optional};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

const MAGIC: u32 = 0x336e_c578;
/// e820 type of memory that may be used.
const E820_RAM: u32 = 1;
/// Most regions that are kept; machines report about ten, and each reserved range splits one.
const REGIONS_MAX: usize = 64;
/// Below this lie the firmware's data, the loader's structures and the legacy devices.
const LOW_MEMORY: u64 = 0x10_0000;

#[repr(C)]
struct StartInfo {
    magic: u32,
    version: u32,
    flags: u32,
    nr_modules: u32,
    modlist: u64,
    cmdline: u64,
    rsdp: u64,
    memmap: u64,
    memmap_entries: u32,
    reserved: u32,
}

#[repr(C)]
struct Module {
    start: u64,
    size: u64,
    cmdline: u64,
    reserved: u64,
}

#[repr(C)]
struct MemmapEntry {
    start: u64,
    size: u64,
    kind: u32,
    reserved: u32,
}

/// What must outlive this function: BootInfo and the regions it points to.
struct Storage {
    regions: [MemoryRegion; REGIONS_MAX],
    info: MaybeUninit<BootInfo>,
    cmdline: [u8; CMDLINE_MAX],
    cmdline_len: usize,
}

struct Shared(UnsafeCell<Storage>);

// SAFETY: written once by `pvh_main` on the boot processor before anything else runs, read-only afterwards
// except through the `&'static mut BootInfo` that it hands on.
unsafe impl Sync for Shared {}

static STORAGE: Shared = Shared(UnsafeCell::new(Storage {
    regions: [MemoryRegion::empty(); REGIONS_MAX],
    info: MaybeUninit::uninit(),
    cmdline: [0; CMDLINE_MAX],
    cmdline_len: 0,
}));

/// Whether this boot came through this door.
static ENTERED: AtomicBool = AtomicBool::new(false);

pub(super) fn was_entered() -> bool {
    ENTERED.load(Ordering::Relaxed)
}

/// The kernel command line (only the PVH door brings one).
pub(super) fn cmdline() -> &'static [u8] {
    // SAFETY: nothing writes the storage after `pvh_main`.
    let storage = unsafe { &*STORAGE.0.get() };
    &storage.cmdline[..storage.cmdline_len]
}

/// Reads a structure of the loader at a physical address below 4 GiB.
///
/// # Safety
/// `physical` must hold a `T` that the loader wrote and nobody changes.
unsafe fn at<T>(physical: u64) -> &'static T {
    let pointer = (PHYS_OFFSET + physical) as *const T;
    // SAFETY: the stub maps the first 4 GiB at PHYS_OFFSET; the caller vouches for the contents.
    unsafe { &*pointer }
}

#[unsafe(no_mangle)]
extern "C" fn pvh_main(start_info: u64) -> ! {
    unsafe extern "C" {
        static __image_start: u8;
        static __image_end: u8;
    }
    crate::arch::catch_faults();
    ENTERED.store(true, Ordering::Relaxed);
    // SAFETY: the PVH protocol puts this address into EBX.
    let start = unsafe { at::<StartInfo>(start_info) };
    assert!(start.magic == MAGIC && start.version >= 1, "not started by a PVH loader with a memory map");

    let kernel = {
        const KERNEL_BASE: u64 = 0xffff_ffff_8000_0000;
        (&raw const __image_start) as u64 - KERNEL_BASE..(&raw const __image_end) as u64 - KERNEL_BASE
    };
    let ramdisk = (start.nr_modules > 0).then(|| {
        // SAFETY: nr_modules says that the list holds at least one.
        let module = unsafe { at::<Module>(start.modlist) };
        module.start..module.start + module.size
    });

    // SAFETY: the only reference; see `Shared`.
    let storage = unsafe { &mut *STORAGE.0.get() };
    if start.cmdline != 0 {
        // SAFETY: the loader's command line is NUL-terminated; reading stops at CMDLINE_MAX anyway.
        let source = unsafe { at::<[u8; CMDLINE_MAX]>(start.cmdline) };
        let len = source.iter().position(|&byte| byte == 0).unwrap_or(CMDLINE_MAX);
        storage.cmdline[..len].copy_from_slice(&source[..len]);
        storage.cmdline_len = len;
    }

    let mut count = 0;
    for index in 0..u64::from(start.memmap_entries) {
        // SAFETY: memmap_entries of them lie at memmap.
        let entry = unsafe { at::<MemmapEntry>(start.memmap + index * size_of::<MemmapEntry>() as u64) };
        let range = entry.start.max(LOW_MEMORY)..entry.start.saturating_add(entry.size);
        if entry.kind == E820_RAM {
            add_usable(&mut storage.regions, &mut count, range, &[Some(kernel.clone()), ramdisk.clone()]);
        }
    }
    let regions: &'static mut [MemoryRegion] = &mut storage.regions[..count];
    let mut info = BootInfo::new(MemoryRegions::from(regions));
    info.physical_memory_offset = Optional::Some(PHYS_OFFSET);
    info.kernel_addr = kernel.start;
    info.kernel_len = kernel.end - kernel.start;
    info.kernel_image_offset = (&raw const __image_start) as u64;
    if start.rsdp != 0 {
        info.rsdp_addr = Optional::Some(start.rsdp);
    }
    if let Some(ramdisk) = ramdisk {
        info.ramdisk_addr = Optional::Some(PHYS_OFFSET + ramdisk.start);
        info.ramdisk_len = ramdisk.end - ramdisk.start;
    }
    crate::kernel_main(storage.info.write(info))
}

/// Adds `range` less the reserved ranges to the regions; what no longer fits in the table is left unused.
fn add_usable(
    regions: &mut [MemoryRegion; REGIONS_MAX],
    count: &mut usize,
    range: Range<u64>,
    reserved: &[Option<Range<u64>>],
) {
    let Some((first, rest)) = reserved.split_first() else {
        if range.start < range.end && *count < REGIONS_MAX {
            regions[*count] =
                MemoryRegion { start: range.start, end: range.end, kind: MemoryRegionKind::Usable };
            *count += 1;
        }
        return;
    };
    match first {
        Some(hole) if hole.start < range.end && range.start < hole.end => {
            add_usable(regions, count, range.start..hole.start, rest);
            add_usable(regions, count, hole.end..range.end, rest);
        }
        _ => add_usable(regions, count, range, rest),
    }
}
