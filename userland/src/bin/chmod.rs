//! `chmod [-v] MODE FILE...`: changes permissions.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;

use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, fs, permissions, println, sys, tree};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "chmod",
    operands: "MODE FILE...",
    about: "Changes permissions: MODE is an octal number, or says who (u g o a), how (+ - =) and what (r w x X).",
    flags: &[flag(b'v', "verbose", "tell each file's permissions")],
};

/// The permission bits of a file's mode.
const PERMISSIONS: u32 = 0o7777;

fn main(args: Args) -> i32 {
    // `-x` as a mode is no option; what stands behind `--` is none anyway.
    let mut arguments = args.rest().to_vec();
    let at = arguments.iter().take_while(|argument| **argument != b"--").position(|mode| takes_away(mode));
    let mode = at.map(|at| arguments.remove(at));
    let given = tool::read_arguments(&SYNTAX, &arguments, 1);
    let operands: Vec<&[u8]> = mode.into_iter().chain(given.operands.iter().copied()).collect();
    let outcome = Outcome::new();
    let (mode, files) = match operands[..] {
        [] => misuse(&SYNTAX, 1, format_args!("missing operand")),
        [mode] => misuse(&SYNTAX, 1, format_args!("missing operand after '{}'", Bytes(mode))),
        [mode, ref files @ ..] => (mode, files),
    };
    let umask = sys::current_umask();
    if permissions::apply(mode, 0, false, umask).is_none() {
        misuse(&SYNTAX, 1, format_args!("invalid mode: '{}'", Bytes(mode)));
    }
    for path in files {
        match change(path, mode, umask) {
            Ok(now) if given.has(b'v') => println!("mode of '{}' is {now:04o}", Bytes(path)),
            Ok(_) => {}
            Err(errno) => {
                let doing = if errno == Errno::ENOENT { "cannot access" } else { "changing permissions of" };
                outcome.complain(format_args!("{doing} '{}': {errno}", Bytes(path)));
            }
        }
    }
    outcome.status()
}

/// Whether an argument is a mode that begins with a minus.
fn takes_away(argument: &[u8]) -> bool {
    matches!(argument, [b'-', what, ..] if b"rwxXst".contains(what))
}

fn change(path: &[u8], mode: &[u8], umask: u32) -> Result<u32, Errno> {
    let found = tree::stat(path, true)?;
    let before = found.mode & PERMISSIONS;
    let now = permissions::apply(mode, before, tree::is_directory(&found), umask).ok_or(Errno::EINVAL)?;
    fs::set_mode(path, now)?;
    Ok(now)
}
