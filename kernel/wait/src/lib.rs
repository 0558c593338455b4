//! The wait table and the wake token: blocking without lost wake-ups.
#![no_std]
#![forbid(unsafe_code)]
