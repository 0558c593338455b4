//! What the library calls: the disk's reads, writes and flushes.

use littlefs_rust_core as lfs;

use crate::Result;
use crate::blocks::Blocks;

/// The blocks of a configuration.
///
/// # Safety
/// `config` is that of a [`Core`], which nobody else uses during a call of the library.
unsafe fn blocks_of<'a>(config: *const lfs::LfsConfig) -> &'a mut Blocks {
    // SAFETY: `Core::new` set it, and a core never leaves its box.
    unsafe { &mut *(*config).context.cast::<Blocks>() }
}

fn code(result: Result<()>) -> i32 {
    if result.is_ok() { 0 } else { lfs::LFS_ERR_IO }
}

pub(super) unsafe extern "C" fn read_block(
    config: *const lfs::LfsConfig,
    block: u32,
    offset: u32,
    into: *mut u8,
    size: u32,
) -> i32 {
    // SAFETY: the library calls this with its configuration and with a buffer of this size.
    let (blocks, into) = unsafe { (blocks_of(config), core::slice::from_raw_parts_mut(into, size as usize)) };
    code(blocks.read(block, offset as usize, into))
}

pub(super) unsafe extern "C" fn write_block(
    config: *const lfs::LfsConfig,
    block: u32,
    offset: u32,
    bytes: *const u8,
    size: u32,
) -> i32 {
    // SAFETY: as above.
    let (blocks, bytes) = unsafe { (blocks_of(config), core::slice::from_raw_parts(bytes, size as usize)) };
    code(blocks.write(block, offset as usize, bytes))
}

/// A disk needs no erasing.
pub(super) unsafe extern "C" fn erase_block(_: *const lfs::LfsConfig, _: u32) -> i32 {
    0
}

pub(super) unsafe extern "C" fn flush(config: *const lfs::LfsConfig) -> i32 {
    // SAFETY: as above.
    code(unsafe { blocks_of(config) }.flush())
}
