//! `true`: does nothing, successfully.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

askr_userland::main!(main);

fn main(_: askr_userland::Args) -> i32 {
    0
}
