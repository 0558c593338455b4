//! The tree of files: ramfs root from the initrd, `/dev`, `/proc`. System calls and the bus go through the functions
//! here, and whatever changes something asks the policy with the canonical path first.

mod change;
mod dev;
pub(crate) mod disk;
pub(crate) mod initrd;
mod pipe;
mod proc;
mod stream;

pub(crate) use change::{
    change_attributes, change_open_attributes, link, make_directory, remove, remove_directory, rename,
    symlink, truncate, unlink,
};
pub(crate) use dev::is_terminal;
pub(crate) use pipe::pipe;
pub(crate) use stream::{read_waiting, readiness, stream, write_waiting};

use crate::arch::clock::{self, SECOND};
use crate::{bus, kprintln, mm, policy};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{O_ACCMODE, O_CREAT, O_DIRECTORY, O_RDONLY, O_RDWR, O_TRUNC, Timespec};
use askr_agentbus::policy::{Action, Origin};
use askr_vfs::{File, FsStat, Kind, Metadata, Mount, RamFs, Target, Vfs, Vnode};
use spin::Once;

/// Numbers of the file systems (`st_dev`).
const DEV_ROOT: u64 = 1;
const DEV_DEV: u64 = 2;
const DEV_PROC: u64 = 3;
pub(crate) const DEV_PIPE: u64 = 4;
const DEV_DISK: u64 = 5;
/// Part of memory that files in memory may take, ...
const RAMFS_SHARE: u64 = 8;
/// ... and part of the kernel's heap, which they lie in: with the rest they can still be looked at and removed.
const RAMFS_HEAP_SHARE: u64 = 2;

/// A directory from which paths start.
pub(crate) type Directory = Arc<dyn Vnode>;

static VFS: Once<Vfs> = Once::new();

/// Builds the tree from the initrd. What is wrong with the archive is reported; the good part is used.
pub(crate) fn init(archive: &'static [u8]) {
    let of_heap = mm::heap_usage().total as u64 / RAMFS_HEAP_SHARE;
    let limit = of_heap.min(mm::usage().total * mm::PAGE / RAMFS_SHARE);
    let root = RamFs::watched(DEV_ROOT, limit, now, || bus::filesystem_full(b"/"));
    if let Err(error) = askr_vfs::populate(&root, archive) {
        kprintln!("initrd: {error}");
    }
    make_directories(&*root.root());
    let vfs = VFS.call_once(|| Vfs::new("ramfs", root.root()).expect("memory does not fail"));
    for (path, name, node) in [(&b"/dev"[..], "devfs", dev::root()), (b"/proc", "procfs", proc::root())] {
        if let Err(error) = vfs.mount(path, name, node) {
            kprintln!("cannot mount {}: {error}", String::from_utf8_lossy(path));
        }
    }
}

/// The directories that every system has, whether the archive brings them or not.
fn make_directories(root: &dyn Vnode) {
    for (name, mode) in [(&b"dev"[..], 0o755), (b"proc", 0o755), (b"tmp", 0o1777)] {
        match root.mkdir(name, mode) {
            Ok(_) | Err(Errno::EEXIST) => {}
            Err(error) => kprintln!("cannot make /{}: {error}", String::from_utf8_lossy(name)),
        }
    }
}

fn vfs() -> &'static Vfs {
    VFS.get().expect("made before the first process")
}

/// The time of day.
pub(crate) fn now() -> Timespec {
    let now = clock::wall();
    Timespec { sec: (now / SECOND).cast_signed(), nsec: (now % SECOND).cast_signed() }
}

/// Opens a file for somebody of `origin`, as `open(2)` does.
///
/// # Errors
/// Those of `open(2)`; EPERM where the policy refuses.
pub(crate) fn open(
    origin: Origin,
    from: &Directory,
    path: &[u8],
    flags: u32,
    mode: u32,
) -> Result<File, Errno> {
    vfs().open(&locate_to_open(origin, from, path, flags)?, flags, mode)
}

/// As [`open`], of a path that may still lead to the file `known`: then nothing is opened. Who may do what is asked in
/// either case.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_another(
    origin: Origin,
    path: &[u8],
    flags: u32,
    mode: u32,
    known: Option<&File>,
) -> Result<Option<File>, Errno> {
    let target = locate_to_open(origin, &root(), path, flags)?;
    let leads_to = |file: &File| target.node.as_ref().is_some_and(|node| Arc::ptr_eq(node, file.node()));
    if known.is_some_and(leads_to) { Ok(None) } else { vfs().open(&target, flags, mode).map(Some) }
}

/// What `path` leads to, if `origin` may open it like this.
fn locate_to_open(origin: Origin, from: &Directory, path: &[u8], flags: u32) -> Result<Target, Errno> {
    let target = vfs().locate_for_open(from, path, flags)?;
    if target.node.is_none() && flags & O_CREAT != 0 {
        policy::check(origin, Action::Create(&target.path))?;
    } else if flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0 {
        policy::check(origin, Action::Write(&target.path))?;
    }
    Ok(target)
}

