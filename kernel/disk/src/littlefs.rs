//! The littlefs library (`littlefs-rust-core`, a port of the C code to Rust) behind an interface that cannot be
//! misused: paths are bytes, files are numbers, errors are errnos. The only unsafe code of this crate is here.
//!
//! The safe crate of the same authors is not used: its names are `str`, and it has no attributes.
#![allow(unsafe_code, reason = "the library takes raw pointers; see the comment above")]

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

use askr_abi::Errno;
use littlefs_rust_core as lfs;
use littlefs_rust_core::lfs_type::lfs_open_flags::{
    LFS_F_DIRTY, LFS_F_ERRED, LFS_F_INLINE, LFS_F_WRITING, LFS_O_CREAT, LFS_O_EXCL, LFS_O_RDWR,
};
use littlefs_rust_core::lfs_type::lfs_type::{
    LFS_TYPE_CTZSTRUCT, LFS_TYPE_DIR, LFS_TYPE_INLINESTRUCT, LFS_TYPE_USERATTR,
};
use littlefs_rust_core::lfs_type::lfs_whence_flags::LFS_SEEK_SET;

use crate::Result;
use crate::blocks::{BLOCK, Blocks, SECTOR};
use crate::facts::{ATTRIBUTE, Attribute};

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
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) is_dir: bool,
    pub(crate) attribute: Option<Attribute>,
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
            read: Some(read_block),
            prog: Some(write_block),
            erase: Some(erase_block),
            sync: Some(flush),
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
    /// The disk, unmounted; open files are lost.
    pub(crate) fn into_blocks(self) -> Blocks {
        self.core.blocks
    }

    /// Size of the file system in bytes.
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.core.state.block_count) * BLOCK as u64
    }

    /// Longest name in bytes.
    pub(crate) const fn name_max(&self) -> usize {
        self.core.state.name_max as usize
    }

    /// Largest file in bytes.
    pub(crate) const fn file_max(&self) -> u64 {
        self.core.state.file_max as u64
    }

    /// Blocks in use. Looks at the whole file system if something was written since it was last asked for.
    ///
    /// # Errors
    /// EIO.
    pub(crate) fn used_blocks(&mut self) -> Result<u32> {
        let writes = self.core.blocks.writes();
        match self.used {
            Some((then, used)) if then == writes => Ok(used),
            _ => {
                let used = check(lfs::lfs_fs_size(self.begin()))?;
                self.used = Some((writes, used));
                Ok(used)
            }
        }
    }

    /// Returns after everything written is where a power cut cannot reach it.
    ///
    /// # Errors
    /// EIO.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.core.blocks.flush()
    }

    /// Finishes what a power cut interrupted, so that no later operation has to.
    ///
    /// # Errors
    /// EIO, ENOSPC.
    pub(crate) fn make_consistent(&mut self) -> Result<()> {
        check(lfs::lfs_fs_mkconsistent(self.begin())).map(drop)
    }

    /// What is at `path`.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, EIO.
    pub(crate) fn stat(&mut self, path: &Path) -> Result<Info> {
        let mut info = lfs::LfsInfo { type_: 0, size: 0, name: [0; 256] };
        check(lfs::lfs_stat(self.begin(), path.as_ptr(), &raw mut info))?;
        let attribute = self.attribute(path)?;
        Ok(Info { is_dir: u32::from(info.type_) == LFS_TYPE_DIR, size: u64::from(info.size), attribute })
    }

    fn attribute(&mut self, path: &Path) -> Result<Option<Attribute>> {
        let mut value = [0; Attribute::SIZE];
        let size = Attribute::SIZE as u32;
        let found = lfs::lfs_getattr(self.begin(), path.as_ptr(), ATTRIBUTE, value.as_mut_ptr().cast(), size);
        if found == lfs::LFS_ERR_NOATTR {
            return Ok(None);
        }
        Ok((check(found)? == size).then(|| Attribute::decode(&value)).flatten())
    }

    /// Sets the attribute of what is at `path` and is not open.
    ///
    /// # Errors
    /// ENOENT, ENOSPC, EIO.
    pub(crate) fn set_attribute(&mut self, path: &Path, attribute: &Attribute) -> Result<()> {
        let value = attribute.encode();
        let (bytes, size) = (value.as_ptr().cast::<c_void>(), Attribute::SIZE as u32);
        check(lfs::lfs_setattr(self.begin(), path.as_ptr(), ATTRIBUTE, bytes, size)).map(drop)
    }

    /// Makes an empty directory.
    ///
    /// # Errors
    /// EEXIST, ENOENT, ENOSPC, ENAMETOOLONG, EIO.
    pub(crate) fn mkdir(&mut self, path: &Path) -> Result<()> {
        check(lfs::lfs_mkdir(self.begin(), path.as_ptr())).map(drop)
    }

    /// Removes a file or an empty directory. The file must not be open, or has to be given to [`Self::detach`].
    ///
    /// # Errors
    /// ENOENT, ENOTEMPTY, ENOSPC, EIO.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<()> {
        check(lfs::lfs_remove(self.begin(), path.as_ptr())).map(drop)
    }

    /// Moves `old` to `new`, as one step. Neither may be open, except that what was at `new` can be given to
    /// [`Self::detach`].
    ///
    /// # Errors
    /// ENOENT, EISDIR, ENOTDIR, ENOTEMPTY, ENOSPC, ENAMETOOLONG, EIO.
    pub(crate) fn rename(&mut self, old: &Path, new: &Path) -> Result<()> {
        check(lfs::lfs_rename(self.begin(), old.as_ptr(), new.as_ptr())).map(drop)
    }

    /// The names in a directory.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, EIO.
    pub(crate) fn list(&mut self, path: &Path) -> Result<Vec<Entry>> {
        // SAFETY: plain data, which `lfs_dir_open` fills.
        let mut dir: lfs::LfsDir = unsafe { MaybeUninit::zeroed().assume_init() };
        check(lfs::lfs_dir_open(self.begin(), &raw mut dir, path.as_ptr()))?;
        let mut entries = Vec::new();
        let listed = loop {
            let mut info = lfs::LfsInfo { type_: 0, size: 0, name: [0; 256] };
            match check(lfs::lfs_dir_read(&raw mut self.core.state, &raw mut dir, &raw mut info)) {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(errno) => break Err(errno),
            }
            let name = info.name.split(|&byte| byte == 0).next().unwrap_or_default();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let is_dir = u32::from(info.type_) == LFS_TYPE_DIR;
            // The entry that was read is the one before the position.
            match self.attribute_in(&dir.m, dir.id.wrapping_sub(1)) {
                Ok(attribute) => entries.push(Entry { name: name.to_vec(), is_dir, attribute }),
                Err(errno) => break Err(errno),
            }
        };
        let closed = check(lfs::lfs_dir_close(&raw mut self.core.state, &raw mut dir)).map(drop);
        listed.and(closed).map(|()| entries)
    }

    /// The attribute of the entry `id`, without a search for its name.
    fn attribute_in(&mut self, dir: &lfs::LfsMdir, id: u16) -> Result<Option<Attribute>> {
        let mut value = [0; Attribute::SIZE];
        let mask = lfs::lfs_mktag(0x7ff, 0x3ff, 0);
        let wanted = LFS_TYPE_USERATTR + u32::from(ATTRIBUTE);
        let tag = lfs::lfs_mktag(wanted, u32::from(id), Attribute::SIZE as u32);
        match check(lfs::lfs_dir_get(&raw mut self.core.state, dir, mask, tag, value.as_mut_ptr().cast())) {
            Ok(_) => Ok(Attribute::decode(&value)),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// The library's state, for an operation that begins.
    fn begin(&mut self) -> *mut lfs::Lfs {
        self.core.blocks.begin();
        &raw mut self.core.state
    }
}

impl Littlefs {
    /// Opens the file at `path`, or makes it; its attribute becomes `attribute` with the next [`Self::sync`] that has
    /// something to write.
    ///
    /// # Errors
    /// ENOENT, EISDIR, ENOSPC, ENAMETOOLONG, EIO.
    pub(crate) fn open(&mut self, path: &Path, attribute: &Attribute, create: bool) -> Result<Handle> {
        let mut cache = vec![0; BLOCK];
        let config =
            lfs::LfsFileConfig { buffer: cache.as_mut_ptr().cast(), attrs: ptr::null_mut(), attr_count: 0 };
        // SAFETY: plain data, which `lfs_file_opencfg` fills.
        let file = unsafe { MaybeUninit::zeroed().assume_init() };
        let mut open = Box::new(OpenFile { file, config, attribute: *attribute, _cache: cache });
        let flags = LFS_O_RDWR | if create { LFS_O_CREAT | LFS_O_EXCL } else { 0 };
        let state = self.begin();
        let code =
            lfs::lfs_file_opencfg(state, &raw mut open.file, path.as_ptr(), flags, &raw const open.config);
        check(code)?;
        if create {
            open.file.flags |= LFS_F_DIRTY as u32;
        }
        let handle = Handle(self.next);
        self.next += 1;
        self.files.insert(handle, open);
        Ok(handle)
    }

    /// Closes a file without writing what is still to be written: [`Self::sync`] comes before.
    pub(crate) fn close(&mut self, handle: Handle) {
        let Some(mut open) = self.files.remove(&handle) else { return };
        // The library leaves a file that it cannot write in its list, with a pointer to what ends here. It writes
        // nothing of a file that has this flag.
        open.file.flags |= LFS_F_ERRED as u32;
        let _ = lfs::lfs_file_close(self.begin(), &raw mut open.file);
    }

    /// Makes the content and the attribute of an open file what its name shows, as one step.
    ///
    /// # Errors
    /// ENOSPC, EIO.
    pub(crate) fn sync(&mut self, handle: Handle) -> Result<()> {
        // Moves the position away from where it was written, which makes the library finish writing. It does not commit
        // then: what it would do for attributes of its own puts them to the wrong entry when a directory is split.
        let (state, file) = self.seek(handle, 0)?;
        let open = self.files.get_mut(&handle).ok_or(Errno::EBADF)?;
        if open.file.flags & LFS_F_DIRTY as u32 == 0 || open.file.m.pair[0] == BLOCK_NULL {
            return Ok(());
        }
        let is_inline = open.file.flags & LFS_F_INLINE as u32 != 0;
        if !is_inline {
            // The content first: a directory that names blocks not written yet would be a lie.
            self.core.blocks.flush()?;
        }
        let content = lfs::LfsCtz { head: open.file.ctz.head.to_le(), size: open.file.ctz.size.to_le() };
        let (kind, size, bytes) = if is_inline {
            (LFS_TYPE_INLINESTRUCT, open.file.ctz.size, open.file.cache.buffer.cast_const().cast::<c_void>())
        } else {
            (LFS_TYPE_CTZSTRUCT, size_of::<lfs::LfsCtz>() as u32, (&raw const content).cast())
        };
        let (id, value) = (u32::from(open.file.id), open.attribute.encode());
        let own = LFS_TYPE_USERATTR + u32::from(ATTRIBUTE);
        let changes = [
            lfs::lfs_mattr { tag: lfs::lfs_mktag(kind, id, size), buffer: bytes },
            lfs::lfs_mattr {
                tag: lfs::lfs_mktag(own, id, Attribute::SIZE as u32),
                buffer: value.as_ptr().cast(),
            },
        ];
        // SAFETY: the state is that of a mounted file system.
        unsafe { lfs::lfs_alloc_ckpoint(state) };
        // SAFETY: `file` is in its box, where the library knows it to be.
        let dir = unsafe { &raw mut (*file).m };
        check(lfs::lfs_dir_commit(state, dir, changes.as_ptr().cast(), changes.len() as i32))?;
        if let Some(open) = self.files.get_mut(&handle) {
            open.file.flags &= !(LFS_F_DIRTY as u32);
        }
        Ok(())
    }

    /// Whether an open file has something that [`Self::sync`] would write.
    pub(crate) fn is_dirty(&self, handle: Handle) -> bool {
        self.files
            .get(&handle)
            .is_some_and(|open| open.file.flags & (LFS_F_DIRTY | LFS_F_WRITING) as u32 != 0)
    }

    /// After the name of an open file was removed: keeps its blocks from being used for others.
    pub(crate) fn detach(&mut self, handle: Handle) {
        if let Some(open) = self.files.get_mut(&handle) {
            // The library counts the blocks of an open file as used only while it has changes.
            open.file.flags |= LFS_F_DIRTY as u32;
        }
    }

    /// Changes the attribute that goes with the content.
    pub(crate) fn put_attribute(&mut self, handle: Handle, attribute: &Attribute) {
        if let Some(open) = self.files.get_mut(&handle) {
            open.attribute = *attribute;
            open.file.flags |= LFS_F_DIRTY as u32;
        }
    }

    /// Size of an open file in bytes.
    pub(crate) fn file_size(&mut self, handle: Handle) -> Result<u64> {
        let (state, open) = self.at(handle)?;
        check(lfs::lfs_file_size(state, &raw mut open.file)).map(u64::from)
    }

    /// Reads at `offset`; 0 is the end.
    ///
    /// # Errors
    /// EIO; ENOSPC when something is to be written first.
    pub(crate) fn read(&mut self, handle: Handle, offset: u64, into: &mut [u8]) -> Result<usize> {
        if offset >= self.file_size(handle)? {
            return Ok(0);
        }
        let (state, file) = self.seek(handle, offset)?;
        let count = check(lfs::lfs_file_read(state, file, into.as_mut_ptr().cast(), length(into.len())))?;
        Ok(count as usize)
    }

    /// Writes at `offset`, which is not beyond the end, and returns how much of it: less than all when the disk is full.
    ///
    /// # Errors
    /// ENOSPC when it was full before, EFBIG, EIO.
    pub(crate) fn write(&mut self, handle: Handle, offset: u64, bytes: &[u8]) -> Result<usize> {
        let (state, file) = self.seek(handle, offset)?;
        let result = check(lfs::lfs_file_write(state, file, bytes.as_ptr().cast(), length(bytes.len())));
        match result {
            Ok(count) => Ok(count as usize),
            Err(Errno::ENOSPC) => {
                // What came before the block that there was no room for is part of the file, and the position tells
                // how much that is.
                let position = check(lfs::lfs_file_tell(state, file)).map_or(offset, u64::from);
                let taken = position.saturating_sub(offset).min(bytes.len() as u64);
                if taken == 0 { Err(Errno::ENOSPC) } else { Ok(taken as usize) }
            }
            Err(errno) => Err(errno),
        }
    }

    /// Cuts a file to `size`, which is not beyond the end.
    ///
    /// # Errors
    /// ENOSPC, EIO.
    pub(crate) fn cut(&mut self, handle: Handle, size: u64) -> Result<()> {
        let size = u32::try_from(size).map_err(|_| Errno::EFBIG)?;
        let (state, open) = self.at(handle)?;
        check(lfs::lfs_file_truncate(state, &raw mut open.file, size)).map(drop)
    }

    fn seek(&mut self, handle: Handle, offset: u64) -> Result<(*mut lfs::Lfs, *mut lfs::LfsFile)> {
        let offset = i32::try_from(offset).map_err(|_| Errno::EFBIG)?;
        let (state, open) = self.at(handle)?;
        let file = &raw mut open.file;
        check(lfs::lfs_file_seek(state, file, offset, LFS_SEEK_SET))?;
        Ok((state, file))
    }

    fn at(&mut self, handle: Handle) -> Result<(*mut lfs::Lfs, &mut OpenFile)> {
        self.core.blocks.begin();
        let open = self.files.get_mut(&handle).ok_or(Errno::EBADF)?;
        Ok((&raw mut self.core.state, open))
    }
}

/// The library counts in 32 bits; the caller may get less than all.
fn length(bytes: usize) -> u32 {
    bytes.min(1 << 20) as u32
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

/// The library's number for no block (`LFS_BLOCK_NULL`): a file without a name is in no directory.
const BLOCK_NULL: u32 = u32::MAX;

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

unsafe extern "C" fn read_block(
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

unsafe extern "C" fn write_block(
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
unsafe extern "C" fn erase_block(_: *const lfs::LfsConfig, _: u32) -> i32 {
    0
}

unsafe extern "C" fn flush(config: *const lfs::LfsConfig) -> i32 {
    // SAFETY: as above.
    code(unsafe { blocks_of(config) }.flush())
}
