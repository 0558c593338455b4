//! Names, attributes and file systems.

use super::file::{Fd, fd_argument};
use super::raw::syscall;
use alloc_crate::vec;
use alloc_crate::vec::Vec;
use askr_abi::types::{AT_FDCWD, AT_SYMLINK_NOFOLLOW, STATFS_SIZE, Stat, Timespec};
use askr_abi::{Errno, number};
use core::ffi::CStr;

/// Longest target of a symbolic link, in bytes.
const LINK_MAX: usize = 4096;

/// A call whose only address is one path.
fn on_path(call: u64, path: &CStr, argument: u64) -> Result<(), Errno> {
    // SAFETY: the path is NUL-terminated and live, and the callers' calls take no other address.
    unsafe { syscall(call, [path.as_ptr() as u64, argument]) }.map(drop)
}

/// A call that takes two paths.
fn on_paths(call: u64, first: &CStr, second: &CStr) -> Result<(), Errno> {
    // SAFETY: both paths are NUL-terminated and live.
    unsafe { syscall(call, [first.as_ptr() as u64, second.as_ptr() as u64]) }.map(drop)
}

/// `lstat(2)`.
pub fn lstat(path: &CStr) -> Result<Stat, Errno> {
    let mut stat = Stat::default();
    // SAFETY: the path is NUL-terminated and live; the kernel writes one `Stat`, any bit pattern is valid.
    unsafe { syscall(number::LSTAT, [path.as_ptr() as u64, &raw mut stat as u64]) }?;
    Ok(stat)
}

/// `mkdir(2)`.
pub fn mkdir(path: &CStr, mode: u32) -> Result<(), Errno> {
    on_path(number::MKDIR, path, mode.into())
}

/// `rmdir(2)`.
pub fn rmdir(path: &CStr) -> Result<(), Errno> {
    on_path(number::RMDIR, path, 0)
}

/// `unlink(2)`.
pub fn unlink(path: &CStr) -> Result<(), Errno> {
    on_path(number::UNLINK, path, 0)
}

/// `rename(2)`.
pub fn rename(old: &CStr, new: &CStr) -> Result<(), Errno> {
    on_paths(number::RENAME, old, new)
}

/// `link(2)`.
pub fn link(old: &CStr, new: &CStr) -> Result<(), Errno> {
    on_paths(number::LINK, old, new)
}

/// `symlink(2)`.
pub fn symlink(target: &CStr, path: &CStr) -> Result<(), Errno> {
    on_paths(number::SYMLINK, target, path)
}

/// `readlink(2)`: the whole target.
pub fn readlink(path: &CStr) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; LINK_MAX];
    let arguments = [path.as_ptr() as u64, buffer.as_mut_ptr() as u64, buffer.len() as u64];
    // SAFETY: the path is NUL-terminated and live; the kernel writes at most `buffer.len()` bytes to a buffer we own.
    let length = unsafe { syscall(number::READLINK, arguments) }?;
    buffer.truncate(length);
    Ok(buffer)
}

/// `chmod(2)`.
pub fn chmod(path: &CStr, mode: u32) -> Result<(), Errno> {
    on_path(number::CHMOD, path, mode.into())
}

/// `access(2)`.
pub fn access(path: &CStr, mode: u32) -> Result<(), Errno> {
    on_path(number::ACCESS, path, mode.into())
}

/// `umask(2)`: sets the mask and returns the one before.
pub fn umask(mask: u32) -> u32 {
    // SAFETY: no address is passed. The call cannot fail.
    let before = unsafe { syscall(number::UMASK, [mask.into()]) };
    before.ok().and_then(|before| u32::try_from(before).ok()).unwrap_or(0)
}

/// The mask that new files do without. The only way to learn it is to change it.
pub fn current_umask() -> u32 {
    let mask = umask(0);
    umask(mask);
    mask
}

/// `utimensat(2)` for the time of the last change; `None` is now. A symbolic link is followed if `follow` says so.
pub fn set_modified(path: &CStr, time: Option<Timespec>, follow: bool) -> Result<(), Errno> {
    let times = time.map(|time| [time, time]);
    let times_at = times.as_ref().map_or(0, |times| times.as_ptr() as u64);
    let flags = if follow { 0 } else { AT_SYMLINK_NOFOLLOW };
    let arguments = [fd_argument(AT_FDCWD), path.as_ptr() as u64, times_at, u64::from(flags)];
    // SAFETY: the path is NUL-terminated and live; the kernel reads two `struct timespec` where there are two.
    unsafe { syscall(number::UTIMENSAT, arguments) }.map(drop)
}

/// `ftruncate(2)`.
pub fn ftruncate(fd: Fd, length: u64) -> Result<(), Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::FTRUNCATE, [fd_argument(fd), length]) }.map(drop)
}

/// `fsync(2)`.
pub fn fsync(fd: Fd) -> Result<(), Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::FSYNC, [fd_argument(fd)]) }.map(drop)
}

/// `sync(2)`.
pub fn sync() {
    // SAFETY: no address is passed. The call tells no errors.
    let _ = unsafe { syscall(number::SYNC, []) };
}

/// What is known about a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsUsage {
    /// Bytes in a block.
    pub block_size: u64,
    /// All blocks; 0 where nothing is stored.
    pub blocks: u64,
    /// Free blocks.
    pub free: u64,
}

/// `statfs(2)`: the file system that holds `path`.
pub fn statfs(path: &CStr) -> Result<FsUsage, Errno> {
    let mut words = [0_u64; STATFS_SIZE / 8];
    // SAFETY: the path is NUL-terminated and live; the kernel writes one `struct statfs` to the array, which is as long.
    unsafe { syscall(number::STATFS, [path.as_ptr() as u64, words.as_mut_ptr() as u64]) }?;
    Ok(FsUsage { block_size: words[1], blocks: words[2], free: words[3] })
}
