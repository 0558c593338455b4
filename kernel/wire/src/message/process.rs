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

/// PS2: processes with a pid above `after`, in the order of their pids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ps2Request {
    /// 0 for the first page, else the last pid of the page before.
    pub after: u32,
}

impl Message<'_> for Ps2Request {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.after)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { after: from.u32()? })
    }
}

/// What a process is doing, in PS2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TaskState {
    /// Could run, waits for the processor.
    Ready = 0,
    /// Runs.
    Running = 1,
    /// Waits for something else than the processor.
    Blocked = 2,
    /// Has ended; its parent did not yet fetch the exit code.
    Zombie = 3,
    /// Was stopped by a signal.
    Stopped = 4,
}

impl TaskState {
    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match from.u8()? {
            0 => Self::Ready,
            1 => Self::Running,
            2 => Self::Blocked,
            3 => Self::Zombie,
            4 => Self::Stopped,
            _ => return Err(DecodeError::Value),
        })
    }
}

/// On whose behalf a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ProcessOrigin {
    /// The kernel's own.
    Kernel = 0,
    /// A person's, at COM1.
    Console = 1,
    /// An agent's, over the bus.
    Agent = 2,
}

/// One process in the response to PS2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessFacts<'a> {
    /// Process id.
    pub pid: u32,
    /// The process that it is a child of; 0 for none.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// The job it belongs to; 0 for none.
    pub job: u32,
    /// What it is doing.
    pub state: TaskState,
    /// On whose behalf.
    pub origin: ProcessOrigin,
    /// Its exit code while it is a zombie, else 0; 128 and the number of the signal if one ended it.
    pub code: u32,
    /// Time it has computed, in nanoseconds.
    pub cpu_ns: u64,
    /// Memory in use for it, in bytes.
    pub memory: u64,
    /// Time since it was started, in nanoseconds.
    pub age_ns: u64,
    /// Name of the program, at most 255 bytes.
    pub name: &'a [u8],
}

impl<'a> Message<'a> for ProcessFacts<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        for value in [self.pid, self.parent, self.group, self.job] {
            to.u32(value)?;
        }
        to.u8(self.state as u8)?;
        to.u8(self.origin as u8)?;
        to.u32(self.code)?;
        for value in [self.cpu_ns, self.memory, self.age_ns] {
            to.u64(value)?;
        }
        to.short_string(self.name)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (pid, parent, group, job) = (from.u32()?, from.u32()?, from.u32()?, from.u32()?);
        let state = TaskState::get(from)?;
        let origin = match from.u8()? {
            0 => ProcessOrigin::Kernel,
            1 => ProcessOrigin::Console,
            2 => ProcessOrigin::Agent,
            _ => return Err(DecodeError::Value),
        };
        Ok(Self {
            pid,
            parent,
            group,
            job,
            state,
            origin,
            code: from.u32()?,
            cpu_ns: from.u64()?,
            memory: from.u64()?,
            age_ns: from.u64()?,
            name: from.short_string()?,
        })
    }
}
