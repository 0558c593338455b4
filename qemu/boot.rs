//! `cargo run`: boots Askr in QEMU.
fn main() {}
