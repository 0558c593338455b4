use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};
use crate::list::List;

/// The payload of an EVENT; which event it is stands in the frame's `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEvent<'a> {
    /// The process; 0 if it is about none.
    pub pid: u32,
    /// Spawn: the parent's pid. Out of memory: who wanted more. Else 0.
    pub aux: u32,
    /// Exit: the exit code. Fault: the vector of the exception. Out of memory: what the process had, in KiB. Else 0.
    pub info: u32,
    /// Name of the program, at most 255 bytes. A full disk: where it is mounted. A panic: its message.
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

/// Number of registers in [`FaultFacts::registers`].
pub const REGISTERS: usize = 17;
/// Their names, in order.
pub const REGISTER_NAMES: [&str; REGISTERS] = [
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "rflags",
];
/// Most return addresses in [`FaultFacts::backtrace`].
pub const BACKTRACE_MAX: usize = 16;

/// What is known of a fault: in the ext of a fault event ([`crate::ext::FAULT_FACTS`]) and in the response to WAIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultFacts<'a> {
    /// The signal that ended the process.
    pub signal: u8,
    /// Vector of the exception (Intel SDM vol. 3A, 6.3).
    pub vector: u8,
    /// The error code that the processor gave, 0 if it gave none.
    pub error: u64,
    /// The address that was accessed, for a page fault; else 0.
    pub address: u64,
    /// Where the program was.
    pub rip: u64,
    /// Its registers, in the order of [`REGISTER_NAMES`].
    pub registers: [u64; REGISTERS],
    /// Return addresses by frame pointers, the innermost first; at most [`BACKTRACE_MAX`].
    pub backtrace: List<'a, Address>,
}

impl<'a> Message<'a> for FaultFacts<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.signal)?;
        to.u8(self.vector)?;
        for value in [self.error, self.address, self.rip] {
            to.u64(value)?;
        }
        for value in self.registers {
            to.u64(value)?;
        }
        self.backtrace.put(to)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (signal, vector) = (from.u8()?, from.u8()?);
        let (error, address, rip) = (from.u64()?, from.u64()?, from.u64()?);
        let mut registers = [0; REGISTERS];
        for value in &mut registers {
            *value = from.u64()?;
        }
        Ok(Self { signal, vector, error, address, rip, registers, backtrace: List::get(from)? })
    }
}

/// An address in a backtrace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub u64);

impl Message<'_> for Address {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.0)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(from.u64()?))
    }
}

/// EVENTS: events from a number on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsRequest {
    /// Number of the first event wanted: 0 is the first of this boot.
    pub cursor: u64,
}

impl Message<'_> for EventsRequest {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.cursor)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { cursor: from.u64()? })
    }
}

/// One event in the response to EVENTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedEvent<'a> {
    /// When it happened: nanoseconds since boot.
    pub time_ns: u64,
    /// Which event it is: see [`crate::code`].
    pub code: u16,
    /// What is said about it.
    pub event: ProcessEvent<'a>,
    /// The ext that its EVENT has in a session.
    pub ext: &'a [u8],
}

impl<'a> Message<'a> for LoggedEvent<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.time_ns)?;
        to.u16(self.code)?;
        self.event.put(to)?;
        to.long_string(self.ext)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            time_ns: from.u64()?,
            code: from.u16()?,
            event: ProcessEvent::get(from)?,
            ext: from.long_string()?,
        })
    }
}

/// Body of the response to EVENTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventsReply<'a> {
    /// Events from the cursor on that are not kept any more; `events` begins after them.
    pub lost: u64,
    /// Number of events since boot: where there is nothing to read yet.
    pub count: u64,
    /// As many as fit, without a gap: the first has the number cursor + `lost`.
    pub events: List<'a, LoggedEvent<'a>>,
}

impl EventsReply<'_> {
    /// Bytes before the list.
    pub const HEAD_LEN: usize = 16;
}

impl<'a> Message<'a> for EventsReply<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.lost)?;
        to.u64(self.count)?;
        self.events.put(to)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { lost: from.u64()?, count: from.u64()?, events: List::get(from)? })
    }
}
