//! One folder for each running QEMU, with its sockets, its error log and its initrd.
//!
//! A folder belongs to the process that holds the lock on its file `owner`. The kernel drops that lock when
//! the process dies, so a folder whose lock is free was left behind and is removed by the next start. This
//! needs no process ids, which may be reused or come from another container.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Name of the lock file in a run folder, and of the one in the parent folder that guards making and removing.
const LOCK_NAME: &str = "owner";
/// What names of run folders start with.
const PREFIX: &str = "run-";

/// A run folder; removed on drop.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    _lock: File,
}

impl RunFolder {
    /// Makes a new folder in `parent` and removes those of processes that died.
    pub(crate) fn create(parent: &Path) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        fs::create_dir_all(parent)?;
        // Held until the new folder has its own lock: else another start could take it for one left behind.
        let parent_lock = File::create(parent.join(LOCK_NAME))?;
        parent_lock.lock()?;
        remove_stale(parent)?;
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("{PREFIX}{}-{count}", std::process::id()));
        fs::create_dir(&path)?;
        let lock = File::create(path.join(LOCK_NAME))?;
        lock.lock()?;
        Ok(Self { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What can't be removed now is removed by the next start.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the run folders in `parent` that nobody holds.
fn remove_stale(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) || !entry.file_type()?.is_dir() {
            continue;
        }
        let abandoned = match File::open(entry.path().join(LOCK_NAME)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if abandoned {
            match fs::remove_dir_all(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_removes_the_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path()).unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("com2.sock"), "").unwrap();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn a_start_removes_what_dead_processes_left_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let live = RunFolder::create(parent.path()).unwrap();
        let dead = parent.path().join("run-1-1");
        let unlocked = parent.path().join("run-1-2");
        for path in [&dead, &unlocked] {
            fs::create_dir(path).unwrap();
        }
        fs::write(dead.join(LOCK_NAME), "").unwrap();
        fs::write(parent.path().join("run-notes"), "keep").unwrap();
        fs::create_dir(parent.path().join("disk")).unwrap();

        let next = RunFolder::create(parent.path()).unwrap();
        assert!(!dead.exists() && !unlocked.exists());
        assert!(live.path().exists() && next.path().exists() && live.path() != next.path());
        assert!(parent.path().join("run-notes").exists() && parent.path().join("disk").exists());
    }
}
