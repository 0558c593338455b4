use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};

/// PS: processes from number `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsRequest {
    /// Number of processes to skip.
    pub start: u32,
}

impl Message<'_> for PsRequest {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.start)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { start: from.u32()? })
    }
}

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ProcessState {
    /// Could run, waits for the processor.
    Ready = 0,
    /// Runs.
    Running = 1,
    /// Waits for something else than the processor.
    Blocked = 2,
    /// Has ended; its parent did not yet fetch the exit code.
    Zombie = 3,
}

/// One process in the response to PS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEntry<'a> {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// What it is doing.
    pub state: ProcessState,
    /// Whether it runs in ring 3.
    pub is_user: bool,
    /// Name of the program, at most 255 bytes.
    pub name: &'a [u8],
}

impl<'a> Message<'a> for ProcessEntry<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.pid)?;
        to.u32(self.tid)?;
        to.u8(self.state as u8)?;
        to.u8(u8::from(self.is_user))?;
        to.short_string(self.name)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (pid, tid) = (from.u32()?, from.u32()?);
        let state = match from.u8()? {
            0 => ProcessState::Ready,
            1 => ProcessState::Running,
            2 => ProcessState::Blocked,
            3 => ProcessState::Zombie,
            _ => return Err(DecodeError::Value),
        };
        let is_user = match from.u8()? {
            0 => false,
            1 => true,
            _ => return Err(DecodeError::Value),
        };
        Ok(Self { pid, tid, state, is_user, name: from.short_string()? })
    }
}
