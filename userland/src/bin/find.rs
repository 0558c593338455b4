//! `find [PATH...] [-name PATTERN] [-type f|d|l]`: names of files in directories and in those below them.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use askr_abi::types::{S_IFDIR, S_IFLNK, S_IFMT, S_IFREG};
use askr_userland::bytes::Bytes;
use askr_userland::names::{base, join};
use askr_userland::shell::pattern::{Cell, matches};
use askr_userland::tool::Outcome;
use askr_userland::{Args, eprintln, io, process, tree};

askr_userland::main!(main);

/// How deep directories are looked into. The stack has room for more.
const DEPTH_MAX: usize = 256;

/// What is looked for.
#[derive(Default)]
struct Wanted {
    name: Option<Vec<Cell>>,
    kind: Option<u32>,
}

fn main(args: Args) -> i32 {
    let (paths, wanted) = read(args.rest());
    let outcome = Outcome::new();
    let paths = if paths.is_empty() { [&b"."[..]].into() } else { paths };
    paths.iter().for_each(|path| look(path, &wanted, 0, &outcome));
    outcome.status()
}

/// Paths, then what they have to be.
fn read(arguments: &[&'static [u8]]) -> (Vec<&'static [u8]>, Wanted) {
    let first = arguments.iter().position(|argument| argument.starts_with(b"-")).unwrap_or(arguments.len());
    let (paths, tests) = arguments.split_at(first);
    let mut wanted = Wanted::default();
    for test in tests.chunks(2) {
        match *test {
            [b"-name", pattern] => {
                wanted.name = Some(pattern.iter().map(|&byte| Cell { byte, quoted: false }).collect());
            }
            [b"-type", b"f"] => wanted.kind = Some(S_IFREG),
            [b"-type", b"d"] => wanted.kind = Some(S_IFDIR),
            [b"-type", b"l"] => wanted.kind = Some(S_IFLNK),
            [b"--help", ..] => usage(0),
            [other, ..] => {
                eprintln!("find: '{}' cannot be used so", Bytes(other));
                usage(1)
            }
            [] => {}
        }
    }
    (paths.to_vec(), wanted)
}

fn usage(status: i32) -> ! {
    eprintln!(
        "usage: find [PATH]... [-name PATTERN] [-type f|d|l]\n\
         Prints the names of files in the directories and in all below them that have such a name and are a file, a\n\
         directory or a link. Links are not followed.\n\n      --help              this text"
    );
    process::exit(status)
}

fn look(path: &[u8], wanted: &Wanted, depth: usize, outcome: &Outcome) {
    let stat = match tree::stat(path, false) {
        Ok(stat) => stat,
        Err(errno) => return outcome.complain_of(path, errno),
    };
    let is_named = wanted.name.as_ref().is_none_or(|pattern| matches(pattern, base(path)));
    if is_named && wanted.kind.is_none_or(|kind| stat.mode & S_IFMT == kind) {
        io::print_name(path);
        io::print_bytes(b"\n");
    }
    if !tree::is_directory(&stat) {
        return;
    }
    if depth >= DEPTH_MAX {
        return outcome.complain(format_args!("{}: directories are too deep", Bytes(path)));
    }
    let mut names = match io::list_directory(path) {
        Ok(names) => names,
        Err(errno) => return outcome.complain_of(path, errno),
    };
    names.sort_unstable();
    let inside = names.iter().filter(|name| !matches!(&name[..], b"." | b".."));
    inside.for_each(|name| look(&join(path, name), wanted, depth + 1, outcome));
}
