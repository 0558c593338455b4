//! `tail [-f] [-n LINES | -c BYTES] [FILE...]`: prints the end of files.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use askr_abi::types::{SEEK_END, SEEK_SET};
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag, option};
use askr_userland::input::{self, Input};
use askr_userland::tail::{Amount, End};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io, println, sys};
use core::time::Duration;

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "tail",
    operands: "[FILE]...",
    about: "Prints the last 10 lines of files, or of standard input. -5 is -n 5; +N begins at the Nth.",
    flags: &[
        option(b'n', "lines", "N", "so many lines"),
        option(b'c', "bytes", "N", "so many bytes"),
        flag(b'f', "follow", "then what is added, until Ctrl-C"),
        flag(b'q', "quiet", "no names of files"),
        flag(b'v', "verbose", "names of files even if there is one"),
    ],
};

/// Bytes read at a time.
const PIECE: usize = 16 * 1024;
/// Pause between two looks at what was added.
const PAUSE: Duration = Duration::from_millis(200);

fn main(args: Args) -> i32 {
    let arguments = input::with_old_count(args.rest());
    let given = tool::read_arguments(&SYNTAX, &arguments, 1);
    let outcome = Outcome::new();
    let amount = match given.last_of(b"nc") {
        None => Amount::DEFAULT,
        Some((unit, text)) => Amount::parse(text, unit == b'n').unwrap_or_else(|| {
            let what = if unit == b'n' { "lines" } else { "bytes" };
            misuse(&SYNTAX, 1, format_args!("invalid number of {what}: '{}'", Bytes(text)))
        }),
    };
    let names = input::names(&given.operands);
    let titles = given.has(b'v') || names.len() > 1 && !given.has(b'q');
    let mut gap = "";
    let mut open = Vec::new();
    for name in names {
        let printed = Input::open(name).and_then(|input| {
            if titles {
                println!("{gap}==> {} <==", Bytes(input::title(name)));
                gap = "\n";
            }
            print_end(&input, amount).map(|()| input)
        });
        match printed {
            Ok(input) => open.push((name, input)),
            Err(errno) => outcome.complain_of(name, errno),
        }
    }
    if given.has(b'f') {
        follow(open, titles, &outcome);
    }
    outcome.status()
}

fn print_end(input: &Input, amount: Amount) -> Result<(), Errno> {
    skip_most(input, amount)?;
    let mut end = End::new(amount);
    let mut piece = alloc::vec![0; PIECE];
    loop {
        let count = input.read(&mut piece)?;
        if count == 0 {
            break;
        }
        end.push(&piece[..count], io::print_bytes);
        if end.is_too_long() {
            return Err(Errno::ENOMEM);
        }
    }
    io::print_bytes(end.rest());
    Ok(())
}

/// In a file, goes to a place near its end that is early enough.
fn skip_most(input: &Input, amount: Amount) -> Result<(), Errno> {
    let Amount::Last { count, lines } = amount else { return Ok(()) };
    // What is no file says ESPIPE; files of /proc say that they have no bytes.
    let Ok(here) = sys::lseek(input.fd(), 0, askr_abi::types::SEEK_CUR) else { return Ok(()) };
    let Ok(size @ 1..) = sys::lseek(input.fd(), 0, SEEK_END) else {
        return seek(input, here);
    };
    let mut start = if lines { size } else { size.saturating_sub(count) };
    let mut found = 0;
    let mut piece = alloc::vec![0; PIECE];
    // One newline more than lines: the one before the first. The newline at the very end begins no line.
    while lines && start > here && found <= count {
        start = start.saturating_sub(PIECE as u64).max(here);
        seek(input, start)?;
        let length = input.read(&mut piece)?;
        if length == 0 {
            break;
        }
        found += piece[..length].iter().filter(|&&byte| byte == b'\n').count() as u64;
    }
    seek(input, start.max(here))
}

fn seek(input: &Input, to: u64) -> Result<(), Errno> {
    let to = i64::try_from(to).map_err(|_| Errno::EOVERFLOW)?;
    sys::lseek(input.fd(), to, SEEK_SET).map(drop)
}

/// Prints what is added to the files, until a signal comes or none can be read any more.
fn follow(mut open: Vec<(&[u8], Input)>, titles: bool, outcome: &Outcome) {
    let mut piece = alloc::vec![0; PIECE];
    let mut last = open.last().map_or(b"" as &[u8], |file| file.0);
    while !open.is_empty() {
        let mut idle = true;
        open.retain(|(name, input)| match input.read(&mut piece) {
            Ok(0) => true,
            Ok(count) => {
                if titles && last != *name {
                    println!("\n==> {} <==", Bytes(input::title(name)));
                }
                (last, idle) = (name, false);
                io::print_bytes(&piece[..count]);
                true
            }
            Err(errno) => {
                outcome.complain_of(name, errno);
                false
            }
        });
        if idle && let Err(errno) = io::flush().and_then(|()| sys::nanosleep(PAUSE)) {
            return outcome.complain(format_args!("{errno}"));
        }
    }
}
