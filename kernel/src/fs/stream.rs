//! What can be waited for: the terminal and pipes. Their nodes never wait, they say EAGAIN; here is the waiting.

use super::dev::Console;
use super::pipe::{ReadEnd, WriteEnd};
use crate::arch::clock::{self, Nanos, SECOND};
use crate::process;
use crate::sched::WaitQueue;
use askr_abi::Errno;
use askr_abi::types::{O_NONBLOCK, POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM};
use askr_vfs::File;
use core::any::Any;

/// A file that may have nothing to read yet, or no room.
pub(crate) trait Stream {
    /// Those who wait for it.
    fn queue(&self) -> &WaitQueue;

    /// What holds now, in `POLL*` bits, for somebody who waits for `wanted`. Only of those, POLLERR and POLLHUP may be
    /// relied on.
    fn readiness(&self, wanted: u16) -> u16;

    /// Until when a read that begins now waits; `None` is without end.
    fn patience(&self) -> Option<Nanos> {
        None
    }
}

/// What holds of a file that never has to wait.
const ALWAYS: u16 = POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;
/// A write looks again after this time, so that a line that stands still can be killed.
const LOOK_AGAIN: Nanos = SECOND;

/// The file as a stream, if it is one.
pub(crate) fn stream(file: &File) -> Option<&dyn Stream> {
    let node: &dyn Any = &**file.node();
    if let Some(end) = node.downcast_ref::<ReadEnd>() {
        return Some(end);
    }
    if let Some(end) = node.downcast_ref::<WriteEnd>() {
        return Some(end);
    }
    node.downcast_ref::<Console>().map(|console| console as &dyn Stream)
}

/// What `poll` tells of an open file to somebody who waits for `wanted`.
pub(crate) fn readiness(file: &File, wanted: u16) -> u16 {
    stream(file).map_or(ALWAYS, |stream| stream.readiness(wanted)) & (wanted | POLLERR | POLLHUP)
}

/// Does `attempt` until it is done, waiting for input while it says EAGAIN; 0 when the file's patience ends.
///
/// # Errors
/// EAGAIN with `O_NONBLOCK`, EINTR on a signal, those of `attempt`.
pub(crate) fn read_waiting(
    file: &File,
    mut attempt: impl FnMut() -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let mut patience = None;
    loop {
        let result = attempt();
        let Some(stream) = stream(file).filter(|_| waits(file, &result)) else { return result };
        let deadline = *patience.get_or_insert_with(|| stream.patience());
        if process::interrupted() {
            return Err(Errno::EINTR);
        }
        if deadline.is_some_and(|deadline| clock::now() >= deadline) {
            return Ok(0);
        }
        stream.queue().wait(deadline, || stream.readiness(POLLIN) & (POLLIN | POLLHUP) != 0);
    }
}

/// Does `attempt` until it is done, waiting for room while it says EAGAIN.
///
/// # Errors
/// EAGAIN with `O_NONBLOCK`, EINTR on a signal, those of `attempt`.
pub(crate) fn write_waiting(
    file: &File,
    mut attempt: impl FnMut() -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    loop {
        let result = attempt();
        let Some(stream) = stream(file).filter(|_| waits(file, &result)) else { return result };
        if process::interrupted() {
            return Err(Errno::EINTR);
        }
        let deadline = Some(clock::now() + LOOK_AGAIN);
        stream.queue().wait(deadline, || stream.readiness(POLLOUT) & (POLLOUT | POLLERR) != 0);
    }
}

fn waits(file: &File, result: &Result<usize, Errno>) -> bool {
    *result == Err(Errno::EAGAIN) && file.flags() & O_NONBLOCK == 0
}
