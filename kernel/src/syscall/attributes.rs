//! Sizes, permissions, times, and what is known about file systems.

use super::Call;
use super::file::{descriptor, directory};
use crate::fs;
use askr_abi::Errno;
use askr_abi::types::{
    AT_EACCESS, AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, R_OK, ST_RDONLY, STATFS_SIZE, Timespec,
    UTIME_NOW, UTIME_OMIT, W_OK, X_OK,
};
use askr_core::path::NAME_MAX;
use askr_vfs::{Change, FsStat, Kind};

/// `truncate(path, length)`
pub(super) fn truncate(call: &mut Call<'_>) -> Result<u64, Errno> {
    let size = size(call)?;
    let path = call.path(call.args[0])?;
    fs::truncate(call.process().origin(), &call.process().cwd(), &path, size).map(|()| 0)
}

/// `ftruncate(fd, length)`
pub(super) fn ftruncate(call: &mut Call<'_>) -> Result<u64, Errno> {
    let size = size(call)?;
    let file = descriptor(call, call.int(0))?;
    if file.kind() != Kind::File {
        return Err(Errno::EINVAL);
    }
    file.truncate(size).map(|()| 0)
}

fn size(call: &Call<'_>) -> Result<u64, Errno> {
    u64::try_from(call.args[1].cast_signed()).map_err(|_| Errno::EINVAL)
}

/// `access(path, mode)`
pub(super) fn access(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [path, mode, ..] = call.args;
    may(call, AT_FDCWD, path, mode as u32, 0)
}

/// `faccessat(dirfd, path, mode)`
pub(super) fn faccessat(call: &mut Call<'_>) -> Result<u64, Errno> {
    may(call, call.int(0), call.args[1], call.args[2] as u32, 0)
}

/// `faccessat2(dirfd, path, mode, flags)`
pub(super) fn faccessat2(call: &mut Call<'_>) -> Result<u64, Errno> {
    may(call, call.int(0), call.args[1], call.args[2] as u32, call.args[3] as u32)
}

/// Root may read and write everything that can be written, and execute what anybody may.
fn may(call: &Call<'_>, dirfd: i32, path_at: u64, mode: u32, flags: u32) -> Result<u64, Errno> {
    if mode & !(R_OK | W_OK | X_OK) != 0 || flags & !(AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0 {
        return Err(Errno::EINVAL);
    }
    let path = call.path(path_at)?;
    let from = directory(call, dirfd, path_at)?;
    let facts = fs::metadata(&from, &path, flags & AT_SYMLINK_NOFOLLOW == 0)?;
    if mode & X_OK != 0 && facts.kind != Kind::Directory && facts.mode & 0o111 == 0 {
        return Err(Errno::EACCES);
    }
    let stored = matches!(facts.kind, Kind::File | Kind::Directory);
    if mode & W_OK != 0 && stored && !fs::statfs(&from, &path)?.0.writable {
        return Err(Errno::EROFS);
    }
    Ok(0)
}

/// `chmod(path, mode)`
pub(super) fn chmod(call: &mut Call<'_>) -> Result<u64, Errno> {
    change_mode(call, AT_FDCWD, call.args[0], call.args[1])
}

/// `fchmodat(dirfd, path, mode)`
pub(super) fn fchmodat(call: &mut Call<'_>) -> Result<u64, Errno> {
    change_mode(call, call.int(0), call.args[1], call.args[2])
}

fn change_mode(call: &Call<'_>, dirfd: i32, path_at: u64, mode: u64) -> Result<u64, Errno> {
    let path = call.path(path_at)?;
    let from = directory(call, dirfd, path_at)?;
    let change = Change { mode: Some(mode as u32 & 0o7777), ..Change::default() };
    fs::change_attributes(call.process().origin(), &from, &path, true, &change).map(|()| 0)
}

/// `fchmod(fd, mode)`
pub(super) fn fchmod(call: &mut Call<'_>) -> Result<u64, Errno> {
    let change = Change { mode: Some(call.args[1] as u32 & 0o7777), ..Change::default() };
    let file = descriptor(call, call.int(0))?;
    fs::change_open_attributes(call.process().origin(), &file, &change).map(|()| 0)
}

/// `umask(mask)`
pub(super) fn umask(call: &mut Call<'_>) -> Result<u64, Errno> {
    Ok(u64::from(call.process().set_umask(call.args[0] as u32)))
}

/// `utimensat(dirfd, path, times, flags)`: the time of last access is not kept.
pub(super) fn utimensat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, path_at, times_at, flags, ..] = call.args;
    let flags = flags as u32;
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL);
    }
    let mtime = modification_time(call, times_at)?;
    let change = Change { mtime, ..Change::default() };
    let origin = call.process().origin();
    let path = if path_at == 0 { None } else { Some(call.path(path_at)?) };
    let path = path.filter(|path| !path.is_empty() || flags & AT_EMPTY_PATH == 0);
    match path {
        Some(path) => {
            let from = directory(call, call.int(0), path_at)?;
            fs::change_attributes(origin, &from, &path, flags & AT_SYMLINK_NOFOLLOW == 0, &change)?;
        }
        None if call.int(0) == AT_FDCWD => return Err(Errno::EFAULT),
        None => fs::change_open_attributes(origin, &*descriptor(call, call.int(0))?, &change)?,
    }
    Ok(0)
}

/// The second of the two times at `address`, that of the last change; now without an address.
fn modification_time(call: &Call<'_>, address: u64) -> Result<Option<Timespec>, Errno> {
    if address == 0 {
        return Ok(Some(fs::now()));
    }
    let mut bytes = [0; 32];
    call.copy_in(address, &mut bytes)?;
    let word = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let time = |at: usize| match (word(at), word(at + 8)) {
        (_, UTIME_NOW) => Ok(Some(fs::now())),
        (_, UTIME_OMIT) => Ok(None),
        (sec, nsec @ 0..1_000_000_000) => Ok(Some(Timespec { sec, nsec })),
        _ => Err(Errno::EINVAL),
    };
    time(0)?;
    time(16)
}

/// `statfs(path, buf)`
pub(super) fn statfs(call: &mut Call<'_>) -> Result<u64, Errno> {
    let path = call.path(call.args[0])?;
    let (facts, node) = fs::statfs(&call.process().cwd(), &path)?;
    put_statfs(call, &facts, node.dev)
}

/// `fstatfs(fd, buf)`
pub(super) fn fstatfs(call: &mut Call<'_>) -> Result<u64, Errno> {
    let file = descriptor(call, call.int(0))?;
    put_statfs(call, &file.node().statfs()?, file.metadata()?.dev)
}

/// `struct statfs` (`man 2 statfs`). Nodes are not counted.
fn put_statfs(call: &Call<'_>, facts: &FsStat, dev: u64) -> Result<u64, Errno> {
    let flags = if facts.writable { 0 } else { ST_RDONLY };
    let block = if facts.block_size == 0 { 4096 } else { facts.block_size };
    let words =
        [facts.magic, block, facts.blocks, facts.free, facts.free, 0, 0, dev, NAME_MAX as u64, block, flags];
    let mut bytes = [0; STATFS_SIZE];
    for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
        slot.copy_from_slice(&word.to_le_bytes());
    }
    call.copy_out(call.args[1], &bytes)?;
    Ok(0)
}
