//! `init`: process 1. Greets, keeps a shell on the terminal, and takes in the children of others.
//!
//! Descriptors 0, 1 and 2 come from the kernel. The shell leads a process group of its own that the terminal
//! belongs to.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_abi::types::CLOCK_MONOTONIC;
use askr_userland::bytes::Bytes;
use askr_userland::process::{self, Group, Status};
use askr_userland::sys::{self, Disposition, Pid};
use askr_userland::{Args, Errno, eprintln, io, println, signal};
use core::time::Duration;

askr_userland::main!(main);

const SHELL: &[u8] = b"/bin/sh";
/// Greeting, printed if it is there.
const MOTD: &[u8] = b"/etc/motd";
/// Most of the greeting that is printed, in bytes.
const MOTD_MAX: usize = 16 * 1024;
/// A shell that lives shorter than this did not work.
const LIFE_MIN: Duration = Duration::from_secs(1);
/// After so many shells in a row that did not work, no other is started.
const FAILURES_MAX: u32 = 5;
/// Wait between two looks for children when there are none.
const IDLE: Duration = Duration::from_secs(1);

fn main(_: Args) -> i32 {
    // So that giving the terminal to the shell from the background does not stop us, where a kernel would.
    let _ = sys::set_signal(signal::SIGTTOU, Disposition::Ignore);
    greet();
    let mut failures = 0;
    // Process 1 has no end: the machine is switched off with `poweroff`.
    loop {
        let started = now();
        let status = match process::spawn("init", SHELL, &[SHELL], Group::Foreground) {
            Ok(shell) => reap_until(shell),
            Err(errno) => Err(errno),
        };
        failures = if now().saturating_sub(started) < LIFE_MIN { failures + 1 } else { 0 };
        match status {
            Ok(status) => eprintln!("init: {} ended: {status}", Bytes(SHELL)),
            Err(errno) => eprintln!("init: {}: {errno}", Bytes(SHELL)),
        }
        if failures >= FAILURES_MAX {
            eprintln!("init: it ended {failures} times at once, so there is no shell; the machine stays up");
            reap_forever();
        }
        println!("init: starting {} again", Bytes(SHELL));
    }
}

fn greet() {
    match io::read_file(MOTD, MOTD_MAX) {
        Ok(text) => io::print_bytes(&text),
        Err(Errno::ENOENT) => {}
        Err(errno) => eprintln!("init: {}: {errno}", Bytes(MOTD)),
    }
}

/// Time since the start; 0 if there is no clock, which makes every shell one that did not work.
fn now() -> Duration {
    sys::clock_gettime(CLOCK_MONOTONIC).unwrap_or_default()
}

/// Waits for whatever ends until it is `shell`.
fn reap_until(shell: Pid) -> Result<Status, Errno> {
    loop {
        match sys::wait4(-1, 0) {
            Ok(Some((pid, raw))) if pid == shell => return Ok(Status::from_raw(raw)),
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

fn reap_forever() -> ! {
    loop {
        if sys::wait4(-1, 0).is_err() {
            // No children now; orphans may come. If sleeping fails too, there is nothing better to do.
            let _ = sys::nanosleep(IDLE);
        }
    }
}