/// The console, opened for reading and writing.
///
/// # Errors
/// Those of `open(2)`.
pub(crate) fn open_console() -> Result<File, Errno> {
    open(Origin::Kernel, &root(), b"/dev/console", O_RDWR, 0)
}

/// A directory, opened for listing.
///
/// # Errors
/// Those of `open(2)`; ENOTDIR.
pub(crate) fn open_directory(path: &[u8]) -> Result<File, Errno> {
    let flags = O_RDONLY | O_DIRECTORY;
    vfs().open(&vfs().locate_for_open(&root(), path, flags)?, flags, 0)
}

/// What is known about the file at `path`.
///
/// # Errors
/// Those of `stat(2)`.
pub(crate) fn metadata(from: &Directory, path: &[u8], follow: bool) -> Result<Metadata, Errno> {
    vfs().locate(from, path, follow)?.existing()?.metadata()
}

/// The root directory.
pub(crate) fn root() -> Directory {
    vfs().root()
}

/// A directory, to make it the working directory.
///
/// # Errors
/// Those of `chdir(2)`.
pub(crate) fn directory(from: &Directory, path: &[u8]) -> Result<Directory, Errno> {
    let node = vfs().locate(from, path, true)?.existing()?.clone();
    if node.kind() == Kind::Directory { Ok(node) } else { Err(Errno::ENOTDIR) }
}

/// The canonical path of a directory, as it is now.
///
/// # Errors
/// ENOENT when it has been removed.
pub(crate) fn path_of(directory: &Directory) -> Result<Vec<u8>, Errno> {
    vfs().path_of(directory)
}

/// What a symbolic link points at.
///
/// # Errors
/// Those of `readlink(2)`.
pub(crate) fn read_link(from: &Directory, path: &[u8]) -> Result<Vec<u8>, Errno> {
    vfs().locate(from, path, false)?.existing()?.read_link()
}

/// What is known about the file system that holds the file at `path`.
///
/// # Errors
/// Those of `statfs(2)`.
pub(crate) fn statfs(from: &Directory, path: &[u8]) -> Result<(FsStat, Metadata), Errno> {
    let target = vfs().locate(from, path, true)?;
    let node = target.existing()?;
    Ok((node.statfs()?, node.metadata()?))
}

/// As [`statfs`], with the name of the file system and the path that it is mounted at.
///
/// # Errors
/// Those of `statfs(2)`.
pub(crate) fn file_system(path: &[u8]) -> Result<(FsStat, &'static str, Vec<u8>), Errno> {
    let (facts, node) = statfs(&root(), path)?;
    let (point, mount) =
        vfs().mounts().into_iter().find(|(_, mount)| mount.dev == node.dev).ok_or(Errno::ENOENT)?;
    Ok((facts, mount.name, point))
}

/// The names in a directory that something is mounted on.
///
/// # Errors
/// ENOENT when it has been removed.
pub(crate) fn mounted_in(directory: &Directory) -> Result<Vec<Vec<u8>>, Errno> {
    let above = path_of(directory)?;
    let points = vfs().mounts().into_iter().map(|(point, _)| point);
    let inside = points.filter_map(|point| {
        let rest = point.strip_prefix(&above[..])?;
        let name = if above == b"/" { rest } else { rest.strip_prefix(b"/")? };
        (!name.is_empty() && !name.contains(&b'/')).then(|| name.to_vec())
    });
    Ok(inside.collect())
}

/// Writes everything that is only in memory to the media.
pub(crate) fn sync() {
    for (path, mount) in vfs().mounts() {
        if let Err(error) = mount.root.sync_all() {
            kprintln!("cannot sync {}: {error}", path.escape_ascii());
        }
    }
}

/// The whole file of a program, with its canonical path.
///
/// # Errors
/// Those of `execve(2)`: EACCES for what is no file or not executable, EFBIG over `limit`.
pub(crate) fn read_program(
    origin: Origin,
    from: &Directory,
    path: &[u8],
    limit: u64,
) -> Result<(Vec<u8>, Vec<u8>), Errno> {
    let target: Target = vfs().locate(from, path, true)?;
    let facts = target.existing()?.metadata()?;
    if facts.kind != Kind::File || facts.mode & 0o111 == 0 {
        return Err(Errno::EACCES);
    }
    policy::check(origin, Action::Spawn(&target.path))?;
    if facts.size > limit {
        return Err(Errno::EFBIG);
    }
    let file = vfs().open(&target, O_RDONLY, 0)?;
    let mut bytes = Vec::new();
    let size = facts.size as usize;
    bytes.try_reserve_exact(size).map_err(|_| Errno::ENOMEM)?;
    bytes.resize(size, 0);
    let mut done = 0;
    while done < size {
        match file.read_at(done as u64, &mut bytes[done..])? {
            0 => break,
            count => done += count,
        }
    }
    bytes.truncate(done);
    Ok((bytes, target.path))
}

/// The mounts, for `/proc/mounts`.
fn mounts() -> Vec<(Vec<u8>, Mount)> {
    vfs().mounts()
}
