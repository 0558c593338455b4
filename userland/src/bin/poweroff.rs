//! `poweroff`: switches the machine off.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::sys::{self, Reboot};
use askr_userland::{Args, eprintln};

askr_userland::main!(main);

fn main(_: Args) -> i32 {
    let errno = sys::reboot(Reboot::PowerOff(0));
    eprintln!("poweroff: {errno}");
    1
}
