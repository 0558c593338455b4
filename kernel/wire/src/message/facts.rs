//! Facts about the system.

use crate::cursor::{DecodeError, Message, NoRoom, Reader, Writer};

/// Body of the response to UPTIME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UptimeReply {
    /// Time since boot, in nanoseconds.
    pub uptime_ns: u64,
}

impl Message<'_> for UptimeReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.uptime_ns)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { uptime_ns: from.u64()? })
    }
}

/// Body of the response to TIME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeReply {
    /// Time since 1970 in UTC, in nanoseconds.
    pub unix_ns: u64,
}

impl Message<'_> for TimeReply {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u64(self.unix_ns)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { unix_ns: from.u64()? })
    }
}

/// One fact in the response to INFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<'a> {
    /// Its name; unknown ones are to be shown, not refused.
    pub name: &'a [u8],
    /// What it is, for people.
    pub value: &'a [u8],
}

impl<'a> Message<'a> for Fact<'a> {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.short_string(self.name)?;
        to.long_string(self.value)
    }

    fn get(from: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { name: from.short_string()?, value: from.long_string()? })
    }
}

/// What POWER does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PowerAction {
    /// Off.
    Off = 0,
    /// Off and on again.
    Reboot = 1,
}

/// POWER: ends this boot, after what is in memory has gone to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerRequest {
    /// How.
    pub action: PowerAction,
}

impl Message<'_> for PowerRequest {
    fn put(&self, to: &mut Writer<'_>) -> Result<(), NoRoom> {
        to.u8(self.action as u8)
    }

    fn get(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let action = match from.u8()? {
            0 => PowerAction::Off,
            1 => PowerAction::Reboot,
            _ => return Err(DecodeError::Value),
        };
        Ok(Self { action })
    }
}
