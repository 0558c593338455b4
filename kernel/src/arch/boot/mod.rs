//! The two doors into the kernel. Both end in [`crate::kernel_main`] with a `bootloader_api::BootInfo`:
//! [`pvh`] builds one from what a direct-boot loader gives, the `bootloader` crate brings its own.

mod pvh;

use askr_core::initrd::{self, EntryKind};
use bootloader_api::config::Mapping;
use bootloader_api::{BootInfo, BootloaderConfig};
use core::arch::global_asm;
use spin::Once;
use x86_64::VirtAddr;
use x86_64::registers::control::Cr3;
use x86_64::structures::paging::{OffsetPageTable, PageTable, Translate};

/// Where all physical memory is mapped, by both doors and by the kernel's own page tables.
pub(crate) const PHYS_OFFSET: u64 = 0xffff_8000_0000_0000;

/// Longest kernel command line that is kept, in bytes.
const CMDLINE_MAX: usize = 1024;
/// Where the initrd may have a command line: a disk image brings none of its own.
const CMDLINE_FILE: &[u8] = b"etc/cmdline";

global_asm!(include_str!("pvh.s"));

static CONFIG: BootloaderConfig = {
    let mut config = BootloaderConfig::new_default();
    config.mappings.physical_memory = Some(Mapping::FixedAddress(PHYS_OFFSET));
    config
};

bootloader_api::entry_point!(image_main, config = &CONFIG);

/// The command line in the initrd.
static FROM_INITRD: Once<&'static [u8]> = Once::new();

/// Takes the command line from the initrd if the loader brought none. Call it once the heap is there. Returns whether
/// there is one now that was not there before.
pub(crate) fn read_cmdline(archive: &'static [u8]) -> bool {
    if !pvh::cmdline().is_empty() {
        return false;
    }
    // What is wrong with the archive is reported when its files are taken.
    let mut entries = initrd::entries(archive).map_while(Result::ok);
    let found = entries.find_map(|entry| match entry.kind {
        EntryKind::File(range) if *entry.path == *CMDLINE_FILE => archive.get(range),
        _ => None,
    });
    if let Some(line) = found {
        FROM_INITRD.call_once(|| &line[..line.len().min(CMDLINE_MAX)]);
    }
    found.is_some()
}

/// The kernel command line: the loader's, or that of the file `/etc/cmdline` in the initrd.
pub(crate) fn cmdline() -> &'static [u8] {
    let direct = pvh::cmdline();
    if direct.is_empty() { FROM_INITRD.get().copied().unwrap_or_default() } else { direct }
}

/// The door that this boot came through, in a word.
pub(crate) fn door() -> &'static str {
    if pvh::was_entered() { "direct" } else { "image" }
}

/// The physical address behind a virtual one of the boot loader's. Only while its page tables are in use.
pub(crate) fn translate(address: u64) -> Option<u64> {
    let (root, _) = Cr3::read();
    // SAFETY: the boot loader's tables, which nobody changes; physical memory is mapped at PHYS_OFFSET by both doors.
    let tables = unsafe {
        let top = &mut *((PHYS_OFFSET + root.start_address().as_u64()) as *mut PageTable);
        OffsetPageTable::new(top, VirtAddr::new(PHYS_OFFSET))
    };
    tables.translate_addr(VirtAddr::try_new(address).ok()?).map(|physical| physical.as_u64())
}

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
    crate::arch::catch_faults();
    // SAFETY: the stub only changes to the boot stack, which nobody uses yet, and calls `kernel_main`.
    unsafe { image_entry(core::ptr::from_mut(info).cast()) }
}
