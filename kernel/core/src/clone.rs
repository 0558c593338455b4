//! What a program asks for with `clone(2)`, as far as it can be had: a process of its own.

use askr_abi::Errno;
use askr_abi::signal::{NSIG, SIGCHLD};

const CSIGNAL: u64 = 0xff;
const CLONE_VM: u64 = 0x100;
const CLONE_SIGHAND: u64 = 0x800;
const CLONE_PTRACE: u64 = 0x2000;
const CLONE_VFORK: u64 = 0x4000;
const CLONE_THREAD: u64 = 0x1_0000;
const CLONE_SETTLS: u64 = 0x8_0000;
const CLONE_PARENT_SETTID: u64 = 0x10_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
const CLONE_DETACHED: u64 = 0x40_0000;
const CLONE_UNTRACED: u64 = 0x80_0000;
const CLONE_CHILD_SETTID: u64 = 0x100_0000;

/// A new process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloneRequest {
    /// It uses the caller's memory until it executes a program or ends.
    pub shares_memory: bool,
    /// The caller waits until then.
    pub waits: bool,
    /// The signal that the caller gets at its end; 0 for none.
    pub end_signal: u32,
    /// Its number is stored in the caller's memory.
    pub set_parent_tid: bool,
    /// Its number is stored in its own memory.
    pub set_child_tid: bool,
    /// That place is cleared when it gives the caller's memory back.
    pub clear_child_tid: bool,
    /// It gets a thread-local storage of its own.
    pub set_tls: bool,
}

impl CloneRequest {
    /// `fork(2)`.
    pub const FORK: Self = Self {
        shares_memory: false,
        waits: false,
        end_signal: SIGCHLD,
        set_parent_tid: false,
        set_child_tid: false,
        clear_child_tid: false,
        set_tls: false,
    };
    /// `vfork(2)`.
    pub const VFORK: Self = Self { shares_memory: true, waits: true, ..Self::FORK };

    /// From the first argument of `clone(2)`.
    ///
    /// # Errors
    /// EINVAL for what makes no sense anywhere, ENOSYS for what is not to be had here: threads, memory that is shared with a
    /// caller that runs on, anything else that is shared, namespaces.
    pub const fn from_flags(flags: u64) -> Result<Self, Errno> {
        const KNOWN: u64 = CSIGNAL
            | CLONE_VM
            | CLONE_VFORK
            | CLONE_SETTLS
            | CLONE_PARENT_SETTID
            | CLONE_CHILD_CLEARTID
            | CLONE_CHILD_SETTID;
        // They mean nothing without a tracer, or nothing any more.
        const IDLE: u64 = CLONE_PTRACE | CLONE_UNTRACED | CLONE_DETACHED;
        #[allow(clippy::cast_possible_truncation, reason = "eight bits")]
        let end_signal = (flags & CSIGNAL) as u32;
        let senseless = flags & CLONE_SIGHAND != 0 && flags & CLONE_VM == 0
            || flags & CLONE_THREAD != 0 && flags & CLONE_SIGHAND == 0;
        if senseless || end_signal >= NSIG {
            return Err(Errno::EINVAL);
        }
        let (shares_memory, waits) = (flags & CLONE_VM != 0, flags & CLONE_VFORK != 0);
        if flags & !(KNOWN | IDLE) != 0 || (shares_memory && !waits) {
            return Err(Errno::ENOSYS);
        }
        Ok(Self {
            shares_memory,
            waits,
            end_signal,
            set_parent_tid: flags & CLONE_PARENT_SETTID != 0,
            set_child_tid: flags & CLONE_CHILD_SETTID != 0,
            clear_child_tid: flags & CLONE_CHILD_CLEARTID != 0,
            set_tls: flags & CLONE_SETTLS != 0,
        })
    }
}
