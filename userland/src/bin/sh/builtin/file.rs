//! Builtins about files, text and conditions.

use super::{done, misuse};
use crate::{EXIT_USAGE, Run, Shell};
use alloc::vec::Vec;
use askr_abi::types::{S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, S_IFREG, Stat};
use askr_userland::bytes::Bytes;
use askr_userland::shell::condition::{Files, holds};
use askr_userland::shell::expand::{EXPANSION_MAX, Host};
use askr_userland::shell::format;
use askr_userland::shell::name_length;
use askr_userland::shell::read::{cells, split};
use askr_userland::{Errno, eprintln, io, println, sys};

/// Permissions to execute, of anyone.
const EXECUTABLE: u32 = 0o111;
/// All permissions.
const PERMISSIONS: u32 = 0o777;
/// Permissions to read and to write, of anyone.
const READABLE: u32 = 0o444;
const WRITABLE: u32 = 0o222;

pub(super) fn change_directory(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let (path, tell) = match arguments {
        [] => (shell.variables.get(b"HOME").unwrap_or(b"/").to_vec(), false),
        [path] if path == b"-" => match shell.variables.get(b"OLDPWD") {
            Some(path) => (path.to_vec(), true),
            None => {
                eprintln!("sh: cd: OLDPWD is not set");
                return done(shell, 1);
            }
        },
        [path] => (path.clone(), false),
        _ => {
            eprintln!("sh: cd: too many arguments");
            return done(shell, EXIT_USAGE);
        }
    };
    if let Err(errno) = io::c_path(&path).and_then(|path| sys::chdir(&path)) {
        eprintln!("sh: cd: {}: {errno}", Bytes(&path));
        return done(shell, 1);
    }
    let before = shell.variables.get(b"PWD").map(<[u8]>::to_vec);
    let now = sys::getcwd().unwrap_or(path);
    if tell {
        println!("{}", Bytes(&now));
    }
    for (name, value) in [(&b"OLDPWD"[..], before), (b"PWD", Some(now))] {
        if let Some(value) = value
            && let Err(failure) = shell.variables.set(name, value)
        {
            eprintln!("sh: cd: {failure}");
            return done(shell, 1);
        }
    }
    done(shell, 0)
}

pub(super) fn print_directory(shell: &mut Shell, _: &[Vec<u8>]) -> Run {
    match sys::getcwd() {
        Ok(path) => {
            io::print_bytes(&path);
            io::print_bytes(b"\n");
            done(shell, 0)
        }
        Err(errno) => {
            eprintln!("sh: pwd: {errno}");
            done(shell, 1)
        }
    }
}

pub(super) fn echo(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let (words, end) = match arguments {
        [first, rest @ ..] if first == b"-n" => (rest, &b""[..]),
        words => (words, &b"\n"[..]),
    };
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            io::print_bytes(b" ");
        }
        io::print_bytes(word);
    }
    io::print_bytes(end);
    done(shell, 0)
}

pub(super) fn print_format(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let arguments = match arguments {
        [first, rest @ ..] if first == b"--" => rest,
        all => all,
    };
    let [template, arguments @ ..] = arguments else { return misuse(shell, "printf") };
    let printed = format::print(template, arguments);
    io::print_bytes(&printed.text);
    if let Some(mistake) = &printed.mistake {
        eprintln!("sh: printf: {}: not understood", Bytes(mistake));
    }
    if printed.cut {
        eprintln!("sh: printf: there was more than {} bytes; the rest is missing", format::OUTPUT_MAX);
    }
    done(shell, i32::from(printed.mistake.is_some() || printed.cut))
}

/// The files of the system.
struct System;

