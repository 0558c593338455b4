//! Names: making, moving and removing them. The calls without `at` start at the working directory.

use super::Call;
use super::file::directory;
use crate::fs::{self, Directory};
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{AT_FDCWD, AT_REMOVEDIR, AT_SYMLINK_FOLLOW, RENAME_NOREPLACE};

/// A path and where it starts.
type Place = (Directory, Vec<u8>);

/// The path at `address`, from the directory `dirfd`.
fn place(call: &Call<'_>, dirfd: i32, address: u64) -> Result<Place, Errno> {
    let path = call.path(address)?;
    Ok((directory(call, dirfd, address)?, path))
}

/// `mkdir(path, mode)`
pub(super) fn mkdir(call: &mut Call<'_>) -> Result<u64, Errno> {
    make_directory(call, AT_FDCWD, call.args[0], call.args[1])
}

/// `mkdirat(dirfd, path, mode)`
pub(super) fn mkdirat(call: &mut Call<'_>) -> Result<u64, Errno> {
    make_directory(call, call.int(0), call.args[1], call.args[2])
}

fn make_directory(call: &Call<'_>, dirfd: i32, path: u64, mode: u64) -> Result<u64, Errno> {
    let (from, path) = place(call, dirfd, path)?;
    let process = call.process();
    fs::make_directory(process.origin(), &from, &path, mode as u32 & 0o1777 & !process.umask())?;
    Ok(0)
}

/// `rmdir(path)`
pub(super) fn rmdir(call: &mut Call<'_>) -> Result<u64, Errno> {
    let (from, path) = place(call, AT_FDCWD, call.args[0])?;
    fs::remove_directory(call.process().origin(), &from, &path).map(|()| 0)
}

/// `unlink(path)`
pub(super) fn unlink(call: &mut Call<'_>) -> Result<u64, Errno> {
    let (from, path) = place(call, AT_FDCWD, call.args[0])?;
    fs::unlink(call.process().origin(), &from, &path).map(|()| 0)
}

/// `unlinkat(dirfd, path, flags)`
pub(super) fn unlinkat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let remove = match call.args[2] as u32 {
        0 => fs::unlink,
        AT_REMOVEDIR => fs::remove_directory,
        _ => return Err(Errno::EINVAL),
    };
    let (from, path) = place(call, call.int(0), call.args[1])?;
    remove(call.process().origin(), &from, &path).map(|()| 0)
}

/// `rename(oldpath, newpath)`
pub(super) fn rename(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [old, new, ..] = call.args;
    move_entry(call, (AT_FDCWD, old), (AT_FDCWD, new), 0)
}

/// `renameat(olddirfd, oldpath, newdirfd, newpath)`
pub(super) fn renameat(call: &mut Call<'_>) -> Result<u64, Errno> {
    move_entry(call, (call.int(0), call.args[1]), (call.int(2), call.args[3]), 0)
}

/// `renameat2(olddirfd, oldpath, newdirfd, newpath, flags)`
pub(super) fn renameat2(call: &mut Call<'_>) -> Result<u64, Errno> {
    let flags = call.args[4] as u32;
    move_entry(call, (call.int(0), call.args[1]), (call.int(2), call.args[3]), flags)
}

fn move_entry(call: &Call<'_>, old: (i32, u64), new: (i32, u64), flags: u32) -> Result<u64, Errno> {
    if flags & !RENAME_NOREPLACE != 0 {
        return Err(Errno::EINVAL);
    }
    let old = place(call, old.0, old.1)?;
    let new = place(call, new.0, new.1)?;
    let replace = flags & RENAME_NOREPLACE == 0;
    fs::rename(call.process().origin(), (&old.0, &old.1), (&new.0, &new.1), replace).map(|()| 0)
}

/// `link(oldpath, newpath)`
pub(super) fn link(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [old, new, ..] = call.args;
    second_name(call, (AT_FDCWD, old), (AT_FDCWD, new), false)
}

/// `linkat(olddirfd, oldpath, newdirfd, newpath, flags)`
pub(super) fn linkat(call: &mut Call<'_>) -> Result<u64, Errno> {
    let flags = call.args[4] as u32;
    if flags & !AT_SYMLINK_FOLLOW != 0 {
        return Err(Errno::EINVAL);
    }
    second_name(call, (call.int(0), call.args[1]), (call.int(2), call.args[3]), flags != 0)
}

fn second_name(call: &Call<'_>, old: (i32, u64), new: (i32, u64), follow: bool) -> Result<u64, Errno> {
    let old = place(call, old.0, old.1)?;
    let new = place(call, new.0, new.1)?;
    fs::link(call.process().origin(), (&old.0, &old.1), (&new.0, &new.1), follow).map(|()| 0)
}

/// `symlink(target, path)`
pub(super) fn symlink(call: &mut Call<'_>) -> Result<u64, Errno> {
    make_symlink(call, call.args[0], AT_FDCWD, call.args[1])
}

/// `symlinkat(target, dirfd, path)`
pub(super) fn symlinkat(call: &mut Call<'_>) -> Result<u64, Errno> {
    make_symlink(call, call.args[0], call.int(1), call.args[2])
}

fn make_symlink(call: &Call<'_>, target: u64, dirfd: i32, path: u64) -> Result<u64, Errno> {
    let target = call.path(target)?;
    let (from, path) = place(call, dirfd, path)?;
    fs::symlink(call.process().origin(), &target, &from, &path).map(|()| 0)
}

/// `readlink(path, buf, size)`
pub(super) fn readlink(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [path, buffer, ..] = call.args;
    read_link(call, AT_FDCWD, path, buffer, call.int(2))
}

/// `readlinkat(dirfd, path, buf, size)`
pub(super) fn readlinkat(call: &mut Call<'_>) -> Result<u64, Errno> {
    read_link(call, call.int(0), call.args[1], call.args[2], call.int(3))
}

/// What does not fit is cut without a word, as POSIX has it.
fn read_link(call: &Call<'_>, dirfd: i32, path: u64, buffer: u64, size: i32) -> Result<u64, Errno> {
    let size = usize::try_from(size).ok().filter(|&size| size > 0).ok_or(Errno::EINVAL)?;
    let (from, path) = place(call, dirfd, path)?;
    let target = fs::read_link(&from, &path)?;
    let shown = &target[..target.len().min(size)];
    call.copy_out(buffer, shown)?;
    Ok(shown.len() as u64)
}
