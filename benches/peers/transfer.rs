//! Files over a line of our own, several requests outstanding at a time.

use std::collections::VecDeque;

use askr_wire::message::{ReadReply, ReadRequest, WriteAtRequest, WriteMode, WriteReply, WriteRequest};
use askr_wire::{Message, SESSION_HEAD_LEN, code};

use crate::Result;
use crate::line::Line;

/// Requests outstanding at a time, as the bridge has it: within the window of a session.
const DEPTH: usize = 6;
/// Bytes of an answer to READ before those of the file: the session's, the status, and its own.
const READ_HEAD: usize = SESSION_HEAD_LEN + 1 + ReadReply::HEAD_LEN;
/// Bytes of WRITE_AT before its path and its data.
const WRITE_HEAD: usize = 11;

impl Line {
    /// The whole file, of which the size is known.
    pub(crate) fn read_file(&mut self, path: &str, size: usize) -> Result<Vec<u8>> {
        let room = self.payload_limit - READ_HEAD;
        let (mut data, mut asked, mut waiting) = (Vec::with_capacity(size), 0, VecDeque::new());
        while data.len() < size {
            while waiting.len() < DEPTH && asked < size {
                let len = room.min(size - asked);
                let request =
                    ReadRequest { offset: asked as u64, len: u32::try_from(len)?, path: path.as_bytes() };
                waiting.push_back(self.send(code::READ, &request)?.0);
                asked += len;
            }
            let Some(seq) = waiting.pop_front() else { break };
            let body = self.answer(seq, code::READ)?;
            let part = ReadReply::decode(&body).map_err(|_| "a malformed answer to READ")?;
            if part.data.is_empty() {
                return Err(format!("{path} ends after {} bytes", data.len()).into());
            }
            data.extend_from_slice(part.data);
        }
        Ok(data)
    }

    /// Makes this the content of the file.
    pub(crate) fn write_file(&mut self, path: &str, data: &[u8]) -> Result<()> {
        let room = self.payload_limit - SESSION_HEAD_LEN - WRITE_HEAD - path.len();
        let (first, rest) = data.split_at(data.len().min(room));
        let replace = WriteRequest { mode: WriteMode::Replace, path: path.as_bytes(), data: first };
        written(&self.call(code::WRITE, &replace)?, first.len())?;
        let mut waiting = VecDeque::new();
        for (number, piece) in rest.chunks(room).enumerate() {
            let offset = (first.len() + number * room) as u64;
            let request = WriteAtRequest { offset, sync: false, path: path.as_bytes(), data: piece };
            waiting.push_back((self.send(code::WRITE_AT, &request)?.0, piece.len()));
            if waiting.len() == DEPTH
                && let Some((seq, len)) = waiting.pop_front()
            {
                written(&self.answer(seq, code::WRITE_AT)?, len)?;
            }
        }
        for (seq, len) in waiting {
            written(&self.answer(seq, code::WRITE_AT)?, len)?;
        }
        Ok(())
    }
}

fn written(body: &[u8], wanted: usize) -> Result<()> {
    let reply = WriteReply::decode(body).map_err(|_| "a malformed answer to a write")?;
    if reply.written as usize == wanted { Ok(()) } else { Err("only part was written".into()) }
}
