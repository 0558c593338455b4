use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};

/// The payload of an EVENT about a process; which event it is stands in the frame's `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEvent<'a> {
    /// The process.
    pub pid: u32,
    /// Spawn: the parent's pid. Else 0.
    pub aux: u32,
    /// Exit: the exit code. Fault: the vector of the exception. Else 0.
    pub info: u32,
    /// Name of the program, at most 255 bytes.
    pub name: &'a [u8],
}

impl<'a> Message<'a> for ProcessEvent<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.pid)?;
        to.u32(self.aux)?;
        to.u32(self.info)?;
        to.short_string(self.name)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { pid: from.u32()?, aux: from.u32()?, info: from.u32()?, name: from.short_string()? })
    }
}
