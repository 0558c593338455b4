//! `askr-bridge capture`: what is in its file, and what Wireshark makes of it with the dissector.

#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../../../tests/hub/bench.rs"]
mod bench;
mod doors;
mod examples;
#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../../../tests/hub/guest/mod.rs"]
mod guest;
mod hubs;
mod line;
mod pcapng;
mod program;
mod talk;
mod tshark;
mod vectors;
