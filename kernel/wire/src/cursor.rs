//! Bounded cursors over payloads, and the trait of everything that has a layout.

/// Why a payload is not the message its code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// It ends inside a field.
    Short,
    /// Something follows the last field.
    Trailing,
    /// A field holds a value that nobody knows.
    Value,
}

impl core::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Short => "message ends inside a field",
            Self::Trailing => "bytes after the last field of the message",
            Self::Value => "unknown value in a field of the message",
        })
    }
}

impl core::error::Error for DecodeError {}

/// The message does not fit: the buffer is too small, or a string or list is longer than its length field
/// can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

impl core::fmt::Display for NoRoom {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("message does not fit into its buffer or its length field")
    }
}

impl core::error::Error for NoRoom {}

/// Something with a fixed layout: a payload, a response body, or an item of a list.
pub trait Message<'a>: Sized {
    /// Appends the fields.
    ///
    /// # Errors
    /// [`NoRoom`]; part of the fields may have been written.
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom>;

    /// Takes the fields from the front of what is left.
    ///
    /// # Errors
    /// [`DecodeError::Short`] or [`DecodeError::Value`].
    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Writes the message to the front of `out` and returns its length in bytes.
    ///
    /// # Errors
    /// [`NoRoom`]; what `out` holds is then of no use.
    fn encode(&self, out: &mut [u8]) -> Result<usize, NoRoom> {
        let mut writer = Writer::new(out);
        self.put(&mut writer)?;
        Ok(writer.len())
    }

    /// The message that `bytes` are, exactly: nothing is missing and nothing follows.
    ///
    /// # Errors
    /// Any [`DecodeError`].
    fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let message = Self::get(&mut reader)?;
        if reader.rest().is_empty() { Ok(message) } else { Err(DecodeError::Trailing) }
    }
}

/// No body: the request of a verb without arguments, the body of a response that has only its status.
impl Message<'_> for () {
    fn put(&self, _to: &mut Writer<'_>) -> Result<(), NoRoom> {
        Ok(())
    }

    fn get(_from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(())
    }
}

/// Reads little-endian fields from the front of a slice.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the front of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    /// What was not yet read, without reading it.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.left
    }

    /// Reads all that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.left)
    }

    /// Reads `len` bytes.
    ///
    /// # Errors
    /// [`DecodeError::Short`] if fewer are left.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, left) = self.left.split_at_checked(len).ok_or(DecodeError::Short)?;
        self.left = left;
        Ok(taken)
    }

    /// Reads an array.
    ///
    /// # Errors
    /// [`DecodeError::Short`] if fewer than `N` bytes are left.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (taken, left) = self.left.split_first_chunk().ok_or(DecodeError::Short)?;
        self.left = left;
        Ok(*taken)
    }

    /// Reads a byte that is 0 or 1.
    ///
    /// # Errors
    /// [`DecodeError::Short`], or [`DecodeError::Value`] for any other byte.
    pub fn flag(&mut self) -> Result<bool, DecodeError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::Value),
        }
    }

    /// Reads a string with a length of one byte before it.
    ///
    /// # Errors
    /// [`DecodeError::Short`] if fewer bytes are left than the length says.
    pub fn short_string(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.u8()?;
        self.bytes(usize::from(len))
    }

    /// Reads a string with a length of two bytes before it.
    ///
    /// # Errors
    /// [`DecodeError::Short`] if fewer bytes are left than the length says.
    pub fn long_string(&mut self) -> Result<&'a [u8], DecodeError> {
        let len = self.u16()?;
        self.bytes(usize::from(len))
    }
}

/// Writes little-endian fields to the front of a slice.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl<'a> Writer<'a> {
    /// A writer at the front of `out`.
    #[must_use]
    pub const fn new(out: &'a mut [u8]) -> Self {
        Self { out, len: 0 }
    }

    /// Bytes written so far.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a count of what was written, not a container")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Forgets what was written after the first `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Gives back the buffer and the number of bytes written to it.
    pub(crate) fn into_parts(self) -> (&'a mut [u8], usize) {
        (self.out, self.len)
    }

    /// Writes `bytes` as they are.
    ///
    /// # Errors
    /// [`NoRoom`] if fewer bytes are free; then nothing is written.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        let end = self.len.checked_add(bytes.len()).ok_or(NoRoom)?;
        self.out.get_mut(self.len..end).ok_or(NoRoom)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// Writes a byte that is 0 or 1.
    ///
    /// # Errors
    /// [`NoRoom`] if it does not fit.
    pub fn flag(&mut self, value: bool) -> Result<(), NoRoom> {
        self.u8(u8::from(value))
    }

    /// Writes a string with a length of one byte before it.
    ///
    /// # Errors
    /// [`NoRoom`] if it does not fit or is over 255 bytes long.
    pub fn short_string(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        self.u8(u8::try_from(bytes.len()).map_err(|_| NoRoom)?)?;
        self.bytes(bytes)
    }

    /// Writes a string with a length of two bytes before it.
    ///
    /// # Errors
    /// [`NoRoom`] if it does not fit or is over 65535 bytes long.
    pub fn long_string(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        self.u16(u16::try_from(bytes.len()).map_err(|_| NoRoom)?)?;
        self.bytes(bytes)
    }
}

macro_rules! integers {
    ($($int:ident)*) => {
        impl Reader<'_> {
            $(
                /// Reads a little-endian integer.
                ///
                /// # Errors
                /// [`DecodeError::Short`] if too few bytes are left.
                pub fn $int(&mut self) -> Result<$int, DecodeError> {
                    self.array().map($int::from_le_bytes)
                }
            )*
        }

        impl Writer<'_> {
            $(
                /// Writes a little-endian integer.
                ///
                /// # Errors
                /// [`NoRoom`] if it does not fit.
                pub fn $int(&mut self, value: $int) -> Result<(), NoRoom> {
                    self.bytes(&value.to_le_bytes())
                }
            )*
        }
    };
}

integers! { u8 u16 u32 u64 }
