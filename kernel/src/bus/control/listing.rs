//! READDIR and FSINFO, and the directory that is listed page by page.

use super::{seconds, too_big};
use crate::arch::clock::{self, Nanos, SECOND};
use crate::fs;
use alloc::sync::{Arc, Weak};
use alloc::vec;
use alloc::vec::Vec;
use askr_abi::Errno;
use askr_core::path::NAME_MAX;
use askr_vfs::{File, Kind, Vnode};
use askr_wire::message::{FsInfoReply, NodeEntry, NodeType, ReaddirReply};
use askr_wire::{List, Message, NoRoom};

/// Bytes of an entry without its name.
const ENTRY: usize = 20;
/// Bytes of the number of entries.
const COUNT: usize = 2;

/// A directory that no page is asked of for so long is closed.
const IDLE: Nanos = SECOND;

/// The directory that was listed last. It stays open for its next page: what a file system has found out about the order of
/// its entries it keeps as long as somebody has it open.
pub(in crate::bus) struct Listing {
    directory: Option<File>,
    used: Nanos,
    /// Where the last page of LIST ended: its directory, and the entry that comes next, by number and as a cursor.
    next: Option<(Weak<dyn Vnode>, u32, u64)>,
}

impl Listing {
    pub(super) const fn new() -> Self {
        Self { directory: None, used: 0, next: None }
    }

    /// The directory at `path`, which stays open.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub(super) fn open(&mut self, path: &[u8]) -> Result<Arc<dyn Vnode>, Errno> {
        let directory = fs::open_directory(path)?;
        let node = Arc::clone(directory.node());
        // The one that was open goes only now: if it is the same, it was open throughout.
        self.directory = Some(directory);
        self.used = clock::now();
        Ok(node)
    }

    /// How to come to the entry of a directory with this number: how many are to be passed over, behind which cursor.
    pub(super) fn way_to(&mut self, directory: &Arc<dyn Vnode>, number: u32) -> (u32, u64) {
        match self.next.take() {
            Some((known, next, cursor))
                if next == number && known.upgrade().is_some_and(|known| Arc::ptr_eq(&known, directory)) =>
            {
                (0, cursor)
            }
            _ => (number, 0),
        }
    }

    /// A page of LIST ends before the entry with this number and this cursor.
    pub(super) fn note_page_end(&mut self, directory: &Arc<dyn Vnode>, number: u32, cursor: u64) {
        self.next = Some((Arc::downgrade(directory), number, cursor));
    }

    pub(super) fn close(&mut self) {
        self.directory = None;
    }

    /// When nobody has asked for a page for so long that the directory is to be closed, if one is open.
    pub(super) fn idle_at(&self) -> Option<Nanos> {
        self.directory.is_some().then_some(self.used + IDLE)
    }
}

/// One page of a directory. The names come first: while a directory gives its entries it is locked, and must not be asked
/// for anything else. What the listing does not tell of them is looked up then; a name that has gone meanwhile is left
/// out.
pub(super) fn readdir(
    cursor: u64,
    path: &[u8],
    listing: &mut Listing,
    body: &mut [u8],
) -> Result<usize, Errno> {
    let directory = listing.open(path)?;
    let room = body.len().checked_sub(ReaddirReply::HEAD_LEN + COUNT).ok_or(Errno::EOVERFLOW)?;
    let (mut names, mut used, mut last, mut is_end) = (Vec::new(), 0, 0, true);
    directory.read_dir(cursor, &mut |entry| {
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
    let mounted = fs::mounted_in(&directory)?;
    let mut nodes = Vec::with_capacity(names.len());
    for (name, told) in &names {
        match told {
            Some(facts) if !mounted.contains(name) => nodes.push((name, *facts)),
            _ => match fs::metadata(&directory, name, false) {
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
