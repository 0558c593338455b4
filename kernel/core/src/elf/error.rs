//! Why a program is not loaded.

use core::fmt;

use askr_abi::Errno;

/// Why a program is not loaded. Addresses are those of the file, before a static-PIE is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElfError {
    /// It does not start with the ELF magic number.
    NotElf,
    /// A header is cut off, or of another version, byte order or size than this kernel's.
    Malformed,
    /// It is for another machine (the `e_machine` number), or 32-bit.
    Machine(u16),
    /// It is not a program (the `e_type` number).
    Type(u16),
    /// It asks for a dynamic linker (PT_INTERP).
    Dynamic,
    /// It has nothing to load.
    NoSegments,
    /// It has more segments than [`super::SEGMENTS_MAX`] or headers than [`super::PROGRAM_HEADERS_MAX`].
    TooManySegments,
    /// The segment at this address is both writable and executable.
    WriteExecute(u64),
    /// The segment at this address has more bytes in the file than in memory.
    FileSize(u64),
    /// The file ends before the segment at this address does.
    Truncated(u64),
    /// The segment at this address lies outside what programs may use.
    OutsideUser(u64),
    /// The segment at this address comes after one with a higher address.
    Order(u64),
    /// The segment at this address overlaps the one before.
    Overlap(u64),
    /// The segment at this address shares a page with one that has other rights.
    SharedPage(u64),
    /// A segment asks for this alignment: not a power of two, or over [`super::ALIGN_MAX`].
    Align(u64),
    /// The entry point lies in no executable segment.
    Entry(u64),
}

impl ElfError {
    /// What `execve` returns: ENOMEM for addresses that cannot be had, else ENOEXEC.
    #[must_use]
    pub const fn errno(self) -> Errno {
        match self {
            Self::OutsideUser(_) => Errno::ENOMEM,
            _ => Errno::ENOEXEC,
        }
    }
}

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotElf => write!(f, "not an ELF file"),
            Self::Malformed => write!(f, "ELF header cut off or not 64-bit little-endian version 1"),
            Self::Machine(machine) => write!(f, "built for machine {machine}, not for 64-bit x86 (62)"),
            Self::Type(kind) => write!(f, "ELF type {kind} is not a program: link it as an executable"),
            Self::Dynamic => write!(f, "needs a dynamic linker: link it with -static"),
            Self::NoSegments => write!(f, "has nothing to load"),
            Self::TooManySegments => write!(f, "has too many segments"),
            Self::WriteExecute(at) => {
                write!(f, "segment at {at:#x} is writable and executable: separate code from data")
            }
            Self::FileSize(at) => write!(f, "segment at {at:#x} is larger in the file than in memory"),
            Self::Truncated(at) => write!(f, "the file ends inside the segment at {at:#x}"),
            Self::OutsideUser(at) => write!(f, "segment at {at:#x} lies outside the space of programs"),
            Self::Order(at) => write!(f, "segment at {at:#x} is out of order"),
            Self::Overlap(at) => write!(f, "segment at {at:#x} overlaps the one before"),
            Self::SharedPage(at) => {
                write!(f, "segment at {at:#x} shares a page with one of other rights: align it to 4096")
            }
            Self::Align(align) => write!(f, "segment alignment {align:#x} is no power of two or too large"),
            Self::Entry(at) => write!(f, "entry point {at:#x} is not in an executable segment"),
        }
    }
}

impl core::error::Error for ElfError {}
