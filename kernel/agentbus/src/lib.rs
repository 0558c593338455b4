//! The agent bus as a sans-IO state machine: router, sessions, asks, policy.
#![no_std]
#![forbid(unsafe_code)]
