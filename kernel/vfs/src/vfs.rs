//! The tree of all file systems and what can be done to an entry in it.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use askr_abi::Errno;
use askr_abi::types::{
    O_ACCMODE, O_CLOEXEC, O_CREAT, O_DIRECTORY, O_EXCL, O_LARGEFILE, O_NOCTTY, O_NOFOLLOW, O_RDONLY, O_TRUNC,
};
use askr_core::path::{self, PATH_MAX};
use spin::RwLock;

use crate::walk::{Target, walk};
use crate::{File, Kind, Result, Vnode};

/// Most mounts.
pub const MOUNTS_MAX: usize = 32;

/// A file system in the tree.
#[derive(Clone, Debug)]
pub struct Mount {
    /// Name of the kind of file system, such as `ramfs`.
    pub name: &'static str,
    /// Its root directory.
    pub root: Arc<dyn Vnode>,
}

/// The tree of all file systems.
#[derive(Debug)]
pub struct Vfs {
    /// Canonical path of the mount point → what is mounted there. The root is always in it.
    mounts: RwLock<BTreeMap<Vec<u8>, Mount>>,
    root: Arc<dyn Vnode>,
}

impl Vfs {
    /// A tree of one file system.
    #[must_use]
    pub fn new(name: &'static str, root: Arc<dyn Vnode>) -> Self {
        let mount = Mount { name, root: Arc::clone(&root) };
        Self { mounts: RwLock::new(BTreeMap::from([(b"/".to_vec(), mount)])), root }
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> Arc<dyn Vnode> {
        Arc::clone(&self.root)
    }

    /// Puts a file system over the directory `path`.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR; EBUSY when something is mounted there or [`MOUNTS_MAX`] is reached.
    pub fn mount(&self, path: &[u8], name: &'static str, root: Arc<dyn Vnode>) -> Result<()> {
        let target = self.locate(b"/", path, true)?;
        if target.existing()?.kind() != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        let mut mounts = self.mounts.write();
        if mounts.len() >= MOUNTS_MAX || mounts.contains_key(&target.path) {
            return Err(Errno::EBUSY);
        }
        mounts.insert(target.path, Mount { name, root });
        Ok(())
    }

    /// The mounts with their canonical paths, in the order of the paths.
    #[must_use]
    pub fn mounts(&self) -> Vec<(Vec<u8>, Mount)> {
        self.mounts.read().iter().map(|(path, mount)| (path.clone(), mount.clone())).collect()
    }

    pub(crate) fn mounted_at(&self, path: &[u8]) -> Option<Arc<dyn Vnode>> {
        self.mounts.read().get(path).map(|mount| Arc::clone(&mount.root))
    }

    /// Says what `path` leads to from the directory with the canonical path `cwd`. A symbolic link before the
    /// end is followed, one at the end if `follow` says so. The last name need not exist.
    ///
    /// # Errors
    /// ENOENT and ENOTDIR on the way, ELOOP after [`crate::LINKS_MAX`] links, ENAMETOOLONG, EINVAL for a NUL
    /// byte, ENOTDIR when a slash follows what is no directory.
    pub fn locate(&self, cwd: &[u8], path: &[u8], follow: bool) -> Result<Target> {
        walk(self, cwd, path, follow)
    }

    /// As [`Self::locate`] for what is going to be opened with these flags.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn locate_for_open(&self, cwd: &[u8], path: &[u8], flags: u32) -> Result<Target> {
        let exclusive = flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL;
        self.locate(cwd, path, flags & O_NOFOLLOW == 0 && !exclusive)
    }

