//! WRITE_AT: many small writes to one file, one after the other.

use super::files::{FILE_MODE, regular};
use super::too_big;
use crate::arch::clock::{self, Nanos, SECOND};
use crate::{fs, kprintln};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{O_CREAT, O_WRONLY};
use askr_agentbus::policy::Origin;
use askr_vfs::File;
use askr_wire::Message;
use askr_wire::message::{WriteAtRequest, WriteReply};

/// A file that nothing is written to for so long is closed.
const IDLE: Nanos = SECOND;
/// Errors of closing that are kept for whoever writes to the file next; the oldest goes.
const LATE_MAX: usize = 8;
const FLAGS: u32 = O_WRONLY | O_CREAT;

/// The file that was written to last. It stays open for the next write, since closing it commits it on a disk, which
/// would be done for every few kilobytes of an upload.
pub(in crate::bus) struct Upload {
    file: Option<File>,
    used: Nanos,
    /// Canonical paths, and what went wrong when their files were closed.
    late: VecDeque<(Vec<u8>, Errno)>,
}

impl Upload {
    pub(in crate::bus) const fn new() -> Self {
        Self { file: None, used: 0, late: VecDeque::new() }
    }

    /// Writes all of the data. After an error some of it may be written.
    ///
    /// # Errors
    /// Those of `open(2)`, `pwrite(2)` and `fsync(2)`; EPERM where the policy refuses; what went wrong with earlier writes to
    /// the file and nobody was told of.
    pub(super) fn write_at(
        &mut self,
        origin: Origin,
        request: &WriteAtRequest<'_>,
        body: &mut [u8],
    ) -> Result<usize, Errno> {
        let &WriteAtRequest { offset, sync, path, data } = request;
        let end = offset.checked_add(data.len() as u64).and_then(|end| i64::try_from(end).ok());
        end.ok_or(Errno::EFBIG)?;
        let file = self.open(origin, path)?;
        let mut done = 0;
        while done < data.len() {
            match file.write_at(offset + done as u64, &data[done..])? {
                0 => return Err(Errno::EIO),
                count => done += count,
            }
        }
        if sync {
            file.node().sync()?;
        }
        WriteReply { written: done as u32 }.encode(body).map_err(too_big)
    }

    /// The file at `path`: the one that is open, if that is still what the path leads to.
    fn open(&mut self, origin: Origin, path: &[u8]) -> Result<&File, Errno> {
        if let Some(file) = fs::open_another(origin, path, FLAGS, FILE_MODE, self.file.as_ref())? {
            self.close();
            regular(&file)?;
            self.file = Some(file);
        }
        self.used = clock::now();
        let file = self.file.as_ref().ok_or(Errno::EIO)?;
        match self.late.iter().position(|(late, _)| late == file.path()) {
            Some(index) => Err(self.late.remove(index).map_or(Errno::EIO, |(_, errno)| errno)),
            None => Ok(file),
        }
    }

    /// Closes the file. An error is told by the next write to it, and in the kernel's log.
    pub(in crate::bus) fn close(&mut self) {
        let Some(file) = self.file.take() else { return };
        let Err(errno) = file.flush() else { return };
        kprintln!("bus: lost what was written to {}: {}", file.path().escape_ascii(), errno.message());
        if self.late.len() == LATE_MAX {
            self.late.pop_front();
        }
        self.late.push_back((file.path().to_vec(), errno));
    }

    /// When nobody has written to the file for so long that it is to be closed, if one is open.
    pub(in crate::bus) fn idle_at(&self) -> Option<Nanos> {
        self.file.is_some().then_some(self.used + IDLE)
    }
}
