//! `/dev`: console, tty, null, zero, random.

use super::DEV_DEV;
use super::stream::Stream;
use crate::arch::clock::Nanos;
use crate::process::terminal;
use crate::sched::WaitQueue;
use crate::{console, random};
use alloc::sync::Arc;
use alloc::vec;
use askr_abi::Errno;
use askr_abi::types::{POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM};
use askr_vfs::{File, FixedDir, Kind, Metadata, Place, Vnode};
use core::any::Any;

const INO_ROOT: u64 = 1;

pub(super) fn root() -> Arc<dyn Vnode> {
    Arc::new(FixedDir::new(
        DEV_DEV,
        INO_ROOT,
        Place::Root,
        vec![
            ("console", Arc::new(Console) as Arc<dyn Vnode>),
            ("full", Arc::new(Full)),
            ("null", Arc::new(Null)),
            ("random", Arc::new(Random)),
            ("tty", Arc::new(Console)),
            ("urandom", Arc::new(Random)),
            ("zero", Arc::new(Zero)),
        ],
    ))
}

/// Whether an open file is the terminal.
pub(crate) fn is_terminal(file: &File) -> bool {
    let node: &dyn Any = &**file.node();
    node.is::<Console>()
}

/// A character device with Linux's number (Documentation/admin-guide/devices.txt).
fn device(ino: u64, major: u64, minor: u64) -> Metadata {
    Metadata { rdev: major << 8 | minor, ..Metadata::bare(Kind::CharDevice, 0o666, DEV_DEV, ino) }
}

/// COM1 as a terminal.
pub(super) struct Console;

impl Vnode for Console {
    fn kind(&self) -> Kind {
        Kind::CharDevice
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(device(2, 5, 1))
    }

    fn read_at(&self, _offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        terminal::check_read()?;
        console::read(into)
    }

    fn write_at(&self, _offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        console::write(bytes)
    }
}

impl Stream for Console {
    fn queue(&self) -> &WaitQueue {
        console::waiting()
    }

    fn readiness(&self, wanted: u16) -> u16 {
        const INPUT: u16 = POLLIN | POLLRDNORM;
        let output = if console::is_writable() { POLLOUT | POLLWRNORM } else { 0 };
        // Asking for input has an effect: what was held for want of a reader goes on.
        output | if wanted & INPUT != 0 && console::is_readable() { INPUT } else { 0 }
    }

    fn patience(&self) -> Option<Nanos> {
        console::patience()
    }
}

/// Takes everything and gives nothing.
struct Null;

impl Vnode for Null {
    fn kind(&self) -> Kind {
        Kind::CharDevice
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(device(3, 1, 3))
    }

    fn read_at(&self, _offset: u64, _into: &mut [u8]) -> Result<usize, Errno> {
        Ok(0)
    }

    fn write_at(&self, _offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        Ok(bytes.len())
    }
}

/// Takes everything and gives zeros.
struct Zero;

impl Vnode for Zero {
    fn kind(&self) -> Kind {
        Kind::CharDevice
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(device(4, 1, 5))
    }

    fn is_in_memory(&self) -> bool {
        true
    }

    fn read_at(&self, _offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        into.fill(0);
        Ok(into.len())
    }

    fn write_at(&self, _offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        Ok(bytes.len())
    }
}

/// Gives zeros and has no room.
struct Full;

impl Vnode for Full {
    fn kind(&self) -> Kind {
        Kind::CharDevice
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(device(6, 1, 7))
    }

    fn read_at(&self, _offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        into.fill(0);
        Ok(into.len())
    }

    fn write_at(&self, _offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        if bytes.is_empty() { Ok(0) } else { Err(Errno::ENOSPC) }
    }
}

/// Gives random bytes.
struct Random;

impl Vnode for Random {
    fn kind(&self) -> Kind {
        Kind::CharDevice
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(device(5, 1, 9))
    }

    fn read_at(&self, _offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        into.chunks_mut(16).for_each(|chunk| chunk.copy_from_slice(&random::bytes()[..chunk.len()]));
        Ok(into.len())
    }

    fn write_at(&self, _offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        Ok(bytes.len())
    }
}
