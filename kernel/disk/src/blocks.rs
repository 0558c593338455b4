//! The disk as littlefs sees it: blocks of 4 KiB, read and written in sectors.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;

use askr_abi::Errno;

use crate::Result;

/// Bytes of a sector: the smallest piece that is read or written, and that a power cut may leave half done.
pub const SECTOR: usize = 512;
/// Bytes of a block of littlefs.
pub const BLOCK: usize = 4096;
/// Sectors of a block.
const SECTORS: u64 = (BLOCK / SECTOR) as u64;
/// Reads of one operation at most, for each block of the disk and besides: only a damaged disk can need more, and the
/// operation ends with EIO then.
const READS_PER_BLOCK: u64 = 64;
const READS_BESIDES: u64 = 65_536;

/// A disk. One request at a time; each ends by itself, if need be with an error.
pub trait BlockDevice: Send {
    /// Its size in sectors.
    fn sectors(&self) -> u64;

    /// Reads whole sectors from `sector` on.
    ///
    /// # Errors
    /// EIO.
    fn read(&mut self, sector: u64, into: &mut [u8]) -> Result<()>;

    /// Writes whole sectors from `sector` on.
    ///
    /// # Errors
    /// EIO.
    fn write(&mut self, sector: u64, bytes: &[u8]) -> Result<()>;

    /// Returns after everything written is where a power cut cannot reach it.
    ///
    /// # Errors
    /// EIO.
    fn flush(&mut self) -> Result<()>;
}

/// A disk in blocks, with a small cache that is written through.
pub(crate) struct Blocks {
    device: Box<dyn BlockDevice>,
    count: u32,
    cache: BTreeMap<u32, Cached>,
    cached_max: usize,
    uses: u64,
    writes: u64,
    reads_left: u64,
    failed: bool,
}

struct Cached {
    used: u64,
    bytes: Box<[u8]>,
}

impl Blocks {
    /// At most `cached_max` blocks are kept in memory: without them each look at a directory reads it from the disk.
    pub(crate) fn new(device: Box<dyn BlockDevice>, cached_max: usize) -> Self {
        let count = u32::try_from(device.sectors() / SECTORS).unwrap_or(u32::MAX);
        let cache = BTreeMap::new();
        Self { device, count, cache, cached_max, uses: 0, writes: 0, reads_left: 0, failed: false }
    }

    /// Number of whole blocks.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// How often something was written.
    pub(crate) const fn writes(&self) -> u64 {
        self.writes
    }

    /// An operation begins.
    pub(crate) fn begin(&mut self) {
        self.reads_left = u64::from(self.count) * READS_PER_BLOCK + READS_BESIDES;
        self.failed = false;
    }

    /// Whether the disk has failed since [`Self::begin`].
    pub(crate) const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Reads a piece of a block. Pieces begin and end with sectors.
    pub(crate) fn read(&mut self, block: u32, offset: usize, into: &mut [u8]) -> Result<()> {
        let at = self.sector(block, offset, into.len())?;
        self.reads_left = self.reads_left.checked_sub(1).ok_or(Errno::EIO)?;
        self.uses += 1;
        if let Some(cached) = self.cache.get_mut(&block) {
            cached.used = self.uses;
            into.copy_from_slice(&cached.bytes[offset..offset + into.len()]);
            return Ok(());
        }
        if into.len() == BLOCK {
            // Content of a large file, most likely: it would drive everything else out.
            return self.device.read(at, into).inspect_err(|_| self.failed = true);
        }
        let mut bytes = self.room();
        self.device.read(at - (offset / SECTOR) as u64, &mut bytes).inspect_err(|_| self.failed = true)?;
        into.copy_from_slice(&bytes[offset..offset + into.len()]);
        self.cache.insert(block, Cached { used: self.uses, bytes });
        Ok(())
    }

    /// Memory for a block, taken from the one that was not used for longest if there are many.
    fn room(&mut self) -> Box<[u8]> {
        if self.cache.len() < self.cached_max {
            return vec![0; BLOCK].into_boxed_slice();
        }
        let oldest = self.cache.iter().min_by_key(|(_, cached)| cached.used).map(|(&block, _)| block);
        let taken = oldest.and_then(|block| self.cache.remove(&block));
        taken.map_or_else(|| vec![0; BLOCK].into_boxed_slice(), |cached| cached.bytes)
    }

    /// Writes a piece of a block.
    pub(crate) fn write(&mut self, block: u32, offset: usize, bytes: &[u8]) -> Result<()> {
        let at = self.sector(block, offset, bytes.len())?;
        self.writes += 1;
        if let Err(errno) = self.device.write(at, bytes) {
            // What the disk has now is not known.
            self.cache.remove(&block);
            self.failed = true;
            return Err(errno);
        }
        if let Some(cached) = self.cache.get_mut(&block) {
            cached.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Returns after everything written is where a power cut cannot reach it.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.device.flush().inspect_err(|_| self.failed = true)
    }

    pub(crate) fn into_device(self) -> Box<dyn BlockDevice> {
        self.device
    }

    /// Where a piece begins on the disk. EIO for one that is outside, which only a damaged disk leads to.
    fn sector(&self, block: u32, offset: usize, length: usize) -> Result<u64> {
        if block >= self.count
            || offset + length > BLOCK
            || !offset.is_multiple_of(SECTOR)
            || !length.is_multiple_of(SECTOR)
        {
            return Err(Errno::EIO);
        }
        Ok(u64::from(block) * SECTORS + (offset / SECTOR) as u64)
    }
}
