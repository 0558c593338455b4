//! The two doors into the kernel. Both end in [`crate::kernel_main`] with a `bootloader_api::BootInfo`:
//! [`pvh`] builds one from what a direct-boot loader gives, the `bootloader` crate brings its own.

mod pvh;

pub(crate) use pvh::cmdline;

use bootloader_api::config::Mapping;
use bootloader_api::{BootInfo, BootloaderConfig};
use core::arch::global_asm;

/// Where all physical memory is mapped, by both doors and by the kernel's own page tables.
pub(crate) const PHYS_OFFSET: u64 = 0xffff_8000_0000_0000;

/// Longest kernel command line that is kept, in bytes.
const CMDLINE_MAX: usize = 1024;

global_asm!(include_str!("pvh.s"));

static CONFIG: BootloaderConfig = {
    let mut config = BootloaderConfig::new_default();
    config.mappings.physical_memory = Some(Mapping::FixedAddress(PHYS_OFFSET));
    config
};

bootloader_api::entry_point!(image_main, config = &CONFIG);

/// The value of the first word `name=value` on the command line.
pub(crate) fn option(name: &[u8]) -> Option<&'static [u8]> {
    options(name).next()
}

/// The values of all words `name=value` on the command line.
pub(crate) fn options(name: &[u8]) -> impl Iterator<Item = &'static [u8]> {
    let words = cmdline().split(u8::is_ascii_whitespace);
    words.filter_map(move |word| word.strip_prefix(name)?.strip_prefix(b"="))
}

fn image_main(info: &'static mut BootInfo) -> ! {
    unsafe extern "C" {
        fn image_entry(info: *mut u8) -> !;
    }
    // SAFETY: the stub only changes to the boot stack, which nobody uses yet, and calls `kernel_main`.
    unsafe { image_entry(core::ptr::from_mut(info).cast()) }
}
