//! `cat [FILE...]`: prints files, or standard input without a name or for `-`.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::sys::{self, Fd};
use askr_userland::{Args, Errno, eprintln, io, process};

askr_userland::main!(main);

/// Bytes moved at a time.
const PIECE: usize = 4096;

fn main(args: Args) -> i32 {
    let names = if args.rest().is_empty() { &[&b"-"[..]][..] } else { args.rest() };
    let mut status = 0;
    for name in names {
        if let Err(errno) = print_file(name) {
            eprintln!("cat: {}: {errno}", Bytes(name));
            status = 1;
        }
    }
    status
}

fn print_file(name: &[u8]) -> Result<(), Errno> {
    if name == b"-" {
        return copy(sys::STDIN);
    }
    let file = io::File::open(name)?;
    copy(file.fd())
}

/// Copies to standard output until the end of `from`.
fn copy(from: Fd) -> Result<(), Errno> {
    let mut piece = [0; PIECE];
    loop {
        let count = io::read(from, &mut piece)?;
        if count == 0 {
            return Ok(());
        }
        if let Err(errno) = io::write_all(sys::STDOUT, &piece[..count]) {
            eprintln!("cat: write error: {errno}");
            process::exit(1);
        }
    }
}
