//! `init`: process 1. Greets, keeps a shell on the terminal, and takes in the children of others.
//!
//! Descriptors 0, 1 and 2 come from the kernel. The shell leads a session of its own that the terminal
//! belongs to.
//!
//! Where the host put a line into `/etc/run`, that is all this machine is for: the line runs with empty input and its
//! output as it is, and the machine goes off with its exit status.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_abi::terminal::OPOST;
use askr_abi::types::{CLOCK_MONOTONIC, O_RDONLY};
use askr_userland::bytes::Bytes;
use askr_userland::process::{self, Group, Status};
use askr_userland::sys::{self, Disposition, Pid, Reboot};
use askr_userland::{Args, Errno, eprintln, io, println, signal};
use core::time::Duration;

askr_userland::main!(main);

const SHELL: &[u8] = b"/bin/sh";
/// Greeting, printed if it is there.
const MOTD: &[u8] = b"/etc/motd";
/// Most of the greeting that is printed, in bytes.
const MOTD_MAX: usize = 16 * 1024;
/// The one line to run, if it is there.
const RUN: &[u8] = b"/etc/run";
/// Longest such line, in bytes.
const RUN_MAX: usize = 64 * 1024;
/// Exit status when the line could not even be started, as shells have it.
const EXIT_NOT_RUN: u8 = 126;
/// A shell that lives shorter than this did not work.
const LIFE_MIN: Duration = Duration::from_secs(1);
/// Longest pause before another try when shells do not work.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Wait between two looks for children when there are none.
const IDLE: Duration = Duration::from_secs(1);

fn main(_: Args) -> i32 {
    // So that giving the terminal to the shell from the background does not stop us, where a kernel would.
    let _ = sys::set_signal(signal::SIGTTOU, Disposition::Ignore);
    match io::read_file(RUN, RUN_MAX) {
        Ok(line) => run_and_power_off(&line),
        Err(Errno::ENOENT) => {}
        Err(errno) => eprintln!("init: {}: {errno}", Bytes(RUN)),
    }
    greet();
    let mut failures = 0_u32;
    // Process 1 has no end: the machine is switched off with `poweroff`.
    loop {
        let started = now();
        let status = match process::spawn("init", SHELL, &[SHELL], Group::Session) {
            Ok(shell) => reap_until(shell),
            Err(errno) => Err(errno),
        };
        failures = if now().saturating_sub(started) < LIFE_MIN { failures.saturating_add(1) } else { 0 };
        match status {
            Ok(status) => eprintln!("init: {} ended: {status}", Bytes(SHELL)),
            Err(errno) => eprintln!("init: {}: {errno}", Bytes(SHELL)),
        }
        // Memory may be short for a while: without a pause all tries would be over before it is free again.
        let pause = pause_after(failures);
        if !pause.is_zero() {
            eprintln!("init: the next try is in {} s", pause.as_secs());
            // If it fails, there is only less of a pause.
            let _ = sys::nanosleep(pause);
        }
        println!("init: starting {} again", Bytes(SHELL));
    }
}

/// None after a shell that worked, then twice as long each time, up to [`PAUSE_MAX`].
fn pause_after(failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        _ => PAUSE_MAX.min(Duration::from_secs(1 << (failures - 2).min(5))),
    }
}

/// Runs a shell line with the terminal as a plain pipe, and switches the machine off.
fn run_and_power_off(line: &[u8]) -> ! {
    let status = prepare_for_run().and_then(|()| {
        let shell = process::spawn("init", SHELL, &[SHELL, b"-c", line], Group::Session)?;
        reap_until(shell)
    });
    let code = match status {
        // A shell's status is 0 to 255.
        Ok(status) => u8::try_from(status.code()).unwrap_or(EXIT_NOT_RUN),
        Err(errno) => {
            eprintln!("init: cannot run the line: {errno}");
            EXIT_NOT_RUN
        }
    };
    let errno = sys::reboot(Reboot::PowerOff(code));
    eprintln!("init: cannot switch the machine off: {errno}");
    reap_forever()
}

/// Output leaves the terminal byte for byte, and input is empty.
fn prepare_for_run() -> Result<(), Errno> {
    let mut modes = sys::terminal_attributes(sys::STDOUT)?;
    modes.output &= !OPOST;
    sys::set_terminal_attributes(sys::STDOUT, &modes)?;
    sys::close(sys::STDIN)?;
    // The lowest free descriptor, which is standard input now.
    sys::open(c"/dev/null", O_RDONLY, 0).map(drop)
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
