//! Devices.

pub(crate) mod serial;
