//! `uname [-asnrvm]`: names the system, this machine, the kernel's release and version, the hardware.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::{Args, eprintln, print, println, sys};
use core::ffi::CStr;
use getargs::{Opt, Options};

askr_userland::main!(main);

/// The letters in the order of what they print.
const LETTERS: &[u8; 5] = b"snrvm";

fn main(args: Args) -> i32 {
    let mut wanted = [false; LETTERS.len()];
    let mut options = Options::new(args.rest().iter().copied());
    loop {
        match options.next_opt() {
            Ok(None) => break,
            Ok(Some(Opt::Short(b'a'))) => wanted.fill(true),
            Ok(Some(Opt::Short(letter))) if LETTERS.contains(&letter) => {
                for (flag, _) in wanted.iter_mut().zip(LETTERS).filter(|(_, known)| **known == letter) {
                    *flag = true;
                }
            }
            _ => return usage(),
        }
    }
    if options.next_positional().is_some() {
        return usage();
    }
    if wanted == [false; LETTERS.len()] {
        wanted[0] = true;
    }
    let name = match sys::uname() {
        Ok(name) => name,
        Err(errno) => {
            eprintln!("uname: {errno}");
            return 1;
        }
    };
    let fields = [&name.sysname, &name.nodename, &name.release, &name.version, &name.machine];
    let mut separator = "";
    for (field, _) in fields.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
        let text = CStr::from_bytes_until_nul(&field[..]).map_or(&field[..], CStr::to_bytes);
        print!("{separator}{}", Bytes(text));
        separator = " ";
    }
    println!();
    0
}

fn usage() -> i32 {
    eprintln!("usage: uname [-asnrvm]");
    1
}
