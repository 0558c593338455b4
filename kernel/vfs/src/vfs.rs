//! The tree of all file systems and what can be done to an entry in it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use askr_abi::Errno;
use askr_abi::types::{
    O_ACCMODE, O_CLOEXEC, O_CREAT, O_DIRECTORY, O_EXCL, O_LARGEFILE, O_NOCTTY, O_NOFOLLOW, O_RDONLY, O_TRUNC,
};
use askr_core::path::{self, PATH_MAX};

use crate::mounts::{Mount, Mounts};
use crate::walk::{Last, Target, walk};
use crate::{File, Kind, Place, Result, Vnode};

/// The tree of all file systems.
#[derive(Debug)]
pub struct Vfs {
    mounts: Mounts,
    root: Arc<dyn Vnode>,
}

impl Vfs {
    /// A tree of one file system.
    ///
    /// # Errors
    /// Those of asking its root for its number.
    pub fn new(name: &'static str, root: Arc<dyn Vnode>) -> Result<Self> {
        let mount = Mount { name, root: Arc::clone(&root), dev: root.metadata()?.dev, above: None };
        Ok(Self { mounts: Mounts::new(mount), root })
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> Arc<dyn Vnode> {
        Arc::clone(&self.root)
    }

    /// Puts a file system over the directory `path`.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR; EBUSY when something is mounted there, it is the root, the file system is mounted elsewhere,
    /// or [`crate::MOUNTS_MAX`] is reached.
    pub fn mount(&self, path: &[u8], name: &'static str, root: Arc<dyn Vnode>) -> Result<()> {
        let target = self.locate(&self.root, path, true)?;
        if target.existing()?.kind() != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        let dev = root.metadata()?.dev;
        self.mounts.add(target.path, Mount { name, root, dev, above: Some(target.parent) })
    }

    /// The mounts with their canonical paths, in the order of the paths.
    #[must_use]
    pub fn mounts(&self) -> Vec<(Vec<u8>, Mount)> {
        self.mounts.list()
    }

    pub(crate) fn mounted_at(&self, path: &[u8]) -> Option<Arc<dyn Vnode>> {
        self.mounts.at(path)
    }

    /// The directory above the root of a file system; none above that of the tree.
    pub(crate) fn above(&self, root: &Arc<dyn Vnode>) -> Result<Option<Arc<dyn Vnode>>> {
        let (_, mount) = self.mounts.of(root.metadata()?.dev).ok_or(Errno::ENOENT)?;
        Ok(mount.above)
    }

    /// The canonical path of a directory, as it is now.
    ///
    /// # Errors
    /// ENOENT when it has been removed, ENOTDIR, ENAMETOOLONG.
    pub fn path_of(&self, directory: &Arc<dyn Vnode>) -> Result<Vec<u8>> {
        let (mut names, mut length) = (Vec::new(), 0);
        let mut here = Arc::clone(directory);
        // Each round adds a name, so PATH_MAX bounds them.
        while let Place::In { parent, name } = here.place()? {
            length += name.len() + 1;
            if length >= PATH_MAX {
                return Err(Errno::ENAMETOOLONG);
            }
            names.push(name);
            here = parent;
        }
        let (mut path, _) = self.mounts.of(here.metadata()?.dev).ok_or(Errno::ENOENT)?;
        names.iter().rev().for_each(|name| path::push(&mut path, name));
        if path.len() >= PATH_MAX { Err(Errno::ENAMETOOLONG) } else { Ok(path) }
    }

    /// Says what `path` leads to from the directory `from`. A symbolic link before the end is followed, one at the end if
    /// `follow` says so. The last name need not exist.
    ///
    /// # Errors
    /// ENOENT and ENOTDIR on the way, ELOOP after [`crate::LINKS_MAX`] links, ENAMETOOLONG, EINVAL for a NUL
    /// byte, ENOTDIR when a slash follows what is no directory.
    pub fn locate(&self, from: &Arc<dyn Vnode>, path: &[u8], follow: bool) -> Result<Target> {
        walk(self, from, path, follow)
    }

    /// As [`Self::locate`] for what is going to be opened with these flags.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn locate_for_open(&self, from: &Arc<dyn Vnode>, path: &[u8], flags: u32) -> Result<Target> {
        let exclusive = flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL;
        self.locate(from, path, flags & O_NOFOLLOW == 0 && !exclusive)
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
            None => create(target, flags, mode)?,
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
        if to.is_empty() {
            return Err(Errno::ENOENT);
        }
        if to.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        target.parent.symlink(new_file_name(target)?, to).map(drop)
    }

