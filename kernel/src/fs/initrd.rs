//! Where the boot loader put the archive with the first programs.

use crate::arch::boot;
use bootloader_api::BootInfo;
use bootloader_api::info::Optional;

/// The archive, at an address that stays valid under the kernel's own page tables. Call it before those are loaded.
pub(crate) fn locate(info: &BootInfo) -> &'static [u8] {
    let Optional::Some(address) = info.ramdisk_addr else {
        return &[];
    };
    let Some(physical) = boot::translate(address) else {
        return &[];
    };
    let start = (boot::PHYS_OFFSET + physical) as *const u8;
    // SAFETY: the loader put the archive there in one piece and no region that is usable overlaps it.
    unsafe { core::slice::from_raw_parts(start, info.ramdisk_len as usize) }
}
