//! Files, beyond the base: changes of one step, and the pages of a directory.

use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};
use crate::list::List;

/// RENAME: moves a file or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenameRequest<'a> {
    /// Where it is; not yet checked, see [`crate::check_path`].
    pub from: &'a [u8],
    /// Where it will be; what is there is replaced in the same step.
    pub to: &'a [u8],
}

impl<'a> Message<'a> for RenameRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.long_string(self.from)?;
        to.bytes(self.to)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { from: from.long_string()?, to: from.take_rest() })
    }
}

/// TRUNCATE: cuts a file, or extends it with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncateRequest<'a> {
    /// The size it shall have, in bytes.
    pub size: u64,
    /// The file; not yet checked.
    pub path: &'a [u8],
}

impl<'a> Message<'a> for TruncateRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.size)?;
        to.bytes(self.path)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { size: from.u64()?, path: from.take_rest() })
    }
}

/// WRITE_AT: puts data into a file at an offset; a file that is not there is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteAtRequest<'a> {
    /// Where the data goes, in bytes from the front. What lies between the old end and here reads as zeros.
    pub offset: u64,
    /// Answer only after everything written to the file is on its device.
    pub sync: bool,
    /// The file; not yet checked.
    pub path: &'a [u8],
    /// The data.
    pub data: &'a [u8],
}

impl WriteAtRequest<'_> {
    /// Bytes beside path and data.
    pub const HEAD_LEN: usize = 11;
}

impl<'a> Message<'a> for WriteAtRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.offset)?;
        to.flag(self.sync)?;
        to.long_string(self.path)?;
        to.bytes(self.data)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            offset: from.u64()?,
            sync: from.flag()?,
            path: from.long_string()?,
            data: from.take_rest(),
        })
    }
}

/// Body of the response to FSINFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsInfoReply<'a> {
    /// Unit of the two counts after it, in bytes.
    pub block_size: u32,
    /// Blocks in all.
    pub blocks: u64,
    /// Blocks that are free.
    pub blocks_free: u64,
    /// Longest name of a file, in bytes.
    pub name_max: u32,
    /// Whether nothing in it can be changed.
    pub read_only: bool,
    /// What it is, such as `ramfs`; at most 255 bytes.
    pub kind: &'a [u8],
    /// The directory it is mounted at, at most 255 bytes.
    pub mount: &'a [u8],
}

impl<'a> Message<'a> for FsInfoReply<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.block_size)?;
        to.u64(self.blocks)?;
        to.u64(self.blocks_free)?;
        to.u32(self.name_max)?;
        to.flag(self.read_only)?;
        to.short_string(self.kind)?;
        to.short_string(self.mount)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            block_size: from.u32()?,
            blocks: from.u64()?,
            blocks_free: from.u64()?,
            name_max: from.u32()?,
            read_only: from.flag()?,
            kind: from.short_string()?,
            mount: from.short_string()?,
        })
    }
}

/// READDIR: entries of a directory from a cursor on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaddirRequest<'a> {
    /// 0 for the first page, else [`ReaddirReply::next`] of the page before.
    pub cursor: u64,
    /// The directory; not yet checked.
    pub path: &'a [u8],
}

impl<'a> Message<'a> for ReaddirRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.cursor)?;
        to.bytes(self.path)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { cursor: from.u64()?, path: from.take_rest() })
    }
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NodeType {
    /// A regular file.
    File = 1,
    /// A directory.
    Directory = 2,
    /// A symbolic link.
    Symlink = 3,
    /// A device.
    Device = 4,
    /// A pipe with a name.
    Pipe = 5,
}

impl NodeType {
    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match from.u8()? {
            1 => Self::File,
            2 => Self::Directory,
            3 => Self::Symlink,
            4 => Self::Device,
            5 => Self::Pipe,
            _ => return Err(DecodeError::Value),
        })
    }
}

/// One entry in the response to READDIR. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeEntry<'a> {
    /// What it is.
    pub node_type: NodeType,
    /// Permission bits.
    pub mode: u16,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content, in seconds since 1970.
    pub mtime: u64,
    /// Name within the directory, at most 255 bytes.
    pub name: &'a [u8],
}

impl<'a> Message<'a> for NodeEntry<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.node_type as u8)?;
        to.u16(self.mode)?;
        to.u64(self.size)?;
        to.u64(self.mtime)?;
        to.short_string(self.name)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            node_type: NodeType::get(from)?,
            mode: from.u16()?,
            size: from.u64()?,
            mtime: from.u64()?,
            name: from.short_string()?,
        })
    }
}

/// Body of the response to READDIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaddirReply<'a> {
    /// The cursor of the next page; 0 if this is the last one.
    pub next: u64,
    /// As many entries as fit.
    pub entries: List<'a, NodeEntry<'a>>,
}

impl<'a> ReaddirReply<'a> {
    /// Bytes before the list.
    pub const HEAD_LEN: usize = 8;
}

impl<'a> Message<'a> for ReaddirReply<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.next)?;
        self.entries.put(to)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { next: from.u64()?, entries: List::get(from)? })
    }
}
