use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};
use crate::frame::SessionId;
use crate::list::List;

/// The generation of sessions this crate speaks. The layouts of verbs have generations of their own: see
/// [`crate::code::VERBS`].
pub const GENERATION: u16 = 1;

/// HELLO: what the peer speaks and can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloRequest<'a> {
    /// Highest generation the peer speaks, at least 1.
    pub generation: u16,
    /// Longest payload the peer takes in a session frame, in bytes.
    pub payload_limit: u32,
    /// Most requests the peer wants to have outstanding.
    pub window: u16,
    /// Fresh random bytes: the same nonce means the same HELLO.
    pub nonce: [u8; 16],
    /// Name of the peer, for people.
    pub client: &'a [u8],
}

impl<'a> Message<'a> for HelloRequest<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u16(self.generation)?;
        to.u32(self.payload_limit)?;
        to.u16(self.window)?;
        to.bytes(&self.nonce)?;
        to.short_string(self.client)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            generation: from.u16()?,
            payload_limit: from.u32()?,
            window: from.u16()?,
            nonce: from.array()?,
            client: from.short_string()?,
        })
    }
}

/// A verb and the generation of its layout, as HELLO lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerbGeneration {
    /// The verb: see [`crate::code`].
    pub code: u16,
    /// Generation of its layout.
    pub generation: u16,
}

impl Message<'_> for VerbGeneration {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u16(self.code)?;
        to.u16(self.generation)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { code: from.u16()?, generation: from.u16()? })
    }
}

/// Body of the response to HELLO: what holds in the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloReply<'a> {
    /// The generation both speak.
    pub generation: u16,
    /// Longest payload of a session frame, in bytes, either way.
    pub payload_limit: u32,
    /// Most requests that may be outstanding.
    pub window: u16,
    /// The peer counts as attached this long after its last valid frame, in milliseconds.
    pub lease_ms: u32,
    /// How often the peer should ping, in milliseconds.
    pub ping_ms: u32,
    /// Random bytes, new with every boot.
    pub boot_id: [u8; 16],
    /// Goes into the head of every frame from now on.
    pub session: SessionId,
    /// Number of events since boot.
    pub event_cursor: u64,
    /// Name of the kernel: `askr`.
    pub kernel: &'a [u8],
    /// Its version.
    pub version: &'a [u8],
    /// The verbs that are built.
    pub verbs: List<'a, VerbGeneration>,
}

impl<'a> Message<'a> for HelloReply<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u16(self.generation)?;
        to.u32(self.payload_limit)?;
        to.u16(self.window)?;
        to.u32(self.lease_ms)?;
        to.u32(self.ping_ms)?;
        to.bytes(&self.boot_id)?;
        to.bytes(&self.session.0)?;
        to.u64(self.event_cursor)?;
        to.short_string(self.kernel)?;
        to.short_string(self.version)?;
        self.verbs.put(to)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            generation: from.u16()?,
            payload_limit: from.u32()?,
            window: from.u16()?,
            lease_ms: from.u32()?,
            ping_ms: from.u32()?,
            boot_id: from.array()?,
            session: SessionId(from.array()?),
            event_cursor: from.u64()?,
            kernel: from.short_string()?,
            version: from.short_string()?,
            verbs: List::get(from)?,
        })
    }
}

/// PING: the peer is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingRequest {
    /// Different in every ping of a session; not 0.
    pub counter: u32,
}

impl Message<'_> for PingRequest {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.counter)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { counter: from.u32()? })
    }
}

/// Body of the response to PING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingReply {
    /// The counter of the ping before this one in the session; 0 at first. Anything else than what the peer
    /// sent means that the guest was set back to an earlier state: say HELLO again.
    pub previous_counter: u32,
    /// Asks that wait for an answer. More than the peer knows of means that one was lost: fetch ASKS.
    pub pending_asks: u16,
    /// Number of events since boot.
    pub event_cursor: u64,
    /// Time since boot, in nanoseconds.
    pub uptime_ns: u64,
}

impl Message<'_> for PingReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u32(self.previous_counter)?;
        to.u16(self.pending_asks)?;
        to.u64(self.event_cursor)?;
        to.u64(self.uptime_ns)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            previous_counter: from.u32()?,
            pending_asks: from.u16()?,
            event_cursor: from.u64()?,
            uptime_ns: from.u64()?,
        })
    }
}

/// One counter in the response to STATS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter<'a> {
    /// Its name; unknown ones are to be shown, not refused.
    pub name: &'a [u8],
    /// Its value since boot.
    pub value: u64,
}

impl<'a> Message<'a> for Counter<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.short_string(self.name)?;
        to.u64(self.value)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { name: from.short_string()?, value: from.u64()? })
    }
}
