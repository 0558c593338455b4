//! A small tree to work on.

use std::cell::Cell;
use std::sync::Arc;

use askr_abi::types::{O_CREAT, O_RDONLY, O_RDWR, O_TRUNC, Timespec};
use askr_vfs::{Errno, File, RamFs, Result, Vfs, Vnode};

thread_local!(static NOW: Cell<i64> = const { Cell::new(0) });

/// Each look at the clock is a second later than the last.
pub(crate) fn clock() -> Timespec {
    NOW.set(NOW.get() + 1);
    Timespec { sec: NOW.get(), nsec: 0 }
}

pub(crate) struct Tree {
    pub(crate) fs: RamFs,
    pub(crate) vfs: Vfs,
}

pub(crate) fn tree_of(limit: u64) -> Tree {
    let fs = RamFs::new(1, limit, clock);
    let vfs = Vfs::new("ramfs", fs.root()).unwrap();
    Tree { fs, vfs }
}

pub(crate) fn tree() -> Tree {
    tree_of(1 << 20)
}

impl Tree {
    pub(crate) fn open(&self, path: &str, flags: u32) -> Result<File> {
        let target = self.vfs.locate_for_open(&self.vfs.root(), path.as_bytes(), flags)?;
        self.vfs.open(&target, flags, 0o644)
    }

    pub(crate) fn write(&self, path: &str, content: &[u8]) -> Result<()> {
        let file = self.open(path, O_RDWR | O_CREAT | O_TRUNC)?;
        let mut left = content;
        while !left.is_empty() {
            left = &left[file.write(left)?..];
        }
        Ok(())
    }

    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>> {
        read_all(&self.open(path, O_RDONLY)?)
    }

    pub(crate) fn mkdir(&self, path: &str) -> Result<()> {
        self.vfs.mkdir(&self.vfs.locate(&self.vfs.root(), path.as_bytes(), false)?, 0o755)
    }

    pub(crate) fn symlink(&self, to: &str, path: &str) -> Result<()> {
        self.vfs.symlink(&self.vfs.locate(&self.vfs.root(), path.as_bytes(), false)?, to.as_bytes())
    }

    pub(crate) fn unlink(&self, path: &str) -> Result<()> {
        self.vfs.unlink(&self.vfs.locate(&self.vfs.root(), path.as_bytes(), false)?)
    }

    pub(crate) fn rmdir(&self, path: &str) -> Result<()> {
        self.vfs.rmdir(&self.vfs.locate(&self.vfs.root(), path.as_bytes(), false)?)
    }

    pub(crate) fn link(&self, old: &str, new: &str) -> Result<()> {
        let old = self.vfs.locate(&self.vfs.root(), old.as_bytes(), false)?;
        let new = self.vfs.locate(&self.vfs.root(), new.as_bytes(), false)?;
        self.vfs.link(&old, &new)
    }

    pub(crate) fn rename(&self, old: &str, new: &str) -> Result<()> {
        self.rename_with(old, new, true)
    }

    pub(crate) fn rename_with(&self, old: &str, new: &str, replace: bool) -> Result<()> {
        let old = self.vfs.locate(&self.vfs.root(), old.as_bytes(), false)?;
        let new = self.vfs.locate(&self.vfs.root(), new.as_bytes(), false)?;
        self.vfs.rename(&old, &new, replace)
    }

    /// The canonical path of what exists there.
    pub(crate) fn canonical(&self, cwd: &str, path: &str, follow: bool) -> Result<String> {
        let target = self.vfs.locate(&self.node(cwd), path.as_bytes(), follow)?;
        target.existing()?;
        Ok(String::from_utf8(target.path).unwrap())
    }

    /// The names in a directory in the order of the listing.
    pub(crate) fn list(&self, path: &str) -> Result<Vec<String>> {
        let target = self.vfs.locate(&self.vfs.root(), path.as_bytes(), true)?;
        let mut names = Vec::new();
        target.existing()?.read_dir(0, &mut |entry| {
            names.push(String::from_utf8(entry.name.to_vec()).unwrap());
            true
        })?;
        Ok(names)
    }

    pub(crate) fn node(&self, path: &str) -> Arc<dyn Vnode> {
        Arc::clone(self.vfs.locate(&self.vfs.root(), path.as_bytes(), true).unwrap().existing().unwrap())
    }
}

pub(crate) fn read_all(file: &File) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut part = [0; 1000];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(content),
            count => content.extend_from_slice(&part[..count]),
        }
    }
}

#[track_caller]
pub(crate) fn refused<T>(result: Result<T>, errno: Errno) {
    assert_eq!(result.err(), Some(errno));
}
