//! Frames and messages on COM2, the same on both sides of the wire.
#![no_std]
#![forbid(unsafe_code)]
