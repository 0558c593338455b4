//! Files: their bytes, read and written over as many frames as it takes.

use askr_wire::code;
use askr_wire::message::{
    PathRequest, ReadReply, ReadRequest, StatReply, WriteAtRequest, WriteMode, WriteReply, WriteRequest,
};

use super::transfer::Flights;
use super::{OpError, Operation, decode};
use crate::session::CallError;

/// Most bytes that one read returns.
pub const READ_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The bytes.
    pub data: Vec<u8>,
    /// Where they begin in the file.
    pub offset: u64,
    /// The file goes on after them.
    pub truncated: bool,
    /// Length of the whole file; `None` when the guest does not know it (files of `/proc`).
    pub total: Option<u64>,
}

/// How a write treats what the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteTo {
    /// The data becomes the whole content.
    Replace,
    /// The data goes after what is there.
    Append,
    /// The data goes over what is there from this offset on, in bytes.
    Offset(u64),
}

impl Operation<'_> {
    /// Facts about a path.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn stat(&self, path: &[u8]) -> Result<StatReply, CallError> {
        decode(&self.read_request(code::STAT, &PathRequest { path })?)
    }

    /// Bytes of a file from `offset` on: `length` of them, or all, and never more than [`READ_MAX`].
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn read(&self, path: &[u8], offset: u64, length: Option<u64>) -> Result<Content, CallError> {
        let wanted = length.unwrap_or(READ_MAX).min(READ_MAX);
        let mut data = Vec::new();
        loop {
            let (at, left) = (offset.saturating_add(data.len() as u64), wanted - data.len() as u64);
            let chunk = self.read_chunk(path, at, left.max(1))?;
            if chunk.is_empty() || left == 0 {
                let truncated = !chunk.is_empty();
                let total = self.total(path, at, truncated, data.is_empty())?;
                return Ok(Content { data, offset, truncated, total });
            }
            let is_full = chunk.len() == self.read_room();
            data.extend(chunk);
            if is_full {
                self.read_ahead(path, offset, wanted, &mut data)?;
            }
        }
    }

    /// Bytes of a file that one frame brings.
    const fn read_room(&self) -> usize {
        self.room() - 1 - ReadReply::HEAD_LEN
    }

    /// One frame of at most `len` bytes; empty at the end of the file.
    fn read_chunk(&self, path: &[u8], offset: u64, len: u64) -> Result<Vec<u8>, CallError> {
        let len = u32::try_from(len.min(self.read_room() as u64)).unwrap_or(u32::MAX);
        let body = self.read_request(code::READ, &ReadRequest { offset, len, path })?;
        Ok(read_data(&body, len)?.to_vec())
    }

    /// Reads on with several requests outstanding, until there is enough or a frame brings less than it could: the end
    /// of the file, or a file that comes in pieces.
    fn read_ahead(&self, path: &[u8], offset: u64, wanted: u64, data: &mut Vec<u8>) -> Result<(), CallError> {
        let mut flights = Flights::new(self);
        let mut asked = data.len() as u64;
        loop {
            while flights.has_room() && asked < wanted {
                let len = u32::try_from((wanted - asked).min(self.read_room() as u64)).unwrap_or(u32::MAX);
                let at = offset.saturating_add(asked);
                flights.begin(len, code::READ, &ReadRequest { offset: at, len, path })?;
                asked += u64::from(len);
            }
            let Some(next) = flights.next() else { return Ok(()) };
            let (len, body) = next?;
            let chunk = read_data(&body, len)?;
            data.extend_from_slice(chunk);
            if chunk.len() < len as usize {
                return Ok(());
            }
        }
    }

    /// Length of the file, given that reading ended at `end`: by the guest's word where reading does not tell.
    fn total(
        &self,
        path: &[u8],
        end: u64,
        goes_on: bool,
        nothing_read: bool,
    ) -> Result<Option<u64>, CallError> {
        if !goes_on && (end == 0 || !nothing_read) {
            return Ok(Some(end));
        }
        let size = self.stat(path)?.size;
        Ok(Some(size).filter(|&size| if goes_on { size > end } else { size <= end }))
    }

    /// Writes to a file; with `sync` it ends only when everything is on the file's device.
    ///
    /// Only the first frame of a replacement and the frames of an append are lost when their session ends under them;
    /// all others are written at their offset and may be written again.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`]; [`OpError::before`] tells what was already written.
    pub fn write(&self, path: &[u8], data: &[u8], to: WriteTo, sync: bool) -> Result<u64, OpError> {
        let (at, done) = match to {
            WriteTo::Offset(offset) => (offset, 0),
            WriteTo::Replace => {
                let room = self.write_room(WriteRequest::HEAD_LEN + path.len())?;
                let first = &data[..data.len().min(room)];
                let done = self.write_chunk(WriteMode::Replace, path, first)?;
                (0, done)
            }
            WriteTo::Append => return self.append(path, data, sync),
        };
        if done < data.len() || sync || matches!(to, WriteTo::Offset(_)) {
            self.write_rest(path, data, (at, done))?;
        }
        Ok(data.len() as u64)
    }

    /// Appends frame by frame: each may only go out when the one before it has arrived.
    fn append(&self, path: &[u8], data: &[u8], sync: bool) -> Result<u64, OpError> {
        let room = self.write_room(WriteRequest::HEAD_LEN + path.len())?;
        let mut written = 0;
        loop {
            let end = data.len().min(written + room);
            written += self
                .write_chunk(WriteMode::Append, path, &data[written..end])
                .map_err(|error| partial(error, written, data.len()))?;
            if written >= data.len() {
                break;
            }
        }
        if sync {
            let end = self.stat(path)?.size;
            self.write_rest(path, &[], (end, 0))?;
        }
        Ok(written as u64)
    }

    /// Writes `data` from byte `done` on, the front of which lies at `at` in the file. The last frame asks for all of it to
    /// be on the device: only then does a disk tell that it is full.
    fn write_rest(&self, path: &[u8], data: &[u8], (at, done): (u64, usize)) -> Result<(), OpError> {
        let room = self.write_room(WriteAtRequest::HEAD_LEN + path.len())?;
        let mut flights = Flights::new(self);
        let (mut asked, mut written, mut is_synced) = (done, done, false);
        while written < data.len() || !is_synced {
            while flights.has_room() && asked < data.len() {
                let end = data.len().min(asked + room);
                let last = end == data.len();
                if last && !flights.is_empty() {
                    break; // it says that all before it is on the device, so all before it must have arrived
                }
                let offset = at.saturating_add(asked as u64);
                let request = WriteAtRequest { offset, sync: last, path, data: &data[asked..end] };
                flights.begin(end - asked, code::WRITE_AT, &request)?;
                asked = end;
                is_synced |= last;
            }
            if flights.is_empty() {
                let offset = at.saturating_add(asked as u64);
                flights.begin(0, code::WRITE_AT, &WriteAtRequest { offset, sync: true, path, data: &[] })?;
                is_synced = true;
            }
            let Some(next) = flights.next() else { break };
            let (len, body) = next.map_err(|error| partial(unknown_if_late(error), written, data.len()))?;
            let reply: WriteReply = decode(&body)?;
            if reply.written as usize != len {
                return Err(CallError::Protocol("the count of bytes written is impossible").into());
            }
            written += len;
        }
        Ok(())
    }

    /// Bytes of data that a frame takes after `head` others.
    fn write_room(&self, head: usize) -> Result<usize, CallError> {
        let room = self.room().checked_sub(head).filter(|&room| room > 0);
        room.ok_or(CallError::TooLarge { limit: self.room() })
    }

    fn write_chunk(&self, mode: WriteMode, path: &[u8], data: &[u8]) -> Result<usize, CallError> {
        let chunk = WriteRequest { mode, path, data };
        let reply: WriteReply = decode(&self.request(code::WRITE, &chunk, true)?)?;
        match usize::try_from(reply.written) {
            Ok(count) if count <= data.len() && (count > 0 || data.is_empty()) => Ok(count),
            _ => Err(CallError::Protocol("the count of bytes written is impossible")),
        }
    }
}

fn read_data(body: &[u8], len: u32) -> Result<&[u8], CallError> {
    let reply: ReadReply<'_> = decode(body)?;
    if reply.data.len() > len as usize {
        return Err(CallError::Protocol("more bytes were read than asked for"));
    }
    Ok(reply.data)
}

/// A write that may be made twice is no request that changes nothing: without an answer nobody knows.
fn unknown_if_late(error: CallError) -> CallError {
    match error {
        CallError::TimedOut | CallError::SessionLost => {
            CallError::OutcomeUnknown("the guest did not answer a write in time")
        }
        other => other,
    }
}

fn partial(error: CallError, written: usize, total: usize) -> OpError {
    let before = (written > 0).then(|| format!("{written} of {total} bytes were written"));
    OpError { error, before }
}
