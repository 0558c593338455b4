//! What a program was started with.

use crate::bytes::Bytes;
use crate::sys::single::Single;
use alloc_crate::vec::Vec;

/// The arguments of a program; the first is the name it was started by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Args(&'static [&'static [u8]]);

impl Args {
    pub(crate) fn new(arguments: Vec<&'static [u8]>) -> Self {
        // They are needed until the process ends.
        Self(arguments.leak())
    }

    /// All arguments, the program's name included.
    #[must_use]
    pub fn all(self) -> &'static [&'static [u8]] {
        self.0
    }

    /// The arguments after the program's name.
    #[must_use]
    pub fn rest(self) -> &'static [&'static [u8]] {
        self.0.get(1..).unwrap_or_default()
    }
}

/// Name, environment and auxiliary vector of the process.
pub(crate) struct Surroundings {
    /// What the first argument says.
    pub(crate) program: &'static [u8],
    /// `NAME=value` each.
    pub(crate) variables: Vec<&'static [u8]>,
    /// Kind and value each.
    pub(crate) auxiliary: Vec<(u64, u64)>,
}

static SURROUNDINGS: Single<Surroundings> =
    Single::new(Surroundings { program: b"start", variables: Vec::new(), auxiliary: Vec::new() });

pub(crate) fn set(surroundings: Surroundings) {
    SURROUNDINGS.with(|current| *current = surroundings);
}

/// The last part of the name that the program was started by, for its messages.
#[must_use]
pub fn program() -> Bytes<'static> {
    let name = SURROUNDINGS.try_with(|all| all.program).unwrap_or_default();
    Bytes(name.rsplit(|&byte| byte == b'/').next().unwrap_or(name))
}

/// The environment, `NAME=value` each.
#[must_use]
pub fn variables() -> Vec<&'static [u8]> {
    SURROUNDINGS.with(|all| all.variables.clone())
}

/// The value of an environment variable.
#[must_use]
pub fn variable(name: &[u8]) -> Option<&'static [u8]> {
    SURROUNDINGS.with(|all| {
        all.variables
            .iter()
            .find_map(|entry| entry.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")))
    })
}

/// The value of an entry of the auxiliary vector (`AT_*` in Linux's `include/uapi/linux/auxvec.h`).
#[must_use]
pub fn auxiliary(kind: u64) -> Option<u64> {
    SURROUNDINGS.with(|all| all.auxiliary.iter().find(|entry| entry.0 == kind).map(|entry| entry.1))
}
