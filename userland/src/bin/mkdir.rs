//! `mkdir [-pv] [-m MODE] DIRECTORY...`: makes directories.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use askr_userland::bytes::Bytes;
use askr_userland::cli::{Syntax, flag, option};
use askr_userland::number::parse_radix;
use askr_userland::tool::{self, Outcome, misuse};
use askr_userland::{Args, Errno, io, names, println, sys, tree};

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "mkdir",
    operands: "DIRECTORY...",
    about: "Makes directories.",
    flags: &[
        flag(b'p', "parents", "those above it too; one that is there is fine"),
        option(b'm', "mode", "MODE", "its permissions, in octal"),
        flag(b'v', "verbose", "tell each directory"),
    ],
};

/// The permissions if nothing is said, less the umask.
const MODE: u32 = 0o777;

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, 1);
    let outcome = Outcome::new();
    let mode = given.value(b'm').map_or(MODE, |text| {
        let mode =
            parse_radix(text, 8).and_then(|mode| u32::try_from(mode).ok()).filter(|&mode| mode <= 0o7777);
        mode.unwrap_or_else(|| misuse(&SYNTAX, 1, format_args!("invalid mode '{}'", Bytes(text))))
    });
    if given.operands.is_empty() {
        misuse(&SYNTAX, 1, format_args!("missing operand"));
    }
    for path in &given.operands {
        let parents = given.has(b'p');
        // The end of each part but the last is where a slash follows something else.
        let ends = (1..path.len()).filter(|&at| parents && path[at] == b'/' && path[at - 1] != b'/');
        let above = ends.map(|end| (&path[..end], MODE)).filter(|(above, _)| *above != names::trim(path));
        for (path, mode) in above.chain([(*path, mode)]) {
            match make(path, mode, parents) {
                Ok(true) if given.has(b'v') => println!("mkdir: created directory '{}'", Bytes(path)),
                Ok(_) => {}
                Err(errno) => {
                    outcome.complain(format_args!("cannot create directory '{}': {errno}", Bytes(path)));
                    break;
                }
            }
        }
    }
    outcome.status()
}

/// Makes one directory; false if it was there and may be.
fn make(path: &[u8], mode: u32, may_exist: bool) -> Result<bool, Errno> {
    match sys::mkdir(&io::c_path(path)?, mode) {
        Ok(()) => Ok(true),
        Err(Errno::EEXIST)
            if may_exist && tree::stat(path, true).is_ok_and(|found| tree::is_directory(&found)) =>
        {
            Ok(false)
        }
        Err(errno) => Err(errno),
    }
}
