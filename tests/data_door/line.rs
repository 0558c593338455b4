//! A line between the hub and the guest that can be cut, held up and mended.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use host_bridge::link::{Connect, Stream};

/// Pause between two looks whether it goes on.
const PAUSE: Duration = Duration::from_millis(5);

/// The line. Clones are the same line.
#[derive(Clone)]
pub(crate) struct Line {
    guest: PathBuf,
    /// Nobody can connect.
    off: Arc<AtomicBool>,
    /// Nothing goes on either way.
    held: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<UnixStream>>>,
}

impl Line {
    pub(crate) fn new(guest: PathBuf) -> Self {
        Self { guest, off: Arc::default(), held: Arc::default(), streams: Arc::default() }
    }

    /// What the hub connects with.
    pub(crate) fn connect(&self) -> Connect {
        let line = self.clone();
        Box::new(move || line.plug_in())
    }

    /// Ends all connections. Others can be made at once.
    pub(crate) fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            // Fails only if it has ended already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends all connections, and makes no other until it is mended.
    pub(crate) fn break_off(&self) {
        self.off.store(true, Ordering::SeqCst);
        self.cut();
    }

    /// Connections can be made again, and bytes go on.
    pub(crate) fn mend(&self) {
        self.off.store(false, Ordering::SeqCst);
        self.held.store(false, Ordering::SeqCst);
    }

    /// Nothing goes on until it is mended, and nobody is told.
    pub(crate) fn hold(&self) {
        self.held.store(true, Ordering::SeqCst);
    }

    fn plug_in(&self) -> io::Result<Stream> {
        if self.off.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let guest = UnixStream::connect(&self.guest)?;
        let (host, inner) = UnixStream::pair()?;
        self.pump(&inner, &guest)?;
        self.pump(&guest, &inner)?;
        self.streams.lock().unwrap().extend([guest, inner]);
        Stream::try_from(host)
    }

    /// Carries bytes one way until either end is gone.
    fn pump(&self, from: &UnixStream, to: &UnixStream) -> io::Result<()> {
        let (held, mut from, mut to) = (Arc::clone(&self.held), from.try_clone()?, to.try_clone()?);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut piece) {
                while held.load(Ordering::SeqCst) {
                    thread::sleep(PAUSE);
                }
                if to.write_all(&piece[..count]).is_err() {
                    break;
                }
            }
            // Fails only if it has ended already.
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
        Ok(())
    }
}
