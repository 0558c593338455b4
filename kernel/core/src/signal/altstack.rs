//! The alternate stack for handlers (`sigaltstack(2)`).

use askr_abi::Errno;
use askr_abi::signal::{MINSIGSTKSZ, SS_AUTODISARM, SS_DISABLE, SS_ONSTACK};

/// `stack_t`: where handlers with `SA_ONSTACK` run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AltStack {
    /// Lowest address.
    pub base: u64,
    /// `SS_DISABLE`, or 0, with `SS_AUTODISARM` if the program asked for that.
    pub flags: u32,
    /// Length in bytes.
    pub size: u64,
}

impl Default for AltStack {
    fn default() -> Self {
        Self::NONE
    }
}

impl AltStack {
    /// Bytes of `stack_t`.
    pub const SIZE: usize = 24;
    /// No alternate stack.
    pub const NONE: Self = Self { base: 0, flags: SS_DISABLE, size: 0 };

    /// From a program's memory.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let [base, flags, size] = [0, 1, 2].map(|index| u64::from_le_bytes(words[index]));
        #[allow(clippy::cast_possible_truncation, reason = "an int and its padding")]
        Self { base, flags: flags as u32, size }
    }

    /// For a program's memory.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        for (slot, word) in bytes.chunks_exact_mut(8).zip([self.base, u64::from(self.flags), self.size]) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// What a program is told that runs with its stack pointer at `rsp`.
    #[must_use]
    pub const fn seen_from(self, rsp: u64) -> Self {
        let state = match (self.size, self.holds(rsp)) {
            (0, _) => SS_DISABLE,
            (_, true) => SS_ONSTACK,
            (_, false) => 0,
        };
        Self { flags: state | self.flags & SS_AUTODISARM, ..self }
    }

    /// The stack that replaces this one when a program at `rsp` asks for `wanted`.
    ///
    /// # Errors
    /// EPERM while a handler runs on this one, EINVAL for other flags, ENOMEM for less than [`MINSIGSTKSZ`].
    pub const fn replaced(self, wanted: Self, rsp: u64) -> Result<Self, Errno> {
        if self.holds(rsp) {
            return Err(Errno::EPERM);
        }
        match wanted.flags & !SS_AUTODISARM {
            SS_DISABLE => Ok(Self { base: 0, flags: wanted.flags, size: 0 }),
            0 | SS_ONSTACK if wanted.size < MINSIGSTKSZ => Err(Errno::ENOMEM),
            0 | SS_ONSTACK => Ok(wanted),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Whether `rsp` lies on it, as far as that matters: a stack that is given up while a handler runs on it is
    /// never in use.
    #[must_use]
    pub const fn holds(self, rsp: u64) -> bool {
        self.flags & SS_AUTODISARM == 0 && self.contains(rsp)
    }

    /// Whether `rsp` is an address of it; the first one above it is the empty stack's.
    #[must_use]
    pub const fn contains(self, rsp: u64) -> bool {
        rsp > self.base && rsp - self.base <= self.size
    }

    /// Whether it is given up while a handler runs.
    #[must_use]
    pub const fn is_given_up(self) -> bool {
        self.flags & SS_AUTODISARM != 0
    }

    /// The stack pointer to begin with.
    #[must_use]
    pub const fn top(self) -> u64 {
        self.base.wrapping_add(self.size)
    }
}
