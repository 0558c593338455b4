//! Jobs: programs that were started over the bus.

use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};
use crate::list::List;
use crate::message::FaultFacts;

/// An argument or a `NAME=value` of the environment, in the lists of SPAWN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a>(pub &'a [u8]);

impl<'a> Message<'a> for Word<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.long_string(self.0)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self(from.long_string()?))
    }
}

/// What a job reads from its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum StdinPolicy {
    /// Nothing: the end of the file at once.
    Closed = 0,
    /// The bytes of SPAWN and then the end of the file.
    Given = 1,
    /// The bytes of SPAWN and then those of INPUT.
    Open = 2,
}

/// SPAWN: starts a program as a job of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnRequest<'a> {
    /// What it reads.
    pub stdin: StdinPolicy,
    /// After this many milliseconds all of the job is killed; 0 for never.
    pub timeout_ms: u32,
    /// Most bytes that are kept of each of its two outputs; 0 for the usual number.
    pub output_limit: u32,
    /// The program; an absolute path, not yet checked.
    pub path: &'a [u8],
    /// Where it starts; empty for `/`.
    pub cwd: &'a [u8],
    /// Its arguments, the name of the program first.
    pub argv: List<'a, Word<'a>>,
    /// Its environment.
    pub env: List<'a, Word<'a>>,
    /// What it reads first; empty with [`StdinPolicy::Closed`].
    pub input: &'a [u8],
}

impl<'a> Message<'a> for SpawnRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.stdin as u8)?;
        to.u32(self.timeout_ms)?;
        to.u32(self.output_limit)?;
        to.long_string(self.path)?;
        to.long_string(self.cwd)?;
        self.argv.put(to)?;
        self.env.put(to)?;
        to.bytes(self.input)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let stdin = match from.u8()? {
            0 => StdinPolicy::Closed,
            1 => StdinPolicy::Given,
            2 => StdinPolicy::Open,
            _ => return Err(DecodeError::Value),
        };
        let request = Self {
            stdin,
            timeout_ms: from.u32()?,
            output_limit: from.u32()?,
            path: from.long_string()?,
            cwd: from.long_string()?,
            argv: List::get(from)?,
            env: List::get(from)?,
            input: from.take_rest(),
        };
        if stdin == StdinPolicy::Closed && !request.input.is_empty() {
            return Err(DecodeError::Value);
        }
        Ok(request)
    }
}

/// Body of the response to SPAWN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnReply {
    /// Names the job from now on; new in every boot, never used twice.
    pub job: u32,
    /// Its first process.
    pub pid: u32,
}

impl Message<'_> for SpawnReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.job)?;
        to.u32(self.pid)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { job: from.u32()?, pid: from.u32()? })
    }
}

/// WAIT: the answer comes when the first process of a job has ended, or when the time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitRequest {
    /// The job.
    pub job: u32,
    /// Longest time to wait, in milliseconds; 0 to be told how it is now.
    pub wait_ms: u32,
}

impl Message<'_> for WaitRequest {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.job)?;
        to.u32(self.wait_ms)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { job: from.u32()?, wait_ms: from.u32()? })
    }
}

/// How the first process of a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum JobState {
    /// It runs.
    Running = 0,
    /// It has ended by itself, with an exit code.
    Exited = 1,
    /// A signal has ended it.
    Signalled = 2,
}

/// Why the first process of a job has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EndCause {
    /// It did so itself, or runs still.
    Itself = 0,
    /// The time that SPAWN gave it was over.
    Deadline = 1,
    /// KILL ended it.
    Killed = 2,
    /// Memory was used up.
    OutOfMemory = 3,
}

/// Body of the response to WAIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitReply<'a> {
    /// How its first process is.
    pub state: JobState,
    /// Why that has ended.
    pub cause: EndCause,
    /// Its exit code or the number of the signal; 0 while it runs.
    pub code: u32,
    /// Its first process.
    pub pid: u32,
    /// Processes of the job that have not ended.
    pub processes: u32,
    /// Time that its first process has computed, in nanoseconds.
    pub cpu_ns: u64,
    /// Bytes it has written to its standard output.
    pub stdout_total: u64,
    /// Bytes it has written to its standard error output.
    pub stderr_total: u64,
    /// What is known of the fault that ended it.
    pub fault: Option<FaultFacts<'a>>,
}

