//! The host's side of the agent bus: frames on the guest's COM2 and data door become JSON for people, scripts and agents.
//!
//! Bytes and frames ([`link`], and [`tap`] to look at them) → a conversation with one guest ([`session`]) → operations ([`ops`]) → names in
//! JSON ([`json`]) → any number of clients ([`hub`]). Each layer knows only the ones before it.
//! `docs/host.md` is the contract for clients.
#![forbid(unsafe_code)]

#[cfg(feature = "agent")]
mod agent;
pub mod client;
pub mod hub;
pub mod json;
pub mod link;
pub mod ops;
pub mod session;
pub mod socket;
#[cfg(feature = "symbols")]
pub mod symbols;
pub mod tap;

pub use hub::{Hub, HubConfig};
