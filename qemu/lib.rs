//! QEMU, driven from tests and from `cargo run`.
#![forbid(unsafe_code)]
