//! Files and directories.

use askr_wire::message::{
    DirEntry, ListRequest, PathRequest, ReadReply, ReadRequest, StatReply, WriteMode, WriteReply,
    WriteRequest,
};
use askr_wire::{List, code};

use super::{Entry, Listing, OpError, Operation, all_pages, decode};
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

impl Operation<'_> {
    /// Facts about a path.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn stat(&self, path: &[u8]) -> Result<StatReply, CallError> {
        decode(&self.read_request(code::STAT, &PathRequest { path })?)
    }

    /// All entries of a directory.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn list(&self, path: &[u8]) -> Result<Listing<Entry>, CallError> {
        all_pages(|start| {
            let body = self.read_request(code::LIST, &ListRequest { start, path })?;
            let page: List<'_, DirEntry<'_>> = decode(&body)?;
            let own = |entry: DirEntry<'_>| Entry {
                name: entry.name.to_vec(),
                file_type: entry.file_type,
                size: entry.size,
            };
            Ok(page.iter().map(own).collect())
        })
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
            data.extend(chunk);
        }
    }

    /// One frame of at most `len` bytes; empty at the end of the file.
    fn read_chunk(&self, path: &[u8], offset: u64, len: u64) -> Result<Vec<u8>, CallError> {
        let room = self.room() - 1 - ReadReply::HEAD_LEN;
        let len = u32::try_from(len.min(room as u64)).unwrap_or(u32::MAX);
        let body = self.read_request(code::READ, &ReadRequest { offset, len, path })?;
        let reply: ReadReply<'_> = decode(&body)?;
        if reply.data.len() > len as usize {
            return Err(CallError::Protocol("more bytes were read than asked for"));
        }
        Ok(reply.data.to_vec())
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

    /// Replaces a file or appends to it, frame by frame.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`]; [`OpError::before`] tells what was already written.
    pub fn write(&self, path: &[u8], data: &[u8], mode: WriteMode) -> Result<u64, OpError> {
        let head = 3 + path.len();
        let Some(room) = self.room().checked_sub(head).filter(|&room| room > 0) else {
            return Err(CallError::TooLarge { limit: self.room() }.into());
        };
        let mut written = 0;
        loop {
            let end = data.len().min(written + room);
            let mode = if written == 0 { mode } else { WriteMode::Append };
            let chunk = WriteRequest { mode, path, data: &data[written..end] };
            written += self.write_chunk(&chunk).map_err(|error| OpError {
                error,
                before: (written > 0).then(|| format!("{written} of {} bytes were written", data.len())),
            })?;
            if written >= data.len() {
                return Ok(written as u64);
            }
        }
    }

    fn write_chunk(&self, chunk: &WriteRequest<'_>) -> Result<usize, CallError> {
        let reply: WriteReply = decode(&self.request(code::WRITE, chunk, true)?)?;
        match usize::try_from(reply.written) {
            Ok(count) if count <= chunk.data.len() && (count > 0 || chunk.data.is_empty()) => Ok(count),
            _ => Err(CallError::Protocol("the count of bytes written is impossible")),
        }
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn mkdir(&self, path: &[u8]) -> Result<(), CallError> {
        decode(&self.request(code::MKDIR, &PathRequest { path }, true)?)
    }

    /// Removes a file or an empty directory.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn remove(&self, path: &[u8]) -> Result<(), CallError> {
        decode(&self.request(code::REMOVE, &PathRequest { path }, true)?)
    }
}
