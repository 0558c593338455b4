//! Devices.

pub(crate) mod debugcon;
pub(crate) mod serial;
