//! `ps`: all processes, from `/proc/<pid>/status`.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::format;
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::procfs::Process;
use askr_userland::{Args, Errno, clock, eprintln, io, println};

askr_userland::main!(main);

/// Most of a status file that is read, in bytes.
const FILE_MAX: usize = 64 * 1024;

fn main(_: Args) -> i32 {
    let names = match io::list_directory(b"/proc") {
        Ok(names) => names,
        Err(errno) => {
            eprintln!("ps: /proc: {errno}");
            return 1;
        }
    };
    let mut pids: Vec<u64> = names.iter().filter_map(|name| clock::parse_u64(name)).collect();
    pids.sort_unstable();
    println!("{:>5} {:>5} {:<14} {:<10} NAME", "PID", "PPID", "STATE", "ORIGIN");
    let mut status = 0;
    for pid in pids {
        match io::read_file(format!("/proc/{pid}/status").as_bytes(), FILE_MAX) {
            Ok(text) => print_row(pid, &Process::parse(&text)),
            // It ended since the directory was read.
            Err(Errno::ENOENT | Errno::ESRCH) => {}
            Err(errno) => {
                eprintln!("ps: /proc/{pid}/status: {errno}");
                status = 1;
            }
        }
    }
    status
}

fn print_row(pid: u64, process: &Process<'_>) {
    // Padding needs finished strings.
    let [parent, state, origin] =
        [process.parent, process.state, process.origin].map(|text| format!("{}", Bytes(text)));
    println!("{pid:>5} {parent:>5} {state:<14} {origin:<10} {}", Bytes(process.name));
}
