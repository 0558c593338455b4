//! `ls [-al] [PATH...]`: lists directories, one name a line; `-a` with names that begin with a dot, `-l` with
//! type, permissions, links, size and time of change.
//!
//! Exit codes as in the GNU coreutils: 1 something inside could not be read, 2 an argument could not.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use askr_abi::types::{S_IFCHR, S_IFDIR, S_IFLNK, S_IFMT, Stat};
use askr_userland::bytes::Bytes;
use askr_userland::clock::Date;
use askr_userland::{Args, Errno, eprintln, io, print, println, sys};
use getargs::{Opt, Options};

askr_userland::main!(main);

#[derive(Clone, Copy, Default)]
struct Style {
    all: bool,
    long: bool,
    /// Escape what a terminal would obey; elsewhere names go out as they are.
    escape: bool,
}

fn main(args: Args) -> i32 {
    let mut style = Style { escape: sys::is_terminal(sys::STDOUT), ..Style::default() };
    let mut options = Options::new(args.rest().iter().copied());
    loop {
        match options.next_opt() {
            Ok(None) => break,
            Ok(Some(Opt::Short(b'a'))) => style.all = true,
            Ok(Some(Opt::Short(b'l'))) => style.long = true,
            // One name a line is the only format.
            Ok(Some(Opt::Short(b'1'))) => {}
            _ => {
                eprintln!("usage: ls [-al] [PATH...]");
                return 2;
            }
        }
    }
    let mut paths: Vec<&[u8]> = options.positionals().collect();
    if paths.is_empty() {
        paths.push(b".");
    }
    let (mut status, mut directories) = (0, Vec::new());
    for &path in &paths {
        match stat(path) {
            Ok(stat) if stat.mode & S_IFMT == S_IFDIR => directories.push(path),
            Ok(stat) => print_entry(path, &stat, style),
            Err(errno) => {
                eprintln!("ls: cannot access '{}': {errno}", Bytes(path));
                status = 2;
            }
        }
    }
    for (i, path) in directories.iter().enumerate() {
        if paths.len() > 1 {
            println!("{}{}:", if i > 0 { "\n" } else { "" }, Bytes(path));
        }
        status = status.max(list(path, style));
    }
    status
}

fn stat(path: &[u8]) -> Result<Stat, Errno> {
    sys::stat(&io::c_path(path)?)
}

/// Lists one directory; the exit code.
fn list(path: &[u8], style: Style) -> i32 {
    let mut names = match io::list_directory(path) {
        Ok(names) => names,
        Err(errno) => {
            eprintln!("ls: cannot open directory '{}': {errno}", Bytes(path));
            return 2;
        }
    };
    names.retain(|name| style.all || !name.starts_with(b"."));
    names.sort_unstable();
    let mut status = 0;
    for name in &names {
        let full = [path, b"/", name].concat();
        match if style.long { stat(&full) } else { Ok(Stat::default()) } {
            Ok(stat) => print_entry(name, &stat, style),
            Err(errno) => {
                eprintln!("ls: cannot access '{}': {errno}", Bytes(&full));
                status = 1;
            }
        }
    }
    status
}

fn print_entry(name: &[u8], stat: &Stat, style: Style) {
    if style.long {
        print_mode(stat.mode);
        print!(" {:>2} {:>8} {} ", stat.nlink, stat.size, Date { seconds: stat.mtime.sec });
    }
    if style.escape {
        println!("{}", Bytes(name));
    } else {
        io::print_bytes(name);
        io::print_bytes(b"\n");
    }
}

fn print_mode(mode: u32) {
    let kind = match mode & S_IFMT {
        S_IFDIR => 'd',
        S_IFCHR => 'c',
        S_IFLNK => 'l',
        _ => '-',
    };
    print!("{kind}");
    for bit in (0..9).rev() {
        let letter = ['x', 'w', 'r'][bit % 3];
        print!("{}", if mode >> bit & 1 == 1 { letter } else { '-' });
    }
}
