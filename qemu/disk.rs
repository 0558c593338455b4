//! Disk images: made on first use, and for one writer at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// Size of a new image in bytes. It is sparse: it takes what the guest has written.
pub const NEW_DISK_SIZE: u64 = 64 << 20;
/// What a disk's size is a multiple of (virtio 1.2, 5.2.4: capacity in 512-byte sectors).
const SECTOR: u64 = 512;

/// How long an image may still be in use: a run that was killed takes a moment to be gone.
const IN_USE_PATIENCE: Duration = Duration::from_secs(2);
/// Pause between two tries.
const IN_USE_PAUSE: Duration = Duration::from_millis(20);

/// A raw disk image, locked for as long as a clone of this lives.
#[derive(Clone, Debug)]
pub struct Disk {
    path: PathBuf,
    throwaway: bool,
    made: bool,
    // QEMU has a lock of another kind on the image, but its refusal comes late and names no other image.
    _lock: Arc<File>,
}

impl Disk {
    /// Opens the image at `path`; makes an empty one if there is none. `throwaway` means that the image stays as
    /// it is: what the guest writes is gone when QEMU ends.
    ///
    /// # Errors
    /// [`Error::Disk`]: it can't be opened or made, is no disk image, or another guest writes to it.
    pub fn open(path: &Path, throwaway: bool) -> Result<Self> {
        let give_up = Instant::now() + IN_USE_PATIENCE;
        loop {
            match Self::open_free(path, throwaway)? {
                Some(disk) => return Ok(disk),
                None if Instant::now() < give_up => thread::sleep(IN_USE_PAUSE),
                None => return Err(refuse(path, "another guest uses it")),
            }
        }
    }

    /// As [`Disk::open`], with nothing for an image that another guest uses.
    ///
    /// # Errors
    /// As [`Disk::open`].
    pub fn open_free(path: &Path, throwaway: bool) -> Result<Option<Self>> {
        let failed = |error: io::Error| refuse(path, &error.to_string());
        let (file, made) = open_or_make(path, throwaway).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(refuse(path, "is not a regular file"));
        }
        let locked = if throwaway { file.try_lock_shared() } else { file.try_lock() };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        if found.len() == 0 || found.len() % SECTOR != 0 {
            return Err(refuse(
                path,
                &format!("its size is not a multiple of {SECTOR} bytes, so it is no raw disk image"),
            ));
        }
        // QEMU runs in another folder.
        let path = std::path::absolute(path).map_err(failed)?;
        Ok(Some(Self { path, throwaway, made, _lock: Arc::new(file) }))
    }

    /// The image's absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the image stays as it is.
    #[must_use]
    pub fn is_throwaway(&self) -> bool {
        self.throwaway
    }

    /// Whether the image was made now.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.made
    }
}

/// The file, and whether it is new. A new one appears under its name with its full size.
fn open_or_make(path: &Path, throwaway: bool) -> io::Result<(File, bool)> {
    let open = || File::options().read(true).write(!throwaway).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other.map(|file| (file, false)),
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let fresh = folder.join(format!(".{name}.{}.new", std::process::id()));
    let linked = File::create_new(&fresh)
        .and_then(|file| file.set_len(NEW_DISK_SIZE))
        // Unlike a rename this leaves alone what another run made meanwhile.
        .and_then(|()| std::fs::hard_link(&fresh, path));
    // Gone already if it could not be made.
    let _ = std::fs::remove_file(&fresh);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        made => open().map(|file| (file, made.is_ok())),
    }
}

fn refuse(path: &Path, reason: &str) -> Error {
    Error::Disk { path: path.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn reason(path: &Path) -> String {
        Disk::open(path, false).unwrap_err().to_string()
    }

    #[test]
    fn an_image_is_made_once_and_is_sparse() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk.img");
        assert!(Disk::open(&path, false).unwrap().is_new());
        let found = fs::metadata(&path).unwrap();
        assert_eq!(found.len(), NEW_DISK_SIZE);
        assert!(found.blocks() * 512 < NEW_DISK_SIZE / 16, "{} blocks", found.blocks());
        assert!(!Disk::open(&path, false).unwrap().is_new());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn one_writer_or_many_throwaways() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk.img");
        let writer = Disk::open(&path, false).unwrap();
        assert!(reason(&path).contains("another guest uses it"));
        assert!(Disk::open_free(&path, true).unwrap().is_none());
        let kept = writer.clone();
        drop(writer);
        assert!(Disk::open_free(&path, false).unwrap().is_none());
        drop(kept);
        let throwaways = [(); 2].map(|()| Disk::open(&path, true).unwrap());
        assert!(Disk::open_free(&path, false).unwrap().is_none());
        drop(throwaways);
        Disk::open(&path, false).unwrap();
    }

    #[test]
    fn what_is_no_image_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        for content in ["", "hello"] {
            fs::write(&path, content).unwrap();
            assert!(reason(&path).contains("notes.txt: its size is not a multiple of 512"));
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert!(reason(folder.path()).contains("directory"));
        assert!(reason(&folder.path().join("no/such/disk")).contains("No such file"));
    }
}
