//! What is on a disk, and the one operation that makes it ours.

use alloc::boxed::Box;
use alloc::vec;

use askr_abi::Errno;

use crate::Result;
use crate::blocks::{BLOCK, BlockDevice, Blocks, SECTOR};
use crate::littlefs::Littlefs;

/// Fewest blocks of a file system: the two of the root directory, and room for changes.
const BLOCKS_MIN: u32 = 16;
/// Bytes that are looked at at once.
const PIECE: usize = 64 * 1024;
/// Blocks kept in memory meanwhile.
const CACHED: usize = 16;
/// Blocks that making a file system writes: the root directory.
const FIRST_BLOCKS: u64 = 2;
/// In the last sector while a file system is being made, so that a power cut meanwhile does not leave a disk that is
/// refused.
const MARK: &[u8; 32] = b"askr: making a file system here\n";

/// What is on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A file system that can be mounted.
    FileSystem,
    /// Nothing but zeros, or a file system that was not made to its end.
    Empty,
    /// Something else.
    Foreign,
    /// It is too small for a file system.
    TooSmall,
}

/// Looks what is on a disk. It is read as a whole only if there is no file system on it.
///
/// # Errors
/// EIO.
pub fn examine(device: Box<dyn BlockDevice>) -> Result<(State, Box<dyn BlockDevice>)> {
    let blocks = Blocks::new(device, CACHED);
    if blocks.count() < BLOCKS_MIN {
        return Ok((State::TooSmall, blocks.into_device()));
    }
    let mut device = match Littlefs::mount(blocks) {
        Ok(lfs) => return Ok((State::FileSystem, lfs.into_blocks().into_device())),
        Err((Errno::EINVAL, blocks)) => blocks.into_device(),
        Err((errno, _)) => return Err(errno),
    };
    let begun = read_mark(&mut *device)?;
    let (from, to) = if begun {
        (FIRST_BLOCKS * (BLOCK / SECTOR) as u64, device.sectors() - 1)
    } else {
        (0, device.sectors())
    };
    let state = if is_zero(&mut *device, from, to)? { State::Empty } else { State::Foreign };
    Ok((state, device))
}

/// Makes an empty file system, whatever is on the disk.
///
/// # Errors
/// EIO; ENOSPC when the disk is too small.
pub fn format(mut device: Box<dyn BlockDevice>) -> Result<Box<dyn BlockDevice>> {
    let last = device.sectors().checked_sub(1).ok_or(Errno::ENOSPC)?;
    let mut sector = vec![0; SECTOR];
    sector[..MARK.len()].copy_from_slice(MARK);
    device.write(last, &sector)?;
    device.flush()?;
    let blocks = Blocks::new(device, CACHED);
    if blocks.count() < BLOCKS_MIN {
        return Err(Errno::ENOSPC);
    }
    let mut device = Littlefs::format(blocks).map_err(|(errno, _)| errno)?.into_device();
    device.write(last, &[0; SECTOR])?;
    device.flush()?;
    Ok(device)
}

fn read_mark(device: &mut dyn BlockDevice) -> Result<bool> {
    let mut sector = [0; SECTOR];
    device.read(device.sectors() - 1, &mut sector)?;
    Ok(sector.starts_with(MARK) && sector[MARK.len()..].iter().all(|&byte| byte == 0))
}

fn is_zero(device: &mut dyn BlockDevice, from: u64, to: u64) -> Result<bool> {
    let mut piece = vec![0; PIECE];
    let mut at = from;
    while at < to {
        let sectors = (to - at).min((PIECE / SECTOR) as u64);
        let part = &mut piece[..sectors as usize * SECTOR];
        device.read(at, part)?;
        if part.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        at += sectors;
    }
    Ok(true)
}
