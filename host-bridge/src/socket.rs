//! Unix sockets whose path may be longer than the 107 bytes of `sun_path` (`man 7 unix`).
//!
//! A long path is named through its opened folder: `/proc/self/fd/<n>/<file name>` is short, and Linux resolves
//! it to the same socket.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, SockRef, Socket, Type};

/// Longest path that fits `sun_path` with its closing NUL.
const SUN_PATH_MAX: usize = 107;
/// How long [`bind`] waits for another starter that holds the folder.
const FOLDER_LOCK_WAIT: Duration = Duration::from_secs(2);
/// Pause between two tries for the folder's lock.
const FOLDER_LOCK_PAUSE: Duration = Duration::from_millis(5);

/// A path short enough for the kernel, with the folder it goes through kept open.
struct ShortPath {
    path: PathBuf,
    _folder: Option<File>,
}

impl ShortPath {
    fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_bytes().len() <= SUN_PATH_MAX {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let folder = File::open(folder_of(path))?;
        let mut short = OsString::from(format!("/proc/self/fd/{}/", folder.as_raw_fd()));
        short.push(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        if short.len() > SUN_PATH_MAX {
            let what = format!("the file name of socket {} is too long", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(Self { path: short.into(), _folder: Some(folder) })
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Connects to the socket at `path` and never blocks.
///
/// # Errors
/// As `connect(2)`: `NotFound` without a socket, `ConnectionRefused` when nobody listens, `WouldBlock` when the
/// listener's queue is full.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let short = ShortPath::of(path)?;
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&SockAddr::unix(&short.path)?)?;
    socket.set_nonblocking(false)?;
    Ok(OwnedFd::from(socket).into())
}

/// A listening socket that is removed from its folder on drop, if it is still ours.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    identity: (u64, u64),
}

/// Listens at `path`, for this user only. A socket file that nobody listens on any more is replaced.
///
/// # Errors
/// `AddrInUse` when somebody listens there or the file is no socket; else as `bind(2)` and `open(2)`.
pub fn bind(path: &Path) -> io::Result<Listener> {
    let short = ShortPath::of(path)?;
    // Two starters could both take the socket for stale, and the second would then remove the first one's.
    let folder = lock_folder(path)?;
    remove_stale(path)?;
    let listener = UnixListener::bind(&short.path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    let identity = identity(path)?;
    drop(folder);
    Ok(Listener { listener, path: path.to_owned(), identity })
}

fn lock_folder(path: &Path) -> io::Result<File> {
    let folder = File::open(folder_of(path))?;
    let give_up = Instant::now() + FOLDER_LOCK_WAIT;
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(folder),
            Err(fs::TryLockError::Error(error)) => return Err(error),
            Err(fs::TryLockError::WouldBlock) if Instant::now() >= give_up => {
                let what = format!("another program holds the lock on {}", folder_of(path).display());
                return Err(io::Error::new(io::ErrorKind::AddrInUse, what));
            }
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(FOLDER_LOCK_PAUSE),
        }
    }
}

fn remove_stale(path: &Path) -> io::Result<()> {
    let in_use =
        |what: &str| Err(io::Error::new(io::ErrorKind::AddrInUse, format!("{} {what}", path.display())));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.file_type().is_socket() => return in_use("exists and is no socket"),
        Ok(_) => {}
    }
    match connect(path) {
        Ok(_) => in_use("already has a listener"),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => in_use("already has a listener"),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

impl Listener {
    /// The next client; blocks until one comes or [`Listener::stop`] is called (then an error).
    ///
    /// # Errors
    /// As `accept(2)`.
    pub fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept()?.0)
    }

    /// Ends a blocked [`Listener::accept`] and all later ones.
    pub fn stop(&self) {
        // Linux wakes a blocked accept(2) of a listener that is shut down; a listener that is gone needs no waking.
        let _ = SockRef::from(&self.listener).shutdown(std::net::Shutdown::Both);
    }

    /// Removes the socket from its folder, if it is still ours.
    pub fn remove(&self) {
        if identity(&self.path).is_ok_and(|now| now == self.identity) {
            // Nothing can be done about a folder that became read-only; the next start replaces the stale file.
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Where clients connect.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_over_107_bytes_binds_and_connects() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(100)).join("e".repeat(100));
        fs::create_dir_all(&deep).unwrap();
        let path = deep.join("agent.sock");
        let listener = bind(&path).unwrap();
        let _client = connect(&path).unwrap();
        listener.accept().unwrap();
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sock");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let listener = bind(&path).unwrap();
        assert_eq!(bind(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(connect(&path).is_ok());
        drop(listener);
        assert_eq!(connect(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_file_that_is_no_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        fs::write(&path, "keep").unwrap();
        assert_eq!(bind(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert_eq!(fs::read(&path).unwrap(), b"keep");
    }

    #[test]
    fn drop_does_not_remove_somebody_elses_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sock");
        let listener = bind(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let _other = UnixListener::bind(&path).unwrap();
        drop(listener);
        assert!(path.exists());
    }

    #[test]
    fn stop_ends_a_blocked_accept() {
        let folder = tempfile::tempdir().unwrap();
        let listener = bind(&folder.path().join("agent.sock")).unwrap();
        std::thread::scope(|scope| {
            let accepting = scope.spawn(|| listener.accept());
            listener.stop();
            assert!(accepting.join().unwrap().is_err());
        });
    }
}
