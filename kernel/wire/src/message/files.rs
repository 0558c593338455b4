use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};

/// Most entries in one response to LIST.
pub const LIST_ENTRIES_MAX: usize = 16;

/// STAT, MKDIR, REMOVE: the path and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRequest<'a> {
    /// Absolute path; not yet checked, see [`crate::check_path`].
    pub path: &'a [u8],
}

impl<'a> Message<'a> for PathRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.bytes(self.path)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { path: from.take_rest() })
    }
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FileType {
    /// Anything that is read and written as bytes.
    File = 1,
    /// A directory.
    Directory = 2,
}

impl FileType {
    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match from.u8()? {
            1 => Ok(Self::File),
            2 => Ok(Self::Directory),
            _ => Err(DecodeError::Value),
        }
    }
}

/// Body of the response to STAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatReply {
    /// File or directory.
    pub file_type: FileType,
    /// Permission bits.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content, in seconds since 1970.
    pub mtime: u64,
    /// Last access, in seconds since 1970.
    pub atime: u64,
    /// Last change of the node, in seconds since 1970.
    pub ctime: u64,
}

impl Message<'_> for StatReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.file_type as u8)?;
        to.u16(self.mode)?;
        to.u32(self.uid)?;
        to.u32(self.gid)?;
        to.u64(self.size)?;
        to.u64(self.mtime)?;
        to.u64(self.atime)?;
        to.u64(self.ctime)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            file_type: FileType::get(from)?,
            mode: from.u16()?,
            uid: from.u32()?,
            gid: from.u32()?,
            size: from.u64()?,
            mtime: from.u64()?,
            atime: from.u64()?,
            ctime: from.u64()?,
        })
    }
}

/// LIST: entries of a directory from number `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRequest<'a> {
    /// Number of entries to skip.
    pub start: u32,
    /// The directory; not yet checked.
    pub path: &'a [u8],
}

impl<'a> Message<'a> for ListRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.start)?;
        to.bytes(self.path)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { start: from.u32()?, path: from.take_rest() })
    }
}

/// One entry in the response to LIST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirEntry<'a> {
    /// File or directory.
    pub file_type: FileType,
    /// Size in bytes.
    pub size: u64,
    /// Name within the directory, at most 255 bytes.
    pub name: &'a [u8],
}

impl<'a> Message<'a> for DirEntry<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.file_type as u8)?;
        to.u64(self.size)?;
        to.short_string(self.name)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { file_type: FileType::get(from)?, size: from.u64()?, name: from.short_string()? })
    }
}

/// READ: bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest<'a> {
    /// Where to start, in bytes.
    pub offset: u64,
    /// How many bytes at most; clamped to one frame.
    pub len: u32,
    /// The file; not yet checked.
    pub path: &'a [u8],
}

impl<'a> Message<'a> for ReadRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.offset)?;
        to.u32(self.len)?;
        to.bytes(self.path)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { offset: from.u64()?, len: from.u32()?, path: from.take_rest() })
    }
}

/// Body of the response to READ; no data means end of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadReply<'a> {
    /// The bytes read.
    pub data: &'a [u8],
}

impl ReadReply<'_> {
    /// Bytes of the count before the data.
    pub const HEAD_LEN: usize = 4;
}

impl<'a> Message<'a> for ReadReply<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(u32::try_from(self.data.len()).map_err(|_| NoRoom)?)?;
        to.bytes(self.data)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let len = usize::try_from(from.u32()?).map_err(|_| DecodeError::Short)?;
        Ok(Self { data: from.bytes(len)? })
    }
}

/// How WRITE treats what the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WriteMode {
    /// The data becomes the whole content.
    Replace = 0,
    /// The data goes after what is there.
    Append = 1,
}

/// WRITE: puts data into a file, which is made if it is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRequest<'a> {
    /// Replace or append.
    pub mode: WriteMode,
    /// The file; not yet checked.
    pub path: &'a [u8],
    /// The data.
    pub data: &'a [u8],
}

impl WriteRequest<'_> {
    /// Bytes beside path and data.
    pub const HEAD_LEN: usize = 3;
}

impl<'a> Message<'a> for WriteRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.mode as u8)?;
        to.long_string(self.path)?;
        to.bytes(self.data)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mode = match from.u8()? {
            0 => WriteMode::Replace,
            1 => WriteMode::Append,
            _ => return Err(DecodeError::Value),
        };
        Ok(Self { mode, path: from.long_string()?, data: from.take_rest() })
    }
}

/// Body of the response to WRITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteReply {
    /// Bytes written.
    pub written: u32,
}

impl Message<'_> for WriteReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.written)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { written: from.u32()? })
    }
}
