//! The littlefs library (`littlefs-rust-core`, a port of the C code to Rust) behind an interface that cannot be
//! misused: paths are bytes, files are numbers, errors are errnos. The only unsafe code of this crate is here.
//!
//! The safe crate of the same authors is not used: its names are `str`, and it has no attributes.
#![allow(unsafe_code, reason = "the library takes raw pointers; see the comment above")]

mod callbacks;
mod files;
mod names;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ptr;

use askr_abi::Errno;
use littlefs_rust_core as lfs;

use crate::Result;
use crate::blocks::{BLOCK, Blocks, SECTOR};
use crate::facts::Attribute;

/// Blocks of a directory are moved after this many changes, to spread wear. A disk has none, and moving is an occasion
/// to fail: never.
const BLOCK_CYCLES: i32 = -1;
/// Bytes of the library's map of free blocks at most; one byte is eight blocks.
const LOOKAHEAD_MAX: u32 = 128 * 1024;
/// Bytes of it at least.
const LOOKAHEAD_MIN: u32 = 64;

/// Names an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Handle(u64);

/// What the library knows about a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    pub(crate) is_dir: bool,
    pub(crate) size: u64,
    /// Nothing where the host made it.
    pub(crate) attribute: Option<Attribute>,
}

/// One name in a directory.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) is_dir: bool,
    pub(crate) size: u64,
    pub(crate) attribute: Option<Attribute>,
}

impl Entry {
    /// Another one like it.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn copied(&self) -> Result<Self> {
        let Self { ref name, is_dir, size, attribute } = *self;
        Ok(Self { name: names::copy(name)?, is_dir, size, attribute })
    }
}

/// A mounted file system.
pub(crate) struct Littlefs {
    // In boxes, since the library keeps pointers from one to the other; none of them moves.
    core: Box<Core>,
    files: BTreeMap<Handle, Box<OpenFile>>,
    next: u64,
    /// Blocks in use, after so many writes.
    used: Option<(u64, u32)>,
}

/// The library's state and all that it points to.
struct Core {
    state: lfs::Lfs,
    config: lfs::LfsConfig,
    blocks: Blocks,
    _buffers: [Vec<u8>; 3],
}

/// An open file and all that the library has pointers to.
struct OpenFile {
    file: lfs::LfsFile,
    config: lfs::LfsFileConfig,
    attribute: Attribute,
    _cache: Vec<u8>,
}

// SAFETY: the pointers lead to what the boxes own, and whoever has the `Littlefs` has all of it.
unsafe impl Send for Littlefs {}

/// A path as the library takes it: from the root, with a NUL at its end.
#[derive(Clone, Debug)]
pub(crate) struct Path(Vec<u8>);

impl Path {
    /// The path of these names, outermost first, which hold neither NUL nor slash.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut path = Vec::new();
        for name in names {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        if path.is_empty() {
            path.push(b'/');
        }
        path.push(0);
        Self(path)
    }

    fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr()
    }
}

impl Core {
    /// A state that is not mounted. `count` is the size of the file system in blocks; 0 takes it from the disk.
    fn new(blocks: Blocks, count: u32) -> Box<Self> {
        let lookahead = (blocks.count() / 8).next_multiple_of(8).clamp(LOOKAHEAD_MIN, LOOKAHEAD_MAX);
        let mut buffers = [vec![0; BLOCK], vec![0; BLOCK], vec![0; lookahead as usize]];
        let [read, program, map] = &mut buffers;
        let config = lfs::LfsConfig {
            context: ptr::null_mut(),
            read: Some(callbacks::read_block),
            prog: Some(callbacks::write_block),
            erase: Some(callbacks::erase_block),
            sync: Some(callbacks::flush),
            read_size: SECTOR as u32,
            prog_size: SECTOR as u32,
            block_size: BLOCK as u32,
            block_count: count,
            block_cycles: BLOCK_CYCLES,
            cache_size: BLOCK as u32,
            lookahead_size: lookahead,
            compact_thresh: u32::MAX,
            read_buffer: read.as_mut_ptr().cast(),
            prog_buffer: program.as_mut_ptr().cast(),
            lookahead_buffer: map.as_mut_ptr().cast(),
            name_max: 0,
            file_max: 0,
            attr_max: 0,
            metadata_max: 0,
            inline_max: 0,
        };
        // SAFETY: the structure is plain data for which zeros are what C's static storage would give.
        let state = unsafe { MaybeUninit::zeroed().assume_init() };
        let mut core = Box::new(Self { state, config, blocks, _buffers: buffers });
        core.config.context = (&raw mut core.blocks).cast();
        core
    }
}

impl Littlefs {
    /// Makes an empty file system over all blocks.
    ///
    /// # Errors
    /// EIO; ENOSPC when there are too few blocks.
    pub(crate) fn format(blocks: Blocks) -> core::result::Result<Blocks, (Errno, Blocks)> {
        let count = blocks.count();
        let mut core = Core::new(blocks, count);
        core.blocks.begin();
        let code = lfs::lfs_format(&raw mut core.state, &raw const core.config);
        match check(code) {
            Ok(_) => Ok(core.blocks),
            Err(errno) => Err((errno, core.blocks)),
        }
    }

    /// Mounts what is on the blocks.
    ///
    /// # Errors
    /// EIO when the disk fails; EINVAL when there is no such file system, or one that this code does not understand.
    pub(crate) fn mount(blocks: Blocks) -> core::result::Result<Self, (Errno, Blocks)> {
        let available = blocks.count();
        let mut core = Core::new(blocks, 0);
        core.blocks.begin();
        let code = lfs::lfs_mount(&raw mut core.state, &raw const core.config);
        let too_large = core.state.block_count > available;
        match check(code) {
            Ok(_) if too_large => Err((Errno::EINVAL, core.blocks)),
            Ok(_) => Ok(Self { core, files: BTreeMap::new(), next: 0, used: None }),
            Err(Errno::EIO) if !core.blocks.has_failed() => Err((Errno::EINVAL, core.blocks)),
            Err(errno) => Err((errno, core.blocks)),
        }
    }
}

impl Littlefs {
    /// The library's state, for an operation that begins.
    fn begin(&mut self) -> *mut lfs::Lfs {
        self.core.blocks.begin();
        &raw mut self.core.state
    }
}

/// The library's codes are Linux's errnos, and one of its own.
fn check(code: i32) -> Result<u32> {
    u32::try_from(code).map_err(|_| match code {
        lfs::LFS_ERR_NOENT => Errno::ENOENT,
        lfs::LFS_ERR_EXIST => Errno::EEXIST,
        lfs::LFS_ERR_NOTDIR => Errno::ENOTDIR,
        lfs::LFS_ERR_ISDIR => Errno::EISDIR,
        lfs::LFS_ERR_NOTEMPTY => Errno::ENOTEMPTY,
        lfs::LFS_ERR_INVAL => Errno::EINVAL,
        lfs::LFS_ERR_NOSPC => Errno::ENOSPC,
        lfs::LFS_ERR_NOMEM => Errno::ENOMEM,
        lfs::LFS_ERR_NAMETOOLONG => Errno::ENAMETOOLONG,
        FILE_TOO_BIG => Errno::EFBIG,
        // LFS_ERR_CORRUPT among them: the disk gives back something else than what was written.
        _ => Errno::EIO,
    })
}

/// `LFS_ERR_FBIG`, which the library does not export.
const FILE_TOO_BIG: i32 = -27;