impl Files for System {
    fn has(&self, property: u8, path: &[u8]) -> bool {
        let Ok(path) = io::c_path(path) else { return false };
        let stat = if matches!(property, b'h' | b'L') { sys::lstat(&path) } else { sys::stat(&path) };
        let Ok(stat) = stat else { return false };
        let is = |kind: u32| stat.mode & S_IFMT == kind;
        match property {
            // There are neither block devices nor sockets.
            b'b' | b'S' => false,
            b'c' => is(S_IFCHR),
            b'd' => is(S_IFDIR),
            b'e' => true,
            b'f' => is(S_IFREG),
            b'g' => stat.mode & 0o2000 != 0,
            b'h' | b'L' => is(S_IFLNK),
            b'p' => is(S_IFIFO),
            b'r' => stat.mode & READABLE != 0,
            b's' => stat.size > 0,
            b'u' => stat.mode & 0o4000 != 0,
            b'w' => stat.mode & WRITABLE != 0,
            _ => stat.mode & EXECUTABLE != 0,
        }
    }

    fn is_newer(&self, path: &[u8], other: &[u8]) -> bool {
        let stat = |path: &[u8]| -> Option<Stat> { sys::stat(&io::c_path(path).ok()?).ok() };
        match (stat(path), stat(other)) {
            (Some(first), Some(second)) => first.mtime > second.mtime,
            (first, None) => first.is_some(),
            (None, Some(_)) => false,
        }
    }

    fn is_terminal(&self, descriptor: u64) -> bool {
        i32::try_from(descriptor).is_ok_and(sys::is_terminal)
    }
}

pub(super) fn test(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    match holds(arguments, &System) {
        Ok(value) => done(shell, i32::from(!value)),
        Err(message) => {
            eprintln!("sh: test: {message}");
            done(shell, EXIT_USAGE)
        }
    }
}

pub(super) fn bracket(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    match arguments {
        [words @ .., end] if end == b"]" => test(shell, words),
        _ => {
            eprintln!("sh: [: `]` is missing");
            done(shell, EXIT_USAGE)
        }
    }
}

pub(super) fn read(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let (raw, names) = match arguments {
        [option, names @ ..] if option == b"-r" => (true, names),
        names => (false, names),
    };
    let is_name = |name: &Vec<u8>| !name.is_empty() && name_length(name) == name.len();
    if names.is_empty() || !names.iter().all(is_name) {
        return misuse(shell, "read");
    }
    shell.let_programs_read();
    let (line, ended) = match read_line(shell, raw) {
        Ok(read) => read,
        Err(Errno::EINTR) => return shell.check_interrupt(),
        Err(errno) => {
            eprintln!("sh: read: {errno}");
            return done(shell, EXIT_USAGE);
        }
    };
    let separators = shell.variables.get(b"IFS").unwrap_or(b" \t\n").to_vec();
    for (name, value) in names.iter().zip(split(&cells(&line, raw), names.len(), &separators)) {
        if let Err(failure) = shell.assign(name, value) {
            return shell.fail(&failure);
        }
    }
    done(shell, i32::from(!ended))
}

/// A line of standard input, byte by byte, because the rest is for others; and whether it had an end. Without `raw`,
/// a backslash joins two lines.
fn read_line(shell: &mut Shell, raw: bool) -> Result<(Vec<u8>, bool), Errno> {
    let mut line = Vec::new();
    let mut escaped = false;
    loop {
        let mut byte = [0];
        match sys::read(sys::STDIN, &mut byte) {
            Ok(0) => return Ok((line, false)),
            Ok(_) => {}
            Err(Errno::EINTR) if !shell.is_interrupted() => continue,
            Err(errno) => return Err(errno),
        }
        match byte[0] {
            b'\n' if escaped => drop(line.pop()),
            b'\n' => return Ok((line, true)),
            0 => {}
            byte => line.push(byte),
        }
        escaped = !raw && !escaped && byte[0] == b'\\';
        if line.len() > EXPANSION_MAX {
            return Err(Errno::E2BIG);
        }
    }
}

pub(super) fn mask(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let octal = |text: &Vec<u8>| u32::from_str_radix(str::from_utf8(text).ok()?, 8).ok();
    match arguments {
        [] => {
            println!("{:04o}", sys::current_umask());
            done(shell, 0)
        }
        [text] => match octal(text).filter(|&mask| mask <= PERMISSIONS) {
            Some(mask) => {
                sys::umask(mask);
                done(shell, 0)
            }
            None => misuse(shell, "umask"),
        },
        _ => misuse(shell, "umask"),
    }
}
