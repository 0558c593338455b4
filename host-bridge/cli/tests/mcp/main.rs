//! `askr-bridge mcp` as an MCP client meets it: lines of JSON-RPC on its stdin and stdout.
#![cfg(feature = "mcp")]

#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../../../tests/hub/bench.rs"]
mod bench;
mod client;
mod eras;
#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../../../tests/hub/guest/mod.rs"]
mod guest;
mod life;
mod moments;
mod person;
mod schema;
mod scripted;
mod tools;
