//! Files, as the base generation has them.

use super::{Listing, Reading, seconds, too_big};
use crate::fs;
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{O_APPEND, O_CREAT, O_TRUNC, O_WRONLY};
use askr_agentbus::policy::Origin;
use askr_vfs::{File, Kind, Metadata};
use askr_wire::message::{DirEntry, FileType, LIST_ENTRIES_MAX, ReadReply, StatReply, WriteMode, WriteReply};
use askr_wire::{ListWriter, Message};

/// Rights of a file that the agent makes.
pub(super) const FILE_MODE: u32 = 0o644;

pub(super) fn stat(path: &[u8], body: &mut [u8]) -> Result<usize, Errno> {
    let facts = fs::metadata(&fs::root(), path, true)?;
    let reply = StatReply {
        file_type: file_type(facts.kind),
        mode: facts.mode as u16,
        uid: 0,
        gid: 0,
        size: facts.size,
        mtime: seconds(facts.mtime),
        atime: seconds(facts.mtime),
        ctime: seconds(facts.ctime),
    };
    reply.encode(body).map_err(too_big)
}

pub(super) fn list(start: u32, path: &[u8], listing: &mut Listing, body: &mut [u8]) -> Result<usize, Errno> {
    let directory = listing.open(path)?;
    let (mut to_skip, cursor) = listing.way_to(&directory, start);
    // Names first: while a directory gives its entries it is locked, and must not be asked for anything else.
    let mut entries = Vec::with_capacity(LIST_ENTRIES_MAX);
    directory.read_dir(cursor, &mut |entry| {
        if to_skip > 0 {
            to_skip -= 1;
            return true;
        }
        entries.push((entry.name.to_vec(), entry.kind, entry.next));
        entries.len() < LIST_ENTRIES_MAX
    })?;
    let mut writer = ListWriter::new(body).map_err(too_big)?;
    for (name, kind, next) in &entries {
        // A node that has gone meanwhile still has its name, but no size any more.
        let facts = directory.lookup(name).and_then(|node| node.metadata());
        let size = facts.map_or(0, |facts: Metadata| facts.size);
        if writer.push(&DirEntry { file_type: file_type(*kind), size, name }).is_err() {
            break;
        }
        listing.note_page_end(&directory, start.saturating_add(writer.count().into()), *next);
    }
    if writer.count() == 0 && !entries.is_empty() { Err(Errno::EOVERFLOW) } else { Ok(writer.finish()) }
}

pub(super) fn read(
    origin: Origin,
    offset: u64,
    len: u32,
    path: &[u8],
    reading: &mut Reading,
    body: &mut [u8],
) -> Result<usize, Errno> {
    let file = reading.open(origin, offset, path)?;
    regular(&file)?;
    let room = body.len() - ReadReply::HEAD_LEN;
    let mut data = vec![0; room.min(len as usize)];
    let mut done = 0;
    while done < data.len() {
        let Some(at) = offset.checked_add(done as u64) else { break };
        match file.read_at(at, &mut data[done..])? {
            0 => break,
            count => done += count,
        }
    }
    reading.keep(file, origin, path);
    ReadReply { data: &data[..done] }.encode(body).map_err(too_big)
}

pub(super) fn write(
    origin: Origin,
    mode: WriteMode,
    path: &[u8],
    data: &[u8],
    body: &mut [u8],
) -> Result<usize, Errno> {
    let how = match mode {
        WriteMode::Replace => O_TRUNC,
        WriteMode::Append => O_APPEND,
    };
    let file = fs::open(origin, &fs::root(), path, O_WRONLY | O_CREAT | how, FILE_MODE)?;
    regular(&file)?;
    let mut done = 0;
    while done < data.len() {
        match file.write(&data[done..])? {
            0 => return Err(Errno::EIO),
            count => done += count,
        }
    }
    // A disk that is full or fails may say so only now.
    file.flush()?;
    WriteReply { written: done as u32 }.encode(body).map_err(too_big)
}

/// Devices and directories are not read or written over the bus: a terminal would make the bus wait.
pub(super) fn regular(file: &File) -> Result<(), Errno> {
    match file.kind() {
        Kind::File => Ok(()),
        Kind::Directory => Err(Errno::EISDIR),
        _ => Err(Errno::EINVAL),
    }
}

const fn file_type(kind: Kind) -> FileType {
    match kind {
        Kind::Directory => FileType::Directory,
        _ => FileType::File,
    }
}
