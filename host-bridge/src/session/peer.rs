//! Who is at the other end.

use std::fmt;
use std::time::Duration;

use askr_wire::message::{HelloReply, VerbGeneration};
use askr_wire::{BASE_PAYLOAD_MAX, SESSION_HEAD_LEN, SESSION_PAYLOAD_MAX, SessionId};

/// Names one boot of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BootId(pub [u8; 16]);

impl fmt::Display for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What the guest said in its answer to HELLO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// This boot.
    pub boot: BootId,
    /// This session.
    pub session: SessionId,
    /// Generation of sessions.
    pub generation: u16,
    /// Longest payload of a session frame in bytes.
    pub payload_limit: usize,
    /// Most requests outstanding.
    pub window: u32,
    /// How long the guest takes us for attached after our last frame.
    pub lease: Duration,
    /// How often to ping.
    pub ping: Duration,
    /// Name of the kernel.
    pub kernel: String,
    /// Version of the kernel.
    pub version: String,
    /// Verbs and their generation.
    pub verbs: Vec<VerbGeneration>,
}

impl Peer {
    /// Takes over what is usable. `None` when the limits allow no conversation.
    pub(super) fn from_hello(hello: &HelloReply<'_>) -> Option<Self> {
        let payload_limit =
            usize::try_from(hello.payload_limit).unwrap_or(usize::MAX).min(SESSION_PAYLOAD_MAX);
        if payload_limit < BASE_PAYLOAD_MAX || hello.window == 0 || hello.generation == 0 {
            return None;
        }
        Some(Self {
            boot: BootId(hello.boot_id),
            session: hello.session,
            generation: hello.generation,
            payload_limit,
            window: u32::from(hello.window),
            lease: Duration::from_millis(hello.lease_ms.into()),
            ping: Duration::from_millis(hello.ping_ms.into()),
            kernel: String::from_utf8_lossy(hello.kernel).into_owned(),
            version: String::from_utf8_lossy(hello.version).into_owned(),
            verbs: hello.verbs.iter().collect(),
        })
    }

    /// Bytes that one request or response may take after the session head.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.payload_limit - SESSION_HEAD_LEN
    }
}
