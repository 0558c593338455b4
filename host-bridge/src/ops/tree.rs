//! Directories and what is in them.

use std::time::Instant;

use askr_wire::code;
use askr_wire::message::{
    FsInfoReply, NodeType, PathRequest, ReaddirReply, ReaddirRequest, RenameRequest, TruncateRequest,
};

use super::{ENTRIES_MAX, Listing, Operation, decode};
use crate::session::CallError;

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name, any bytes but `/` and NUL.
    pub name: Vec<u8>,
    /// What it is; links are not followed.
    pub node_type: NodeType,
    /// Permission bits.
    pub mode: u16,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content, in seconds since 1970.
    pub mtime: u64,
}

/// A filesystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsInfo {
    /// Bytes in all.
    pub total: u64,
    /// Bytes that are free.
    pub free: u64,
    /// Unit of both, in bytes.
    pub block_size: u32,
    /// Longest name, in bytes.
    pub name_max: u32,
    /// Whether nothing in it can be changed.
    pub read_only: bool,
    /// What it is.
    pub kind: Vec<u8>,
    /// Where it is mounted.
    pub mount: Vec<u8>,
}

impl Operation<'_> {
    /// All entries of a directory.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn list(&self, path: &[u8]) -> Result<Listing<Entry>, CallError> {
        let (mut entries, mut cursor) = (Vec::new(), 0);
        while entries.len() < ENTRIES_MAX {
            let body = self.read_request(code::READDIR, &ReaddirRequest { cursor, path })?;
            let page: ReaddirReply<'_> = decode(&body)?;
            entries.extend(page.entries.iter().map(|entry| Entry {
                name: entry.name.to_vec(),
                node_type: entry.node_type,
                mode: entry.mode,
                size: entry.size,
                mtime: entry.mtime,
            }));
            if page.next == 0 {
                return Ok(Listing { entries, truncated: false });
            }
            // A page may be empty and not the last: its entries went meanwhile.
            if Instant::now() >= self.give_up {
                return Err(CallError::TimedOut);
            }
            cursor = page.next;
        }
        Ok(Listing { entries, truncated: true })
    }

    /// Facts about the filesystem that a path lies in.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn fs_info(&self, path: &[u8]) -> Result<FsInfo, CallError> {
        let body = self.read_request(code::FSINFO, &PathRequest { path })?;
        let reply: FsInfoReply<'_> = decode(&body)?;
        let bytes = |blocks: u64| blocks.saturating_mul(reply.block_size.into());
        Ok(FsInfo {
            total: bytes(reply.blocks),
            free: bytes(reply.blocks_free),
            block_size: reply.block_size,
            name_max: reply.name_max,
            read_only: reply.read_only,
            kind: reply.kind.to_vec(),
            mount: reply.mount.to_vec(),
        })
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

    /// Removes a file.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn unlink(&self, path: &[u8]) -> Result<(), CallError> {
        decode(&self.request(code::UNLINK, &PathRequest { path }, true)?)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn rmdir(&self, path: &[u8]) -> Result<(), CallError> {
        decode(&self.request(code::RMDIR, &PathRequest { path }, true)?)
    }

    /// Moves a file or a directory; what is at `to` is replaced in the same step.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), CallError> {
        decode(&self.request(code::RENAME, &RenameRequest { from, to }, true)?)
    }

    /// Gives a file this size in bytes.
    ///
    /// # Errors
    /// As [`crate::session::Session::call`].
    pub fn truncate(&self, path: &[u8], size: u64) -> Result<(), CallError> {
        decode(&self.request(code::TRUNCATE, &TruncateRequest { size, path }, true)?)
    }
}
