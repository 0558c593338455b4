//! `df [-hk] [PATH...]`: how much room there is on file systems.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::number::Human;
use askr_userland::tool::{self, Outcome};
use askr_userland::{Args, fs, io, println};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "df",
    operands: "[PATH]...",
    about: "Shows how much room there is, in KiB, on the file systems that store something, or on those of the paths.",
    flags: &[flag(b'h', "human-readable", "with units"), flag(b'k', "", "in KiB")],
};

/// Where the kernel tells what is mounted.
const MOUNTS: &[u8] = b"/proc/mounts";
/// Most of that file that is read, in bytes.
const FILE_MAX: usize = 64 * 1024;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let text = match io::read_file(MOUNTS, FILE_MAX) {
        Ok(text) => text,
        Err(errno) => {
            outcome.complain_of(MOUNTS, errno);
            return outcome.status();
        }
    };
    // Of each line the second word.
    let mounted: Vec<&[u8]> = text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(1))
        .collect();
    let all = given.operands.is_empty();
    let paths = if all { &mounted } else { &given.operands };
    let human = matches!(given.last_of(b"hk"), Some((b'h', _)));
    let show = |bytes: u64| -> String {
        if human { Human(bytes).to_string() } else { bytes.div_ceil(1024).to_string() }
    };
    println!("{:>10} {:>10} {:>10} {:>4}  PATH", "SIZE", "USED", "FREE", "USE");
    for path in paths {
        match fs::usage(path) {
            // Where nothing is stored there is no room to speak of.
            Ok(usage) if usage.blocks == 0 && all => {}
            Ok(usage) => {
                let [size, free] =
                    [usage.blocks, usage.free].map(|blocks| blocks.saturating_mul(usage.block_size));
                let used = size.saturating_sub(free);
                let percent = (u128::from(used) * 100).div_ceil(u128::from(size.max(1)));
                let [size, used, free] = [size, used, free].map(show);
                println!("{size:>10} {used:>10} {free:>10} {percent:>3}%  {}", Bytes(path));
            }
            Err(errno) => outcome.complain_of(path, errno),
        }
    }
    outcome.status()
}
