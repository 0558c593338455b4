//! Files and directories.

use super::Call;
use crate::fs::Directory;
use crate::{fs, mm};
use alloc::sync::Arc;
use askr_abi::Errno;
use askr_abi::types::{
    AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, O_CLOEXEC, O_CREAT, O_TRUNC, O_WRONLY, Stat,
};
use askr_core::areas::Access;
use askr_vfs::{File, Kind, Metadata};

/// Most bytes of entries that one `getdents64` gives.
const ENTRIES_MAX: u64 = 64 * 1024;

/// `open(path, flags, mode)`
pub(super) fn open(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [path, flags, mode, ..] = call.args;
    open_from(call, &call.process().cwd(), path, flags as u32, mode as u32)
}

/// `creat(path, mode)`
pub(super) fn creat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [path, mode, ..] = call.args;
    open_from(call, &call.process().cwd(), path, O_CREAT | O_WRONLY | O_TRUNC, mode as u32)
}

/// `openat(dirfd, path, flags, mode)`
pub(super) fn openat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, path, flags, mode, ..] = call.args;
    let start = directory(call, call.int(0), path)?;
    open_from(call, &start, path, flags as u32, mode as u32)
}

fn open_from(call: &Call<'_>, start: &Directory, path: u64, flags: u32, mode: u32) -> Result<u64, Errno> {
    let path = call.path(path)?;
    let process = call.process();
    let limit = process.descriptor_limit();
    process.files().lock().require_room(1, limit)?;
    let file = fs::open(process.origin(), start, &path, flags, mode & !process.umask())?;
    let fd = process.files().lock().add(file, flags & O_CLOEXEC != 0, limit)?;
    Ok(u64::from(fd.unsigned_abs()))
}

/// `close(fd)`
pub(super) fn close(call: &mut Call<'_>) -> Result<u64, Errno> {
    let file = call.process().files().lock().remove(call.int(0))?;
    // The descriptor is gone in any case (`man 2 close`).
    file.flush()?;
    Ok(0)
}

/// `lseek(fd, offset, whence)`
pub(super) fn lseek(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, offset, whence, ..] = call.args;
    descriptor(call, call.int(0))?.seek(offset.cast_signed(), whence as u32)
}

/// `getdents64(fd, buf, count)`
pub(super) fn getdents64(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, buffer, count, ..] = call.args;
    let file = descriptor(call, call.int(0))?;
    let mut entries = mm::zeroed(count.min(ENTRIES_MAX) as usize)?;
    call.process().with_space(|space| mm::user::check(space, buffer, entries.len(), Access::Write))?;
    let length = file.read_dirents(&mut entries)?;
    call.copy_out(buffer, &entries[..length])?;
    Ok(length as u64)
}

/// `stat(path, buf)`
pub(super) fn stat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let path = call.path(call.args[0])?;
    let facts = fs::metadata(&call.process().cwd(), &path, true)?;
    put_stat(call, call.args[1], &facts)
}

/// `lstat(path, buf)`
pub(super) fn lstat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let path = call.path(call.args[0])?;
    let facts = fs::metadata(&call.process().cwd(), &path, false)?;
    put_stat(call, call.args[1], &facts)
}

/// `fstat(fd, buf)`
pub(super) fn fstat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let facts = descriptor(call, call.int(0))?.metadata()?;
    put_stat(call, call.args[1], &facts)
}

/// `newfstatat(dirfd, path, buf, flags)`
pub(super) fn newfstatat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [_, path_at, buffer, flags, ..] = call.args;
    let flags = flags as u32;
    if flags & !(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0 {
        return Err(Errno::EINVAL);
    }
    let path = call.path(path_at)?;
    let facts = if path.is_empty() && flags & AT_EMPTY_PATH != 0 && call.int(0) != AT_FDCWD {
        descriptor(call, call.int(0))?.metadata()?
    } else {
        let start = directory(call, call.int(0), path_at)?;
        let path = if path.is_empty() && flags & AT_EMPTY_PATH != 0 { b"." } else { &path[..] };
        fs::metadata(&start, path, flags & AT_SYMLINK_NOFOLLOW == 0)?
    };
    put_stat(call, buffer, &facts)
}

/// `getcwd(buf, size)`: returns the length with the NUL, as the kernel's call does.
pub(super) fn getcwd(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [buffer, size, ..] = call.args;
    let mut cwd = fs::path_of(&call.process().cwd())?;
    cwd.push(0);
    if (size as usize) < cwd.len() {
        return Err(Errno::ERANGE);
    }
    call.copy_out(buffer, &cwd)?;
    Ok(cwd.len() as u64)
}

/// `chdir(path)`
pub(super) fn chdir(call: &mut Call<'_>) -> Result<u64, Errno> {
    let path = call.path(call.args[0])?;
    let process = call.process();
    process.set_cwd(fs::directory(&process.cwd(), &path)?);
    Ok(0)
}

/// `fchdir(fd)`
pub(super) fn fchdir(call: &mut Call<'_>) -> Result<u64, Errno> {
    let file = descriptor(call, call.int(0))?;
    if file.kind() != Kind::Directory {
        return Err(Errno::ENOTDIR);
    }
    call.process().set_cwd(file.node().clone());
    Ok(0)
}

/// `fsync(fd)`, `fdatasync(fd)`
pub(super) fn fsync(call: &mut Call<'_>) -> Result<u64, Errno> {
    let file = descriptor(call, call.int(0))?;
    if !matches!(file.kind(), Kind::File | Kind::Directory) {
        return Err(Errno::EINVAL);
    }
    file.node().sync().map(|()| 0)
}

/// `sync()`
pub(super) fn sync(_call: &mut Call<'_>) -> Result<u64, Errno> {
    fs::sync();
    Ok(0)
}

pub(super) fn descriptor(call: &Call<'_>, fd: i32) -> Result<Arc<File>, Errno> {
    call.process().files().lock().get(fd)
}

/// Where a path relative to `dirfd` starts. An absolute path does not look at `dirfd` at all.
pub(super) fn directory(call: &Call<'_>, dirfd: i32, path_at: u64) -> Result<Directory, Errno> {
    let mut first = [0];
    call.copy_in(path_at, &mut first)?;
    // Nor does an empty one, which is ENOENT whatever `dirfd` is.
    if dirfd == AT_FDCWD || matches!(first[0], b'/' | 0) {
        return Ok(call.process().cwd());
    }
    let file = descriptor(call, dirfd)?;
    match file.kind() {
        Kind::Directory => Ok(file.node().clone()),
        _ => Err(Errno::ENOTDIR),
    }
}

fn put_stat(call: &Call<'_>, address: u64, facts: &Metadata) -> Result<u64, Errno> {
    let stat: Stat = facts.to_stat();
    call.copy_out(address, &stat.to_bytes())?;
    Ok(0)
}
