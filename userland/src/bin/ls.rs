//! `ls [-1AadFhilRrSt] [PATH...]`: lists directories and files.
//!
//! Exit codes as in the GNU coreutils: 1 something inside could not be read, 2 an argument could not.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use askr_abi::types::{S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, Stat};
use askr_userland::bytes::Bytes;
use askr_userland::cli::{Given, Syntax, flag};
use askr_userland::clock::Date;
use askr_userland::columns::columns;
use askr_userland::names::join;
use askr_userland::number::Human;
use askr_userland::tool::{self, Outcome};
use askr_userland::{Args, Errno, io, print, println, sys, tree};
use core::cmp::Reverse;

askr_userland::main!(main);

const SYNTAX: Syntax = Syntax {
    name: "ls",
    operands: "[PATH]...",
    about: "Lists what is in directories, by name. At a terminal whose size is known in columns, else line by line.",
    flags: &[
        flag(b'a', "all", "names that begin with a dot too"),
        flag(b'A', "almost-all", "the same without . and .."),
        flag(b'l', "", "type, permissions, links, owner, size, time"),
        flag(b'h', "human-readable", "sizes with units"),
        flag(b'1', "", "one name a line"),
        flag(b'C', "", "columns"),
        flag(b'd', "directory", "directories themselves"),
        flag(b'F', "classify", "a mark after directories, links, programs"),
        flag(b'i', "inode", "the number of the file"),
        flag(b'R', "recursive", "directories in directories too"),
        flag(b'r', "reverse", "the other way round"),
        flag(b'S', "", "the largest first"),
        flag(b't', "", "the latest first"),
    ],
};

/// Exit status if an argument cannot be listed, or the command line is wrong.
const TROUBLE: i32 = 2;
/// Width of a line in columns, if they are wanted and nobody knows the terminal's.
const WIDTH: usize = 80;

/// A file to be listed.
struct Entry {
    name: Vec<u8>,
    path: Vec<u8>,
    stat: Stat,
}

struct Listing<'a> {
    given: &'a Given<'static>,
    /// Width for columns; `None`: a name a line.
    width: Option<usize>,
    outcome: Outcome,
}

fn main(args: Args) -> i32 {
    let given = tool::read(&SYNTAX, args, TROUBLE);
    let listing = Listing { width: width(&given), given: &given, outcome: Outcome::new() };
    let paths: &[&[u8]] = if given.operands.is_empty() { &[b"."] } else { &given.operands };
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for &path in paths {
        // With -l a link is listed itself, as everywhere.
        match listing.entry(path, path.to_vec(), !given.has(b'l') && !given.has(b'd')) {
            Ok(entry) if tree::is_directory(&entry.stat) && !given.has(b'd') => directories.push(entry),
            Ok(entry) => files.push(entry),
            Err(errno) => listing.complain("cannot access", path, errno, TROUBLE),
        }
    }
    listing.sort(&mut files);
    listing.sort(&mut directories);
    listing.print(&files);
    let titles = paths.len() > 1 || given.has(b'R');
    for (i, directory) in directories.iter().enumerate() {
        if i > 0 || !files.is_empty() {
            println!();
        }
        listing.list(&directory.path, titles, TROUBLE);
    }
    listing.outcome.status()
}

fn width(given: &Given<'_>) -> Option<usize> {
    let known = sys::window_size(sys::STDOUT).map_or(0, |size| usize::from(size.columns));
    match given.last_of(b"1Cl").map(|option| option.0) {
        Some(b'C') if known == 0 => Some(WIDTH),
        Some(b'C') | None if known > 0 => Some(known),
        _ => None,
    }
}

