//! What a job has as its standard output or error output: it takes everything and never waits.

use crate::fs::{DEV_PIPE, now};
use alloc::sync::Arc;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{O_WRONLY, Timespec};
use askr_vfs::{File, Kind, Metadata, Vnode};
use askr_wire::message::OutputStream;

/// The numbers of outputs lie above those of pipes.
const INO_OUTPUTS: u64 = 1 << 62;

/// One of the two outputs. When nobody holds it open any more it is dropped, and that is told.
struct Output {
    job: u32,
    stream: OutputStream,
    made: Timespec,
}

/// An output, opened for writing.
pub(super) fn open(job: u32, stream: OutputStream) -> File {
    File::new(Arc::new(Output { job, stream, made: now() }), Vec::new(), O_WRONLY, 0)
}

impl Vnode for Output {
    fn kind(&self) -> Kind {
        Kind::Pipe
    }

    fn metadata(&self) -> Result<Metadata, Errno> {
        let ino = INO_OUTPUTS | u64::from(self.job) << 2 | self.stream as u64;
        let bare = Metadata::bare(Kind::Pipe, 0o600, DEV_PIPE, ino);
        Ok(Metadata { mtime: self.made, ctime: self.made, ..bare })
    }

    fn write_at(&self, _offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        super::write(self.job, self.stream, bytes);
        Ok(bytes.len())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        super::close(self.job, self.stream);
    }
}
