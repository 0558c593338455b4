//! READDIR and FSINFO.

use super::{seconds, too_big};
use crate::fs;
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_core::path::NAME_MAX;
use askr_vfs::Kind;
use askr_wire::message::{FsInfoReply, NodeEntry, NodeType, ReaddirReply};
use askr_wire::{List, Message, NoRoom};

/// Bytes of an entry without its name.
const ENTRY: usize = 20;
/// Bytes of the number of entries.
const COUNT: usize = 2;

/// One page of a directory. The names come first: while a directory gives its entries it is locked, and must not be asked
/// for anything else. What the listing does not tell of them is looked up then; a name that has gone meanwhile is left
/// out.
pub(super) fn readdir(cursor: u64, path: &[u8], body: &mut [u8]) -> Result<usize, Errno> {
    let directory = fs::open_directory(path)?;
    let room = body.len().checked_sub(ReaddirReply::HEAD_LEN + COUNT).ok_or(Errno::EOVERFLOW)?;
    let (mut names, mut used, mut last, mut is_end) = (Vec::new(), 0, 0, true);
    directory.node().read_dir(cursor, &mut |entry| {
        let size = ENTRY + entry.name.len();
        is_end = used + size <= room;
        if is_end {
            names.push((entry.name.to_vec(), entry.facts));
            used += size;
            last = entry.next;
        }
        is_end
    })?;
    if names.is_empty() && !is_end {
        return Err(Errno::EOVERFLOW);
    }
    let mounted = fs::mounted_in(directory.node())?;
    let mut nodes = Vec::with_capacity(names.len());
    for (name, told) in &names {
        match told {
            Some(facts) if !mounted.contains(name) => nodes.push((name, *facts)),
            _ => match fs::metadata(directory.node(), name, false) {
                Ok(facts) => nodes.push((name, facts)),
                Err(Errno::ENOENT) => {}
                Err(errno) => return Err(errno),
            },
        }
    }
    let entries = nodes.iter().map(|(name, facts)| NodeEntry {
        node_type: node_type(facts.kind),
        mode: facts.mode as u16,
        size: facts.size,
        mtime: seconds(facts.mtime),
        name,
    });
    let mut scratch = vec![0; room];
    let entries = List::build(entries, &mut scratch).map_err(too_big)?;
    ReaddirReply { next: if is_end { 0 } else { last }, entries }.encode(body).map_err(too_big)
}

/// Facts about the file system that `path` leads to.
pub(super) fn fsinfo(path: &[u8], body: &mut [u8]) -> Result<usize, Errno> {
    let (facts, kind, mount) = fs::file_system(path)?;
    let reply = FsInfoReply {
        block_size: u32::try_from(facts.block_size).map_err(|_| too_big(NoRoom))?,
        blocks: facts.blocks,
        blocks_free: facts.free,
        name_max: NAME_MAX as u32,
        read_only: !facts.writable,
        kind: kind.as_bytes(),
        mount: &mount,
    };
    reply.encode(body).map_err(too_big)
}

const fn node_type(kind: Kind) -> NodeType {
    match kind {
        Kind::File => NodeType::File,
        Kind::Directory => NodeType::Directory,
        Kind::Symlink => NodeType::Symlink,
        Kind::CharDevice => NodeType::Device,
        Kind::Pipe => NodeType::Pipe,
    }
}
