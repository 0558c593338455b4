//! Builtins about processes, and about what was typed.

use super::{done, misuse};
use crate::{EXIT_NOT_FOUND, EXIT_USAGE, Run, Shell};
use alloc::vec::Vec;
use askr_abi::types::{SIGCONT, SIGHUP, SIGTERM};
use askr_userland::bytes::Bytes;
use askr_userland::sys::{self, Pid};
use askr_userland::{Errno, eprintln, print, println, signal};

pub(super) fn ai(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let status = shell.run_ai(&arguments.join(&b' '));
    done(shell, status)
}

pub(super) fn jobs(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    match arguments {
        [] => shell.jobs.print(false),
        [option] if option == b"-l" => shell.jobs.print(true),
        _ => return misuse(shell, "jobs"),
    }
    done(shell, 0)
}

/// The job that is named, the last if none is.
fn named(arguments: &[Vec<u8>]) -> &[u8] {
    arguments.first().map_or(&b"%+"[..], Vec::as_slice)
}

fn no_job(shell: &mut Shell, command: &str, arguments: &[Vec<u8>]) -> Run {
    eprintln!("sh: {command}: {}: no such job", Bytes(named(arguments)));
    done(shell, 1)
}

pub(super) fn foreground(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    match shell.resume_in_front(named(arguments)) {
        Some(status) => done(shell, status),
        None => no_job(shell, "fg", arguments),
    }
}

pub(super) fn background(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    match shell.resume_behind(named(arguments)) {
        Some(()) => done(shell, 0),
        None => no_job(shell, "bg", arguments),
    }
}

pub(super) fn wait(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    if arguments.is_empty() {
        if !shell.wait_for_all() {
            shell.check_interrupt()?;
        }
        return done(shell, 0);
    }
    let mut status = 0;
    for argument in arguments {
        status = match shell.wait_for(argument) {
            Some(status) => status,
            None => {
                shell.check_interrupt()?;
                EXIT_NOT_FOUND
            }
        };
    }
    done(shell, status)
}

/// `kill -l`: the names of all signals, or of those asked for by number, name or exit status.
fn list_signals(shell: &mut Shell, asked: &[Vec<u8>]) -> Run {
    if asked.is_empty() {
        for (number, name) in signal::all() {
            print!("{}{name}", if number == 1 { "" } else { " " });
        }
        println!();
    }
    let mut status = 0;
    for text in asked {
        match signal::find(text) {
            Some((_, name)) => println!("{name}"),
            None => {
                eprintln!("sh: kill: {}: no such signal", Bytes(text));
                status = 1;
            }
        }
    }
    done(shell, status)
}

pub(super) fn kill(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let (signal, targets) = match arguments {
        [option, asked @ ..] if option == b"-l" => return list_signals(shell, asked),
        [option, name, targets @ ..] if option == b"-s" => (signal::parse(name), targets),
        [option, targets @ ..] if option == b"--" => (Some(SIGTERM), targets),
        [option, targets @ ..] if option.starts_with(b"-") => (signal::parse(&option[1..]), targets),
        targets => (Some(SIGTERM), targets),
    };
    let Some(signal) = signal else {
        eprintln!("sh: kill: no such signal; `kill -l` lists them");
        return done(shell, EXIT_USAGE);
    };
    if targets.is_empty() {
        return misuse(shell, "kill");
    }
    let mut status = 0;
    for target in targets {
        let pid = match target.strip_prefix(b"%") {
            // Without job control a job has no group of its own.
            Some(_) if shell.control.is_none() => shell.jobs.group(target),
            Some(_) => shell.jobs.group(target).map(|group| -group),
            None => str::from_utf8(target).ok().and_then(|text| text.parse::<Pid>().ok()),
        };
        let sent = pid.ok_or(Errno::ESRCH).and_then(|pid| sys::kill(pid, signal));
        if let (Some(group), SIGTERM | SIGHUP, true) = (pid, signal, target.starts_with(b"%")) {
            // A job that is stopped would not learn of it. If it has ended by now, there is nobody to tell.
            let _ = sys::kill(group, SIGCONT);
        }
        if let Err(errno) = sent {
            eprintln!("sh: kill: {}: {errno}", Bytes(target));
            status = 1;
        }
    }
    done(shell, status)
}

pub(super) fn history(shell: &mut Shell, _: &[Vec<u8>]) -> Run {
    if let Some(person) = &shell.person {
        for (index, line) in person.history().enumerate() {
            println!("{:5}  {}", index + 1, Bytes(line));
        }
    }
    done(shell, 0)
}
