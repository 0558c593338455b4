//! Pipes: two ends with one buffer (`askr_vfs::Pipe`) between them.

use super::stream::Stream;
use super::{DEV_PIPE, now};
use crate::mm;
use crate::sched::WaitQueue;
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{
    O_NONBLOCK, O_RDONLY, O_WRONLY, POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, Timespec,
};
use askr_vfs::{File, Kind, Metadata, Pipe, Vnode};
use core::sync::atomic::{AtomicU64, Ordering};
use spin::Mutex;

static NEXT_INO: AtomicU64 = AtomicU64::new(1);

/// What both ends have in common.
struct Shared {
    pipe: Mutex<Pipe>,
    queue: WaitQueue,
    ino: u64,
    made: Timespec,
}

/// The end that is read; the reader is gone when the last reference to it is.
pub(super) struct ReadEnd(Arc<Shared>);

/// The end that is written.
pub(super) struct WriteEnd(Arc<Shared>);

/// A new pipe: the end to read and the end to write. Of `flags` only `O_NONBLOCK` matters.
///
/// # Errors
/// ENOMEM.
pub(crate) fn pipe(flags: u32) -> Result<(File, File), Errno> {
    let shared = Arc::new(Shared {
        pipe: Mutex::new(Pipe::new()?),
        queue: WaitQueue::new(),
        ino: NEXT_INO.fetch_add(1, Ordering::Relaxed),
        made: now(),
    });
    let flags = flags & O_NONBLOCK;
    let file = |node: Arc<dyn Vnode>, access| File::new(node, Vec::new(), access | flags, 0);
    let read = file(Arc::new(ReadEnd(Arc::clone(&shared))), O_RDONLY);
    Ok((read, file(Arc::new(WriteEnd(shared)), O_WRONLY)))
}

impl Shared {
    fn metadata(&self) -> Metadata {
        let bare = Metadata::bare(Kind::Pipe, 0o600, DEV_PIPE, self.ino);
        Metadata { mtime: self.made, ctime: self.made, ..bare }
    }
}

impl Vnode for ReadEnd {
    fn kind(&self) -> Kind {
        Kind::Pipe
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(self.0.metadata())
    }

    fn read_at(&self, _offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let mut pipe = self.0.pipe.lock();
        let count = pipe.read(into)?;
        // A writer waits until there is room for a whole step, so it is not woken for each byte.
        let room = count > 0 && pipe.is_writable();
        drop(pipe);
        if room {
            self.0.queue.wake();
        }
        Ok(count)
    }
}

impl Vnode for WriteEnd {
    fn kind(&self) -> Kind {
        Kind::Pipe
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        Ok(self.0.metadata())
    }

    fn write_at(&self, _offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        let may_grow = mm::require_heap_room().is_ok();
        let count = self.0.pipe.lock().write(bytes, may_grow)?;
        if count > 0 {
            self.0.queue.wake();
        }
        Ok(count)
    }
}

impl Stream for ReadEnd {
    fn queue(&self) -> &WaitQueue {
        &self.0.queue
    }

    fn readiness(&self, _wanted: u16) -> u16 {
        let pipe = self.0.pipe.lock();
        let input = if pipe.is_empty() { 0 } else { POLLIN | POLLRDNORM };
        input | if pipe.has_writer() { 0 } else { POLLHUP }
    }
}

impl Stream for WriteEnd {
    fn queue(&self) -> &WaitQueue {
        &self.0.queue
    }

    fn readiness(&self, _wanted: u16) -> u16 {
        let pipe = self.0.pipe.lock();
        let room = if pipe.is_writable() { POLLOUT | POLLWRNORM } else { 0 };
        room | if pipe.has_reader() { 0 } else { POLLERR }
    }
}

impl Drop for ReadEnd {
    fn drop(&mut self) {
        self.0.pipe.lock().close_reader();
        self.0.queue.wake();
    }
}

impl Drop for WriteEnd {
    fn drop(&mut self) {
        self.0.pipe.lock().close_writer();
        self.0.queue.wake();
    }
}