impl Listing<'_> {
    fn complain(&self, what: &str, path: &[u8], errno: Errno, status: i32) {
        self.outcome.complain(format_args!("{what} '{}': {errno}", Bytes(path)));
        self.outcome.note(status);
    }

    /// A link that leads nowhere is listed itself.
    fn entry(&self, name: &[u8], path: Vec<u8>, follow: bool) -> Result<Entry, Errno> {
        let stat = match tree::stat(&path, follow) {
            Err(_) if follow => tree::stat(&path, false)?,
            found => found?,
        };
        Ok(Entry { name: name.to_vec(), path, stat })
    }

    /// Lists one directory, and with `-R` those in it: as deep as a path is long.
    fn list(&self, path: &[u8], title: bool, status: i32) {
        let names = match io::list_directory(path) {
            Ok(names) => names,
            Err(errno) => return self.complain("cannot open directory", path, errno, status),
        };
        let is_wanted = |name: &Vec<u8>| match &name[..] {
            b"." | b".." => self.given.last_of(b"aA").is_some_and(|option| option.0 == b'a'),
            _ => !name.starts_with(b".") || self.given.last_of(b"aA").is_some(),
        };
        let mut entries = Vec::new();
        for name in names.iter().filter(|name| is_wanted(name)) {
            match self.entry(name, join(path, name), false) {
                Ok(entry) => entries.push(entry),
                // It went since the directory was read.
                Err(Errno::ENOENT) => {}
                Err(errno) => self.complain("cannot access", &join(path, name), errno, 1),
            }
        }
        self.sort(&mut entries);
        if title {
            io::print_name(path);
            println!(":");
        }
        if self.given.has(b'l') {
            // Blocks are counted in units of 512 bytes.
            println!("total {}", entries.iter().map(|entry| entry.stat.blocks).sum::<i64>() / 2);
        }
        self.print(&entries);
        let inside = entries.iter().filter(|entry| {
            self.given.has(b'R')
                && tree::is_directory(&entry.stat)
                && !matches!(&entry.name[..], b"." | b"..")
        });
        for directory in inside {
            println!();
            self.list(&directory.path, true, 1);
        }
    }

    fn sort(&self, entries: &mut [Entry]) {
        match self.given.last_of(b"St").map(|option| option.0) {
            Some(b'S') => {
                entries.sort_by(|a, b| (Reverse(a.stat.size), &a.name).cmp(&(Reverse(b.stat.size), &b.name)));
            }
            Some(_) => entries
                .sort_by(|a, b| (Reverse(a.stat.mtime), &a.name).cmp(&(Reverse(b.stat.mtime), &b.name))),
            None => entries.sort_by(|a, b| a.name.cmp(&b.name)),
        }
        if self.given.has(b'r') {
            entries.reverse();
        }
    }

    fn print(&self, entries: &[Entry]) {
        match self.width.filter(|_| !self.given.has(b'l')) {
            Some(width) => {
                let names: Vec<String> = entries.iter().map(|entry| self.shown(entry)).collect();
                print!("{}", columns(&names, width));
            }
            None if self.given.has(b'l') => self.print_long(entries),
            None => {
                for entry in entries {
                    self.print_name(entry);
                    println!();
                }
            }
        }
    }

    fn print_long(&self, entries: &[Entry]) {
        let sizes: Vec<String> = entries.iter().map(|entry| self.size(&entry.stat)).collect();
        let widest = sizes.iter().map(String::len).max().unwrap_or(0);
        for (entry, size) in entries.iter().zip(&sizes) {
            let stat = &entry.stat;
            print_mode(stat.mode);
            let date = Date { seconds: stat.mtime.sec };
            print!(" {:>2} {} {} {size:>widest$} {date} ", stat.nlink, owner(stat.uid), owner(stat.gid));
            self.print_name(entry);
            if stat.mode & S_IFMT == S_IFLNK
                && let Ok(target) = io::c_path(&entry.path).and_then(|path| sys::readlink(&path))
            {
                print!(" -> ");
                io::print_name(&target);
            }
            println!();
        }
    }

    fn size(&self, stat: &Stat) -> String {
        let size = u64::try_from(stat.size).unwrap_or(0);
        match stat.mode & S_IFMT {
            // Linux's numbers of devices, as far as they have eight bits each.
            S_IFCHR => alloc::format!("{}, {}", stat.rdev >> 8, stat.rdev & 0xFF),
            _ if self.given.has(b'h') => Human(size).to_string(),
            _ => size.to_string(),
        }
    }

    /// The name for a terminal.
    fn shown(&self, entry: &Entry) -> String {
        let number = if self.given.has(b'i') { alloc::format!("{} ", entry.stat.ino) } else { String::new() };
        alloc::format!("{number}{}{}", Bytes(&entry.name), self.mark(&entry.stat))
    }

    fn print_name(&self, entry: &Entry) {
        if self.given.has(b'i') {
            print!("{} ", entry.stat.ino);
        }
        io::print_name(&entry.name);
        print!("{}", self.mark(&entry.stat));
    }

    fn mark(&self, stat: &Stat) -> &'static str {
        match stat.mode & S_IFMT {
            _ if !self.given.has(b'F') => "",
            S_IFDIR => "/",
            S_IFLNK => "@",
            S_IFIFO => "|",
            S_IFCHR => "",
            _ if stat.mode & 0o111 != 0 => "*",
            _ => "",
        }
    }
}

/// There is one user.
fn owner(number: u32) -> String {
    if number == 0 { "root".to_string() } else { number.to_string() }
}

fn print_mode(mode: u32) {
    let kind = match mode & S_IFMT {
        S_IFDIR => 'd',
        S_IFCHR => 'c',
        S_IFLNK => 'l',
        S_IFIFO => 'p',
        _ => '-',
    };
    print!("{kind}");
    for bit in (0..9).rev() {
        let letter = ['x', 'w', 'r'][bit % 3];
        print!("{}", if mode >> bit & 1 == 1 { letter } else { '-' });
    }
}
