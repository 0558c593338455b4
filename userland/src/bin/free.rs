//! `free`: total, used and free memory in KiB, from `/proc/meminfo`.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::{Args, clock, eprintln, io, println, procfs};

askr_userland::main!(main);

/// Most of `/proc/meminfo` that is read, in bytes.
const FILE_MAX: usize = 64 * 1024;

fn main(_: Args) -> i32 {
    let text = match io::read_file(b"/proc/meminfo", FILE_MAX) {
        Ok(text) => text,
        Err(errno) => {
            eprintln!("free: /proc/meminfo: {errno}");
            return 1;
        }
    };
    // A line is `MemTotal:  65536 kB`.
    let value = |key: &[u8]| {
        let number = procfs::field(&text, key)?.split(|byte| byte.is_ascii_whitespace()).next()?;
        clock::parse_u64(number)
    };
    let (Some(total), Some(free)) = (value(b"MemTotal"), value(b"MemFree")) else {
        eprintln!("free: /proc/meminfo has no MemTotal and MemFree");
        return 1;
    };
    println!("{:>18} {:>11} {:>11}", "total", "used", "free");
    println!("Mem:{total:>14} {:>11} {free:>11}", total.saturating_sub(free));
    0
}
