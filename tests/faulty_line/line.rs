//! A line between the hub and a door of the guest on which things go wrong, by a seed.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use host_bridge::link::{Connect, Stream};

/// Most bytes that go on at once, so that faults are many small ones.
const PIECE: usize = 256;
/// Longest delay of a piece, and of a line that stands still.
const DELAY: Duration = Duration::from_millis(40);
const STALL: Duration = Duration::from_millis(1500);
/// Most bytes of a flood.
const FLOOD: usize = 8192;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A byte becomes another.
    Corrupt,
    /// Bytes do not arrive.
    Drop,
    /// Bytes arrive twice.
    Duplicate,
    /// A piece comes late.
    Delay,
    /// A piece comes byte by byte.
    Split,
    /// Bytes come that nobody sent.
    Flood,
    /// Nothing comes for a while.
    Stall,
    /// The connection ends.
    Close,
}

impl Fault {
    pub(crate) const ALL: [Self; 8] = [
        Self::Corrupt,
        Self::Drop,
        Self::Duplicate,
        Self::Delay,
        Self::Split,
        Self::Flood,
        Self::Stall,
        Self::Close,
    ];

    /// On so many bytes there is one such fault, if there are no others. Those that cost time are rarer.
    const fn bytes_between(self) -> usize {
        match self {
            Self::Corrupt | Self::Drop | Self::Duplicate | Self::Delay | Self::Split => 8 * 1024,
            Self::Flood => 32 * 1024,
            Self::Stall | Self::Close => 256 * 1024,
        }
    }
}

/// The line. Clones are the same line.
#[derive(Clone)]
pub(crate) struct Line {
    guest: PathBuf,
    faults: Arc<Vec<Fault>>,
    /// Nothing goes wrong unless this is set.
    pub(crate) faulty: Arc<AtomicBool>,
    seed: Arc<Mutex<Rng>>,
    /// Faults so far.
    pub(crate) count: Arc<AtomicU64>,
}

impl Line {
    pub(crate) fn new(guest: PathBuf, faults: &[Fault], seed: u64) -> Self {
        Self {
            guest,
            faults: Arc::new(faults.to_vec()),
            faulty: Arc::default(),
            seed: Arc::new(Mutex::new(Rng::with_seed(seed))),
            count: Arc::default(),
        }
    }

    /// What the hub connects with.
    pub(crate) fn connect(&self) -> Connect {
        let line = self.clone();
        Box::new(move || line.plug_in())
    }

    fn plug_in(&self) -> io::Result<Stream> {
        let guest = UnixStream::connect(&self.guest)?;
        let (host, inner) = UnixStream::pair()?;
        self.pump(&inner, &guest)?;
        self.pump(&guest, &inner)?;
        Stream::try_from(host)
    }

    /// Carries bytes one way until either end is gone.
    fn pump(&self, from: &UnixStream, to: &UnixStream) -> io::Result<()> {
        let (line, mut from, mut to) = (self.clone(), from.try_clone()?, to.try_clone()?);
        let mut rng = self.seed.lock().unwrap().fork();
        thread::spawn(move || {
            let mut piece = [0; PIECE];
            while let Ok(count @ 1..) = from.read(&mut piece) {
                if line.carry(&piece[..count], &mut to, &mut rng).is_err() {
                    break;
                }
            }
            // Both ends, so that the other direction ends too; they may be closed already.
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        });
        Ok(())
    }

    /// An error ends the connection.
    fn carry(&self, piece: &[u8], to: &mut UnixStream, rng: &mut Rng) -> io::Result<()> {
        let kinds = self.faults.len();
        let strikes = |fault: &&Fault| rng.usize(..fault.bytes_between() * kinds) < piece.len();
        let struck = self.faults.iter().find(strikes);
        let Some(fault) = struck.filter(|_| self.faulty.load(Ordering::Relaxed)) else {
            return to.write_all(piece);
        };
        self.count.fetch_add(1, Ordering::Relaxed);
        let at = rng.usize(..piece.len());
        let end = rng.usize(at..=piece.len());
        match fault {
            Fault::Corrupt => {
                let mut piece = piece.to_vec();
                piece[at] = rng.u8(..);
                to.write_all(&piece)
            }
            Fault::Drop => to.write_all(&[&piece[..at], &piece[end..]].concat()),
            Fault::Duplicate => to.write_all(&[&piece[..end], &piece[at..]].concat()),
            Fault::Delay => {
                thread::sleep(DELAY.mul_f64(rng.f64()));
                to.write_all(piece)
            }
            Fault::Split => piece.iter().try_for_each(|byte| {
                thread::sleep(Duration::from_micros(200));
                to.write_all(std::slice::from_ref(byte))
            }),
            Fault::Flood => {
                let noise: Vec<u8> = (0..rng.usize(..FLOOD)).map(|_| rng.u8(..)).collect();
                to.write_all(&noise)?;
                to.write_all(piece)
            }
            Fault::Stall => {
                thread::sleep(STALL.mul_f64(rng.f64()));
                to.write_all(piece)
            }
            Fault::Close => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }
}