    /// Opens the target, which [`Self::locate_for_open`] found, as `open(2)` does; `mode` is for a new file.
    ///
    /// # Errors
    /// ENOENT, EEXIST, EISDIR, ENOTDIR, EINVAL (access mode 3), ELOOP (a symbolic link not followed), and
    /// those of the node.
    pub fn open(&self, target: &Target, flags: u32, mode: u32) -> Result<File> {
        if flags & O_ACCMODE == O_ACCMODE {
            return Err(Errno::EINVAL);
        }
        let (node, created) = match &target.node {
            Some(_) if flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL => return Err(Errno::EEXIST),
            Some(node) => (Arc::clone(node), false),
            None if flags & O_CREAT == 0 => return Err(Errno::ENOENT),
            None if target.slash => return Err(Errno::EISDIR),
            None if flags & O_DIRECTORY != 0 => return Err(Errno::EINVAL),
            None => (target.parent.create(new_name(target)?, mode & 0o7777)?, true),
        };
        let writes = flags & O_ACCMODE != O_RDONLY;
        match node.kind() {
            Kind::Symlink => return Err(Errno::ELOOP),
            Kind::Directory if writes || flags & (O_CREAT | O_TRUNC) != 0 => return Err(Errno::EISDIR),
            Kind::Directory => {}
            _ if flags & O_DIRECTORY != 0 => return Err(Errno::ENOTDIR),
            Kind::File if flags & O_TRUNC != 0 && writes && !created => node.truncate(0)?,
            _ => {}
        }
        let node = node.open()?.unwrap_or(node);
        let lasting = flags & !(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC) | O_LARGEFILE;
        Ok(File::new(node, target.path.clone(), lasting, target.parent.metadata()?.ino))
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// EEXIST and those of [`Vnode::mkdir`].
    pub fn mkdir(&self, target: &Target, mode: u32) -> Result<()> {
        target.parent.mkdir(new_name(target)?, mode & 0o7777).map(drop)
    }

    /// Makes a symbolic link that points at `to`; the target was located without following.
    ///
    /// # Errors
    /// EEXIST; ENOENT when `to` is empty or a slash ends the path; ENAMETOOLONG; those of [`Vnode::symlink`].
    pub fn symlink(&self, target: &Target, to: &[u8]) -> Result<()> {
        let name = new_name(target)?;
        if to.is_empty() || target.slash {
            return Err(Errno::ENOENT);
        }
        if to.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        target.parent.symlink(name, to).map(drop)
    }

    /// Removes what is no directory; the target was located without following.
    ///
    /// # Errors
    /// ENOENT; EISDIR; EBUSY for a mount point; those of [`Vnode::unlink`].
    pub fn unlink(&self, target: &Target) -> Result<()> {
        let node = target.existing()?;
        let (Some(name), Kind::File | Kind::Symlink | Kind::CharDevice | Kind::Pipe) =
            (&target.name, node.kind())
        else {
            return Err(if target.followed { Errno::ENOTDIR } else { Errno::EISDIR });
        };
        target.parent.unlink(name)
    }

    /// Removes an empty directory; the target was located without following.
    ///
    /// # Errors
    /// ENOENT; ENOTDIR; EBUSY for the root or a mount point; EINVAL for a path that ends in `.` or `..`; those
    /// of [`Vnode::rmdir`].
    pub fn rmdir(&self, target: &Target) -> Result<()> {
        if target.existing()?.kind() != Kind::Directory || target.followed {
            return Err(Errno::ENOTDIR);
        }
        self.refuse_mount_points(&target.path)?;
        target.parent.rmdir(target.name.as_ref().ok_or(Errno::EINVAL)?)
    }

    /// Moves `old` to `new` as one step, replacing what is there; both were located without following.
    ///
    /// # Errors
    /// ENOENT; EINVAL for a directory into itself; ENOTDIR for a slash after what is no directory; EBUSY for a
    /// mount point or a path that ends in `.` or `..`; EXDEV; those of [`Vnode::rename`].
    pub fn rename(&self, old: &Target, new: &Target) -> Result<()> {
        let node = old.existing()?;
        let (Some(old_name), Some(new_name)) = (&old.name, &new.name) else { return Err(Errno::EBUSY) };
        let slash = old.slash || new.slash;
        if old.followed || new.followed || slash && node.kind() != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        self.refuse_mount_points(&old.path)?;
        self.refuse_mount_points(&new.path)?;
        if old.path != new.path && path::is_within(&new.path, &old.path) {
            return Err(Errno::EINVAL);
        }
        if old.parent.metadata()?.dev != new.parent.metadata()?.dev {
            return Err(Errno::EXDEV);
        }
        old.parent.rename(old_name, &*new.parent, new_name)
    }

    /// Refuses to take away the ground under a mount.
    fn refuse_mount_points(&self, path: &[u8]) -> Result<()> {
        if self.mounts.read().keys().any(|point| path::is_within(point, path)) {
            return Err(Errno::EBUSY);
        }
        Ok(())
    }
}

/// The name for a new entry.
fn new_name(target: &Target) -> Result<&[u8]> {
    match (&target.node, &target.name) {
        (None, Some(name)) => Ok(name),
        _ => Err(Errno::EEXIST),
    }
}
