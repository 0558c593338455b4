//! What a handler learns about its signal.

use askr_abi::signal::{SI_KERNEL, SI_USER};

/// What is known beside the signal's number and code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// Who sent it.
    Sender {
        /// `si_pid`
        pid: u32,
    },
    /// Who queued it, and the value that came along.
    Value {
        /// `si_pid`
        pid: u32,
        /// `si_value`
        value: u64,
    },
    /// What happened to a child.
    Child {
        /// `si_pid`
        pid: u32,
        /// `si_status`: exit code or signal.
        status: u32,
    },
    /// Where the fault happened.
    Fault {
        /// `si_addr`
        address: u64,
    },
}

/// A signal that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its number.
    pub signal: u32,
    /// `si_code`: who or what it comes from.
    pub code: i32,
    /// The rest.
    pub detail: Detail,
}

impl Info {
    /// Bytes of `siginfo_t`.
    pub const SIZE: usize = 128;

    /// A signal from the kernel.
    #[must_use]
    pub const fn from_kernel(signal: u32) -> Self {
        Self { signal, code: SI_KERNEL, detail: Detail::None }
    }

    /// A signal that process `pid` sent with `kill(2)`.
    #[must_use]
    pub const fn from_process(signal: u32, pid: u32) -> Self {
        Self { signal, code: SI_USER, detail: Detail::Sender { pid } }
    }

    /// A signal that a program queued with the `siginfo_t` in `bytes`: of that, its code, the sender that it names and its
    /// value are kept.
    #[must_use]
    pub fn queued(signal: u32, bytes: &[u8; Self::SIZE]) -> Self {
        let word = |at: usize| u32::from_le_bytes(core::array::from_fn(|index| bytes[at + index]));
        let value = u64::from(word(24)) | u64::from(word(28)) << 32;
        let detail = Detail::Value { pid: word(16), value };
        Self { signal, code: word(8).cast_signed(), detail }
    }

    /// `siginfo_t` for a program's memory. All processes belong to user 0, so `si_uid` is 0.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0..4].copy_from_slice(&self.signal.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.code.to_le_bytes());
        match self.detail {
            Detail::None => {}
            Detail::Sender { pid } => bytes[16..20].copy_from_slice(&pid.to_le_bytes()),
            Detail::Value { pid, value } => {
                bytes[16..20].copy_from_slice(&pid.to_le_bytes());
                bytes[24..32].copy_from_slice(&value.to_le_bytes());
            }
            Detail::Child { pid, status } => {
                bytes[16..20].copy_from_slice(&pid.to_le_bytes());
                bytes[24..28].copy_from_slice(&status.to_le_bytes());
            }
            Detail::Fault { address } => bytes[16..24].copy_from_slice(&address.to_le_bytes()),
        }
        bytes
    }
}
