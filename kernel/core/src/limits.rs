//! Resource limits of a process (`man 2 getrlimit`).

use askr_abi::Errno;
use askr_abi::types::{
    RLIM_INFINITY, RLIM_NLIMITS, RLIMIT_AS, RLIMIT_CORE, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_NPROC,
    RLIMIT_STACK,
};

/// Bytes of a stack unless the limit says otherwise, as on Linux.
pub const STACK_DEFAULT: u64 = 8 << 20;
/// Largest stack that a program gets, in bytes, whatever its limit.
pub const STACK_MAX: u64 = 64 << 20;

/// A limit: what counts, and up to where the process may raise it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What counts (the soft limit).
    pub current: u64,
    /// The most that `current` can be (the hard limit).
    pub maximum: u64,
}

impl Limit {
    /// No limit.
    pub const NONE: Self = Self { current: RLIM_INFINITY, maximum: RLIM_INFINITY };
}

/// All limits of a process. Those that nothing enforces are infinite and stay so.
#[derive(Clone, Debug)]
pub struct Limits([Limit; RLIM_NLIMITS]);

/// Limits that can be set. Core files are never written, so any limit on them holds.
const ENFORCED: [usize; 6] = [RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_AS];

impl Limits {
    /// What the first process gets: as much as the kernel has tables for.
    #[must_use]
    pub const fn new(processes: u64, descriptors: u64) -> Self {
        let mut limits = [Limit::NONE; RLIM_NLIMITS];
        limits[RLIMIT_STACK].current = STACK_DEFAULT;
        limits[RLIMIT_CORE].current = 0;
        limits[RLIMIT_NPROC] = Limit { current: processes, maximum: processes };
        limits[RLIMIT_NOFILE] = Limit { current: descriptors, maximum: descriptors };
        Self(limits)
    }

    /// The limit on `resource`.
    ///
    /// # Errors
    /// EINVAL for a number that is none.
    pub fn get(&self, resource: usize) -> Result<Limit, Errno> {
        self.0.get(resource).copied().ok_or(Errno::EINVAL)
    }

    /// Sets the limit on `resource`. There is one user, root, who may raise a maximum again; that of the kernel's tables
    /// stays.
    ///
    /// # Errors
    /// EINVAL for a number that is none, for `current` above `maximum`, and for a limit that nothing would enforce;
    /// EPERM above what the kernel has tables for.
    pub fn set(&mut self, resource: usize, limit: Limit) -> Result<(), Errno> {
        let old = self.get(resource)?;
        if limit.current > limit.maximum {
            return Err(Errno::EINVAL);
        }
        if !ENFORCED.contains(&resource) {
            return if limit == old { Ok(()) } else { Err(Errno::EINVAL) };
        }
        let in_table = [RLIMIT_NPROC, RLIMIT_NOFILE].contains(&resource);
        if in_table && limit.maximum > old.maximum {
            return Err(Errno::EPERM);
        }
        self.0[resource] = limit;
        Ok(())
    }

    /// Most bytes of all areas together.
    #[must_use]
    pub const fn memory(&self) -> u64 {
        self.0[RLIMIT_AS].current
    }

    /// Most bytes of private writable memory beside the stack.
    #[must_use]
    pub const fn data(&self) -> u64 {
        self.0[RLIMIT_DATA].current
    }

    /// Bytes of the stack of a program that is started, whole pages and at least one.
    #[must_use]
    pub fn stack(&self) -> u64 {
        let page = crate::elf::PAGE_SIZE;
        self.0[RLIMIT_STACK].current.clamp(page, STACK_MAX) / page * page
    }

    /// Processes that may exist when this one forks, the new one included.
    #[must_use]
    pub const fn processes(&self) -> u64 {
        self.0[RLIMIT_NPROC].current
    }

    /// One more than the highest descriptor.
    #[must_use]
    pub const fn descriptors(&self) -> u64 {
        self.0[RLIMIT_NOFILE].current
    }
}
