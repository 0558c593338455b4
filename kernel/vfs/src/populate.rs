//! Fills a file system in memory from the initial archive.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use askr_abi::Errno;
use askr_abi::types::Timespec;
use askr_core::initrd::{Entry, EntryKind, InitrdError, entries};
use askr_core::path::{self, Component};

use crate::{Kind, RamFs, Result, Vnode};

/// Rights of a directory that the archive only implies.
const IMPLIED_MODE: u32 = 0o755;

/// What came out of an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Populated {
    /// Regular files.
    pub files: usize,
    /// Directories named by the archive.
    pub directories: usize,
    /// Symbolic links.
    pub links: usize,
    /// Bytes of the files.
    pub bytes: u64,
}

/// Why an archive could not be unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PopulateError {
    /// The archive itself is broken.
    Archive(InitrdError),
    /// The entry with this path could not be made.
    Entry(Vec<u8>, Errno),
}

impl fmt::Display for PopulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive(error) => error.fmt(f),
            Self::Entry(path, errno) => write!(f, "{}: {errno}", path.escape_ascii()),
        }
    }
}

impl core::error::Error for PopulateError {}

/// Makes every entry of `archive` in `fs`, files with their content borrowed. Missing parent directories are
/// made; a file or link replaces an earlier one of the same path, as `tar` does it.
///
/// # Errors
/// At the first entry that cannot be read or made; those before it stay.
pub fn populate(fs: &RamFs, archive: &'static [u8]) -> core::result::Result<Populated, PopulateError> {
    let mut done = Populated::default();
    for entry in entries(archive) {
        let entry = entry.map_err(PopulateError::Archive)?;
        add(fs, archive, &entry, &mut done)
            .map_err(|errno| PopulateError::Entry(entry.path.to_vec(), errno))?;
    }
    Ok(done)
}

fn add(fs: &RamFs, archive: &'static [u8], entry: &Entry<'_>, done: &mut Populated) -> Result<()> {
    path::check(&entry.path)?;
    let mut names = Vec::new();
    for component in path::components(&entry.path) {
        match component {
            Component::Name(name) => names.push(name),
            Component::Current => {}
            // An archive has no business outside the root, nor a way to say so.
            Component::Parent => return Err(Errno::EINVAL),
        }
    }
    let Some((name, parents)) = names.split_last() else {
        // `./`: the root, which is there.
        return if entry.kind == EntryKind::Directory { Ok(()) } else { Err(Errno::EISDIR) };
    };
    let parent = parents.iter().try_fold(fs.root(), |dir, name| enter(&dir, name, IMPLIED_MODE))?;
    match &entry.kind {
        EntryKind::Directory => {
            enter(&parent, name, entry.mode)?;
            done.directories += 1;
        }
        EntryKind::Symlink(target) => {
            clear(&parent, name)?;
            parent.symlink(name, target)?;
            done.links += 1;
        }
        EntryKind::File(range) => {
            clear(&parent, name)?;
            let content = archive.get(range.clone()).ok_or(Errno::EIO)?;
            let mtime = Timespec { sec: i64::try_from(entry.mtime).unwrap_or(i64::MAX), nsec: 0 };
            fs.insert_static(&*parent, name, content, entry.mode, mtime)?;
            done.files += 1;
            done.bytes += content.len() as u64;
        }
    }
    Ok(())
}

/// The directory of this name, made if it is missing.
fn enter(dir: &Arc<dyn Vnode>, name: &[u8], mode: u32) -> Result<Arc<dyn Vnode>> {
    match dir.lookup(name) {
        Ok(node) if node.kind() == Kind::Directory => Ok(node),
        Ok(_) => Err(Errno::ENOTDIR),
        Err(Errno::ENOENT) => dir.mkdir(name, mode),
        Err(errno) => Err(errno),
    }
}

/// Makes sure that there is no entry of this name.
fn clear(dir: &Arc<dyn Vnode>, name: &[u8]) -> Result<()> {
    match dir.unlink(name) {
        Err(Errno::ENOENT) => Ok(()),
        other => other,
    }
}
