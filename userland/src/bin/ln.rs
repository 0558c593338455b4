//! `ln [-fsv] TARGET [NAME]`: makes another name for a file, or with `-s` a symbolic link to it.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag};
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io, names, println, sys, tree};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "ln",
    operands: "TARGET [NAME]",
    about: "Makes another name for a file; in a directory, or without a NAME, it is called like the file.",
    flags: &[
        flag(b's', "symbolic", "a symbolic link; TARGET need not be there"),
        flag(b'f', "force", "replace what has that name"),
        flag(b'v', "verbose", "tell each link"),
    ],
};

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let (target, name): (&[u8], &[u8]) = match given.operands[..] {
        [] => misuse(&SYNTAX, 1, format_args!("missing file operand")),
        [target] => (target, b"."),
        [target, name] => (target, name),
        [_, _, more, ..] => misuse(&SYNTAX, 1, format_args!("extra operand '{}'", Bytes(more))),
    };
    let inside = tree::stat(name, true).is_ok_and(|found| tree::is_directory(&found));
    let path = if inside { names::join(name, names::base(target)) } else { name.to_vec() };
    match link(target, &path, given.has(b's'), given.has(b'f')) {
        Ok(()) if given.has(b'v') => println!("'{}' -> '{}'", Bytes(&path), Bytes(target)),
        Ok(()) => {}
        Err(errno) => {
            let kind = if given.has(b's') { "symbolic link" } else { "hard link" };
            outcome.complain(format_args!("failed to create {kind} '{}': {errno}", Bytes(&path)));
        }
    }
    outcome.status()
}

fn link(target: &[u8], path: &[u8], symbolic: bool, force: bool) -> Result<(), Errno> {
    let (target, path) = (io::c_path(target)?, io::c_path(path)?);
    let make = || if symbolic { sys::symlink(&target, &path) } else { sys::link(&target, &path) };
    match make() {
        Err(Errno::EEXIST) if force => {
            sys::unlink(&path)?;
            make()
        }
        other => other,
    }
}
