//! Devices.

pub(crate) mod agent_port;
pub(crate) mod block;
pub(crate) mod debugcon;
pub(crate) mod framebuffer;
pub(crate) mod keyboard;
pub(crate) mod serial;
pub(crate) mod virtio;
