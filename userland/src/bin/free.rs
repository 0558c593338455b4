//! `free [-bhkm]`: memory, from `/proc/meminfo`.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::string::{String, ToString};
use askr_userland::cli::{Syntax, flag};
use askr_userland::number::Human;
use askr_userland::tool::{self, Outcome};
use askr_userland::{Args, io, println, procfs};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "free",
    operands: "",
    about: "Shows the machine's memory in KiB, and below it the part of the kernel's heap.",
    flags: &[
        flag(b'b', "bytes", "in bytes"),
        flag(b'k', "kibi", "in KiB"),
        flag(b'm', "mebi", "in MiB"),
        flag(b'h', "human", "with units for people"),
    ],
};

/// Most of `/proc/meminfo` that is read, in bytes.
const FILE_MAX: usize = 64 * 1024;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let text = match io::read_file(b"/proc/meminfo", FILE_MAX) {
        Ok(text) => text,
        Err(errno) => {
            outcome.complain_of(b"/proc/meminfo", errno);
            return outcome.status();
        }
    };
    let show = |bytes: u64| -> String {
        match given.last_of(b"bkmh").map(|option| option.0) {
            Some(b'b') => bytes.to_string(),
            Some(b'm') => (bytes >> 20).to_string(),
            Some(b'h') => Human(bytes).to_string(),
            _ => (bytes >> 10).to_string(),
        }
    };
    let value = |key: &[u8]| procfs::field(&text, key).and_then(procfs::bytes);
    let (Some(total), Some(free)) = (value(b"MemTotal"), value(b"MemFree")) else {
        outcome.complain(format_args!("/proc/meminfo has no MemTotal and MemFree"));
        return outcome.status();
    };
    println!("{:>18} {:>11} {:>11}", "total", "used", "free");
    let row = |name: &str, total: u64, used: u64| {
        let [total, used, free] = [total, used, total.saturating_sub(used)].map(show);
        println!("{name:<6}{total:>12} {used:>11} {free:>11}");
    };
    row("Mem:", total, total.saturating_sub(free));
    if let (Some(total), Some(used)) = (value(b"KernelHeap"), value(b"KernelHeapUsed")) {
        row("Heap:", total, used);
    }
    outcome.status()
}
