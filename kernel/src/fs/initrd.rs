//! Where the boot loader put the archive with the first programs.

use crate::arch::boot::PHYS_OFFSET;
use bootloader_api::BootInfo;
use bootloader_api::info::Optional;
use x86_64::structures::paging::{OffsetPageTable, PageTable, Translate};
use x86_64::{VirtAddr, registers::control::Cr3};

/// The archive, at an address that stays valid under the kernel's own page tables. Call it before those are loaded.
pub(crate) fn locate(info: &BootInfo) -> &'static [u8] {
    let Optional::Some(address) = info.ramdisk_addr else {
        return &[];
    };
    let (root, _) = Cr3::read();
    // SAFETY: the boot loader's tables, which nobody changes; physical memory is mapped at PHYS_OFFSET by both doors.
    let tables = unsafe {
        let top = &mut *((PHYS_OFFSET + root.start_address().as_u64()) as *mut PageTable);
        OffsetPageTable::new(top, VirtAddr::new(PHYS_OFFSET))
    };
    let Some(physical) = tables.translate_addr(VirtAddr::new(address)) else {
        return &[];
    };
    let start = (PHYS_OFFSET + physical.as_u64()) as *const u8;
    // SAFETY: the loader put the archive there in one piece and no region that is usable overlaps it.
    unsafe { core::slice::from_raw_parts(start, info.ramdisk_len as usize) }
}
