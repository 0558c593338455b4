//! What changes the tree. Every function asks the policy with the canonical path before it acts.

use super::{Directory, vfs};
use crate::policy;
use askr_abi::Errno;
use askr_agentbus::policy::{Action, Origin};
use askr_vfs::{Change, File, Kind, Target};

/// Asks whether `origin` may do to the target what `action` makes of its canonical path. A directory that has been removed
/// has none, and nothing can be done in it.
fn judge<'t>(
    origin: Origin,
    target: &'t Target,
    action: impl FnOnce(&'t [u8]) -> Action<'t>,
) -> Result<(), Errno> {
    if target.path.is_empty() {
        return Err(Errno::ENOENT);
    }
    policy::check(origin, action(&target.path))
}

/// Makes a directory for somebody of `origin`.
///
/// # Errors
/// Those of `mkdir(2)`; EPERM where the policy refuses.
pub(crate) fn make_directory(origin: Origin, from: &Directory, path: &[u8], mode: u32) -> Result<(), Errno> {
    let target = vfs().locate(from, path, false)?;
    judge(origin, &target, Action::Mkdir)?;
    vfs().mkdir(&target, mode)
}

/// Removes a file, or an empty directory, for somebody of `origin`.
///
/// # Errors
/// Those of `unlink(2)` and `rmdir(2)`; EPERM where the policy refuses.
pub(crate) fn remove(origin: Origin, from: &Directory, path: &[u8]) -> Result<(), Errno> {
    let target = vfs().locate(from, path, false)?;
    judge(origin, &target, Action::Remove)?;
    match target.existing()?.kind() {
        Kind::Directory => vfs().rmdir(&target),
        _ => vfs().unlink(&target),
    }
}

/// Removes the name of what is no directory.
///
/// # Errors
/// Those of `unlink(2)`; EPERM where the policy refuses.
pub(crate) fn unlink(origin: Origin, from: &Directory, path: &[u8]) -> Result<(), Errno> {
    let target = vfs().locate(from, path, false)?;
    judge(origin, &target, Action::Remove)?;
    vfs().unlink(&target)
}

/// Removes an empty directory.
///
/// # Errors
/// Those of `rmdir(2)`; EPERM where the policy refuses.
pub(crate) fn remove_directory(origin: Origin, from: &Directory, path: &[u8]) -> Result<(), Errno> {
    let target = vfs().locate(from, path, false)?;
    judge(origin, &target, Action::Remove)?;
    vfs().rmdir(&target)
}

/// Moves a file or a directory; what is there is replaced, unless `replace` is false. Each path has its own start.
///
/// # Errors
/// Those of `rename(2)`; EPERM where the policy refuses.
pub(crate) fn rename(
    origin: Origin,
    old: (&Directory, &[u8]),
    new: (&Directory, &[u8]),
    replace: bool,
) -> Result<(), Errno> {
    let old = vfs().locate(old.0, old.1, false)?;
    let new = vfs().locate(new.0, new.1, false)?;
    judge(origin, &old, |from| Action::Rename { from, to: &new.path })?;
    vfs().rename(&old, &new, replace)
}

/// Gives a file a second name; a symbolic link at the end of the old path is followed if `follow` says so.
///
/// # Errors
/// Those of `link(2)`; EPERM where the policy refuses.
pub(crate) fn link(
    origin: Origin,
    old: (&Directory, &[u8]),
    new: (&Directory, &[u8]),
    follow: bool,
) -> Result<(), Errno> {
    let old = vfs().locate(old.0, old.1, follow)?;
    let new = vfs().locate(new.0, new.1, false)?;
    judge(origin, &old, |from| Action::Link { from, to: &new.path })?;
    vfs().link(&old, &new)
}

/// Makes a symbolic link that points at `to`.
///
/// # Errors
/// Those of `symlink(2)`; EPERM where the policy refuses.
pub(crate) fn symlink(origin: Origin, to: &[u8], from: &Directory, path: &[u8]) -> Result<(), Errno> {
    let target = vfs().locate(from, path, false)?;
    judge(origin, &target, Action::Symlink)?;
    vfs().symlink(&target, to)
}

/// Cuts or extends a file.
///
/// # Errors
/// Those of `truncate(2)`; EPERM where the policy refuses.
pub(crate) fn truncate(origin: Origin, from: &Directory, path: &[u8], size: u64) -> Result<(), Errno> {
    let target = vfs().locate(from, path, true)?;
    judge(origin, &target, Action::Truncate)?;
    let node = target.existing()?;
    match node.kind() {
        Kind::File => node.truncate(size),
        Kind::Directory => Err(Errno::EISDIR),
        _ => Err(Errno::EINVAL),
    }
}

/// Changes permissions or times of what `path` leads to.
///
/// # Errors
/// Those of `chmod(2)` and `utimensat(2)`; EPERM where the policy refuses.
pub(crate) fn change_attributes(
    origin: Origin,
    from: &Directory,
    path: &[u8],
    follow: bool,
    change: &Change,
) -> Result<(), Errno> {
    let target = vfs().locate(from, path, follow)?;
    judge(origin, &target, Action::Attributes)?;
    target.existing()?.change(change)
}

/// The same of an open file, which is judged by the path that it was opened by; of a directory, by the one it has now.
///
/// # Errors
/// Those of `fchmod(2)`; EPERM where the policy refuses.
pub(crate) fn change_open_attributes(origin: Origin, file: &File, change: &Change) -> Result<(), Errno> {
    match file.kind() {
        Kind::Directory => policy::check(origin, Action::Attributes(&vfs().path_of(file.node())?))?,
        Kind::Pipe => {} // no path leads to it, and it has nothing to change
        _ => policy::check(origin, Action::Attributes(file.path()))?,
    }
    file.node().change(change)
}
