//! Disks in memory.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use askr_abi::Errno;
use askr_abi::types::Timespec;
use askr_disk::{BlockDevice, DiskFs, Hooks, SECTOR, format};

/// The lock of a file system under test.
pub(crate) type Raw = spin::mutex::SpinMutex<()>;

/// A change of the disk.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// One sector.
    Write(u64, Box<[u8; SECTOR]>),
    Flush,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) image: Vec<u8>,
    /// What was done, when it is wanted.
    pub(crate) log: Option<Vec<Event>>,
    /// Operations that still go well; then all fail.
    pub(crate) good: Option<u64>,
    pub(crate) flushes: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

/// A disk that the test looks into while it is in use.
#[derive(Clone, Default)]
pub(crate) struct Ram(pub(crate) Arc<Mutex<Inner>>);

impl Ram {
    pub(crate) fn new(bytes: usize) -> Self {
        Self::of(vec![0; bytes])
    }

    pub(crate) fn of(image: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(Inner { image, ..Inner::default() })))
    }

    pub(crate) fn formatted(bytes: usize) -> Self {
        let ram = Self::new(bytes);
        format(Box::new(ram.clone())).unwrap();
        ram
    }

    pub(crate) fn image(&self) -> Vec<u8> {
        self.0.lock().unwrap().image.clone()
    }

    pub(crate) fn mount(&self) -> DiskFs<Raw> {
        self.mount_with(HOOKS)
    }

    pub(crate) fn mount_with(&self, hooks: Hooks) -> DiskFs<Raw> {
        DiskFs::mount(Box::new(self.clone()), 7, hooks).unwrap()
    }

    fn attempt<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> Result<T, Errno> {
        let mut inner = self.0.lock().unwrap();
        if let Some(good) = &mut inner.good {
            *good = good.checked_sub(1).ok_or(Errno::EIO)?;
        }
        Ok(act(&mut inner))
    }
}

pub(crate) const HOOKS: Hooks = Hooks {
    clock: || Timespec { sec: 1_000_000_000, nsec: 5 },
    wake: || {},
    lost: |_, _| {},
    full: || FULL.set(FULL.get() + 1),
    cached_blocks: 64,
};

thread_local! {
    /// How often this thread's disk has become full.
    pub(crate) static FULL: Cell<u32> = const { Cell::new(0) };
}

impl BlockDevice for Ram {
    fn sectors(&self) -> u64 {
        (self.0.lock().unwrap().image.len() / SECTOR) as u64
    }

    fn read(&mut self, sector: u64, into: &mut [u8]) -> Result<(), Errno> {
        assert!(!into.is_empty() && into.len().is_multiple_of(SECTOR));
        self.attempt(|inner| {
            let at = sector as usize * SECTOR;
            inner.reads += 1;
            into.copy_from_slice(&inner.image[at..at + into.len()]);
        })
    }

    fn write(&mut self, sector: u64, bytes: &[u8]) -> Result<(), Errno> {
        assert!(!bytes.is_empty() && bytes.len().is_multiple_of(SECTOR));
        self.attempt(|inner| {
            let at = sector as usize * SECTOR;
            inner.writes += 1;
            inner.image[at..at + bytes.len()].copy_from_slice(bytes);
            if let Some(log) = &mut inner.log {
                let sectors = bytes.chunks_exact(SECTOR).zip(sector..);
                log.extend(sectors.map(|(bytes, at)| Event::Write(at, Box::new(bytes.try_into().unwrap()))));
            }
        })
    }

    fn flush(&mut self) -> Result<(), Errno> {
        self.attempt(|inner| {
            inner.flushes += 1;
            if let Some(log) = &mut inner.log {
                log.push(Event::Flush);
            }
        })
    }
}