    /// Gives what `old` leads to a second name; `new` was located without following.
    ///
    /// # Errors
    /// ENOENT; EEXIST; EXDEV; EPERM for a directory; those of [`Vnode::link`].
    pub fn link(&self, old: &Target, new: &Target) -> Result<()> {
        let node = old.existing()?;
        let name = new_file_name(new)?;
        if node.metadata()?.dev != new.parent.metadata()?.dev {
            return Err(Errno::EXDEV);
        }
        if node.kind() == Kind::Directory {
            return Err(Errno::EPERM);
        }
        new.parent.link(name, &**node)
    }

    /// Removes what is no directory; the target was located without following.
    ///
    /// # Errors
    /// ENOENT; EISDIR; ENOTDIR for a slash after what is no directory; those of [`Vnode::unlink`].
    pub fn unlink(&self, target: &Target) -> Result<()> {
        let node = target.existing()?;
        let (Some(name), true) = (target.name(), node.kind() != Kind::Directory) else {
            return Err(if target.followed { Errno::ENOTDIR } else { Errno::EISDIR });
        };
        target.parent.unlink(name)
    }

    /// Removes an empty directory; the target was located without following.
    ///
    /// # Errors
    /// ENOENT; ENOTDIR; EBUSY for the root or a mount point; EINVAL for a path that ends in `.`, ENOTEMPTY in `..`; those
    /// of [`Vnode::rmdir`].
    pub fn rmdir(&self, target: &Target) -> Result<()> {
        let node = target.existing()?;
        let name = match &target.last {
            Last::Name(name) => name,
            Last::Dot => return Err(Errno::EINVAL),
            Last::DotDot => return Err(Errno::ENOTEMPTY),
            Last::Root => return Err(Errno::EBUSY),
        };
        if node.kind() != Kind::Directory || target.followed {
            return Err(Errno::ENOTDIR);
        }
        self.refuse_mount_points(&target.path)?;
        target.parent.rmdir(name)
    }

    /// Moves `old` to `new` as one step; both were located without following. What is there is replaced, unless `replace`
    /// is false.
    ///
    /// # Errors
    /// ENOENT; EEXIST (not to be replaced); EINVAL for a directory into itself; ENOTEMPTY for a
    /// directory above it; ENOTDIR for a slash after what is no
    /// directory; EBUSY for a mount point or a path that ends in `.` or `..`; EXDEV; those of [`Vnode::rename`].
    pub fn rename(&self, old: &Target, new: &Target, replace: bool) -> Result<()> {
        if old.parent.metadata()?.dev != new.parent.metadata()?.dev {
            return Err(Errno::EXDEV);
        }
        let (Some(old_name), Some(new_name)) = (old.name(), new.name()) else { return Err(Errno::EBUSY) };
        let node = old.existing()?;
        if !replace && new.node.is_some() {
            return Err(Errno::EEXIST);
        }
        let slash = old.slash || new.slash;
        if old.followed || new.followed || slash && node.kind() != Kind::Directory {
            return Err(Errno::ENOTDIR);
        }
        if old.path != new.path && path::is_within(&new.path, &old.path) {
            return Err(Errno::EINVAL);
        }
        if old.path != new.path && path::is_within(&old.path, &new.path) {
            return Err(Errno::ENOTEMPTY);
        }
        self.refuse_mount_points(&old.path)?;
        self.refuse_mount_points(&new.path)?;
        old.parent.rename(old_name, &*new.parent, new_name, replace)
    }

    /// Refuses to take away the ground under a mount.
    fn refuse_mount_points(&self, path: &[u8]) -> Result<()> {
        if self.mounts.within(path) { Err(Errno::EBUSY) } else { Ok(()) }
    }
}

/// Makes the file for `open`, which uses the one that somebody else has made meanwhile unless O_EXCL forbids. Returns
/// whether it is new.
fn create(target: &Target, flags: u32, mode: u32) -> Result<(Arc<dyn Vnode>, bool)> {
    let name = new_name(target)?;
    match target.parent.create(name, mode & 0o7777) {
        Err(Errno::EEXIST) if flags & O_EXCL == 0 => Ok((target.parent.lookup(name)?, false)),
        made => Ok((made?, true)),
    }
}

/// The name for a new entry.
fn new_name(target: &Target) -> Result<&[u8]> {
    match (&target.node, target.name()) {
        (None, Some(name)) => Ok(name),
        _ => Err(Errno::EEXIST),
    }
}

/// The name for a new entry that will be no directory.
fn new_file_name(target: &Target) -> Result<&[u8]> {
    let name = new_name(target)?;
    if target.slash { Err(Errno::ENOENT) } else { Ok(name) }
}