impl<'a> Message<'a> for WaitReply<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.state as u8)?;
        to.u8(self.cause as u8)?;
        for value in [self.code, self.pid, self.processes] {
            to.u32(value)?;
        }
        for value in [self.cpu_ns, self.stdout_total, self.stderr_total] {
            to.u64(value)?;
        }
        to.flag(self.fault.is_some())?;
        self.fault.map_or(Ok(()), |facts| facts.put(to))
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let state = match from.u8()? {
            0 => JobState::Running,
            1 => JobState::Exited,
            2 => JobState::Signalled,
            _ => return Err(DecodeError::Value),
        };
        let cause = match from.u8()? {
            0 => EndCause::Itself,
            1 => EndCause::Deadline,
            2 => EndCause::Killed,
            3 => EndCause::OutOfMemory,
            _ => return Err(DecodeError::Value),
        };
        Ok(Self {
            state,
            cause,
            code: from.u32()?,
            pid: from.u32()?,
            processes: from.u32()?,
            cpu_ns: from.u64()?,
            stdout_total: from.u64()?,
            stderr_total: from.u64()?,
            fault: if from.flag()? { Some(FaultFacts::get(from)?) } else { None },
        })
    }
}

/// Whom KILL signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KillTarget {
    /// The process with this pid.
    Process = 0,
    /// That process and all that descend from it.
    Tree = 1,
    /// All processes of the job with this number.
    Job = 2,
}

/// KILL: sends a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KillRequest {
    /// What `id` is.
    pub target: KillTarget,
    /// A pid or the number of a job.
    pub id: u32,
    /// Number of the signal, as in `signal(7)`; 0 only looks whether there is somebody.
    pub signal: u8,
}

impl Message<'_> for KillRequest {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.target as u8)?;
        to.u32(self.id)?;
        to.u8(self.signal)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let target = match from.u8()? {
            0 => KillTarget::Process,
            1 => KillTarget::Tree,
            2 => KillTarget::Job,
            _ => return Err(DecodeError::Value),
        };
        Ok(Self { target, id: from.u32()?, signal: from.u8()? })
    }
}

/// Body of the response to KILL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KillReply {
    /// How many processes got the signal.
    pub processes: u32,
}

impl Message<'_> for KillReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.processes)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { processes: from.u32()? })
    }
}

/// One of the two outputs of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OutputStream {
    /// Standard output.
    Stdout = 1,
    /// Standard error output.
    Stderr = 2,
}

/// OUTPUT: what a job has written. The answer comes when there is something after `cursor`, when nothing more can
/// come, or when the time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputRequest {
    /// The job.
    pub job: u32,
    /// Which output.
    pub stream: OutputStream,
    /// Number of bytes that were read before.
    pub cursor: u64,
    /// How many bytes at most; clamped to one frame.
    pub max: u32,
    /// Longest time to wait, in milliseconds.
    pub wait_ms: u32,
}

impl Message<'_> for OutputRequest {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.job)?;
        to.u8(self.stream as u8)?;
        to.u64(self.cursor)?;
        to.u32(self.max)?;
        to.u32(self.wait_ms)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let job = from.u32()?;
        let stream = match from.u8()? {
            1 => OutputStream::Stdout,
            2 => OutputStream::Stderr,
            _ => return Err(DecodeError::Value),
        };
        Ok(Self { job, stream, cursor: from.u64()?, max: from.u32()?, wait_ms: from.u32()? })
    }
}

/// Body of the response to OUTPUT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputReply<'a> {
    /// Bytes after the cursor that are not kept any more; `data` begins after them.
    pub lost: u64,
    /// Bytes written so far.
    pub total: u64,
    /// Whether nothing will be written after `total`: nobody holds this output open.
    pub ended: bool,
    /// What was written from `cursor` + `lost` on.
    pub data: &'a [u8],
}

impl OutputReply<'_> {
    /// Bytes before the data.
    pub const HEAD_LEN: usize = 17;
}

impl<'a> Message<'a> for OutputReply<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.lost)?;
        to.u64(self.total)?;
        to.flag(self.ended)?;
        to.bytes(self.data)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { lost: from.u64()?, total: from.u64()?, ended: from.flag()?, data: from.take_rest() })
    }
}

/// INPUT: bytes for a job that was started with [`StdinPolicy::Open`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputRequest<'a> {
    /// The job.
    pub job: u32,
    /// Whether the input ends after these bytes. It does only if all of them were taken.
    pub eof: bool,
    /// The bytes.
    pub data: &'a [u8],
}

impl InputRequest<'_> {
    /// Bytes before the data.
    pub const HEAD_LEN: usize = 5;
}

impl<'a> Message<'a> for InputRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.job)?;
        to.flag(self.eof)?;
        to.bytes(self.data)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { job: from.u32()?, eof: from.flag()?, data: from.take_rest() })
    }
}

/// Body of the response to INPUT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputReply {
    /// How many of the bytes were taken: fewer when the job does not read them.
    pub accepted: u32,
}

impl Message<'_> for InputReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.accepted)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { accepted: from.u32()? })
    }
}
