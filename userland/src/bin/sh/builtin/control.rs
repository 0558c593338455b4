//! Builtins that decide which command runs next.

use super::{done, misuse};
use crate::{EXIT_USAGE, Leave, Run, SCRIPT_MAX, Shell};
use alloc::format;
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;
use askr_userland::{clock, eprintln, io, process};
use core::ops::ControlFlow::{Break, Continue};

pub(super) fn succeed(shell: &mut Shell, _: &[Vec<u8>]) -> Run {
    done(shell, 0)
}

pub(super) fn fail(shell: &mut Shell, _: &[Vec<u8>]) -> Run {
    done(shell, 1)
}

/// A status from the arguments, that of the last command without any; `None`, with a message, if it is none.
fn status(shell: &Shell, name: &str, arguments: &[Vec<u8>]) -> Option<i32> {
    let status = match arguments {
        [] => return Some(shell.status),
        [text] => clock::parse_u64(text).and_then(|code| u8::try_from(code).ok()).map(i32::from),
        _ => None,
    };
    if status.is_none() {
        eprintln!("sh: {name}: the status is a number from 0 to 255");
    }
    status
}

pub(super) fn exit(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    match status(shell, "exit", arguments) {
        Some(status) => {
            shell.status = status;
            Break(Leave::Exit)
        }
        None => {
            shell.status = EXIT_USAGE;
            Break(shell.fatal())
        }
    }
}

pub(super) fn return_from(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    match status(shell, "return", arguments) {
        Some(status) => {
            shell.status = status;
            // Outside of a function and a file there is nothing but the shell to leave.
            Break(if shell.calls > 0 { Leave::Return } else { Leave::Exit })
        }
        None => {
            shell.status = EXIT_USAGE;
            Break(shell.fatal())
        }
    }
}

pub(super) fn leave_loop(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    leave(shell, "break", arguments, Leave::Break)
}

pub(super) fn next_round(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    leave(shell, "continue", arguments, Leave::Continue)
}

fn leave(shell: &mut Shell, name: &str, arguments: &[Vec<u8>], leave: fn(usize) -> Leave) -> Run {
    let count = match arguments {
        [] => Some(1),
        [text] => clock::parse_u64(text).and_then(|count| usize::try_from(count).ok()),
        _ => None,
    };
    let Some(count) = count.filter(|&count| count > 0) else {
        return misuse(shell, name);
    };
    shell.status = 0;
    // More loops than there are: all of them. Outside of a loop: nothing.
    match count.min(shell.loops) {
        0 => Continue(()),
        count => Break(leave(count)),
    }
}

/// Runs a text one level deeper, so that a text that runs itself ends.
fn run_deeper(shell: &mut Shell, text: &[u8], place: &str) -> Run {
    if shell.levels >= crate::LEVELS_MAX {
        eprintln!("sh: more than {} commands in one another", crate::LEVELS_MAX);
        return Break(shell.fatal());
    }
    shell.levels += 1;
    let run = shell.run_text(text, place);
    shell.levels -= 1;
    run
}

pub(super) fn evaluate(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let text = arguments.join(&b' ');
    if text.trim_ascii().is_empty() {
        return done(shell, 0);
    }
    run_deeper(shell, &text, "eval: ")
}

pub(super) fn source(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    let [name, ..] = arguments else { return misuse(shell, ".") };
    let path = if name.contains(&b'/') { Some(name.clone()) } else { shell.find_program(name) };
    let read = path.ok_or(askr_userland::Errno::ENOENT).and_then(|path| io::read_file(&path, SCRIPT_MAX));
    let text = match read {
        Ok(text) => text,
        Err(errno) => {
            eprintln!("sh: .: {}: {errno}", Bytes(name));
            shell.status = EXIT_USAGE;
            return Break(shell.fatal());
        }
    };
    shell.status = 0;
    shell.calls += 1;
    let run = run_deeper(shell, &text, &format!("{}: ", Bytes(name)));
    shell.calls -= 1;
    match run {
        Break(Leave::Return) => Continue(()),
        other => other,
    }
}

pub(super) fn replace(shell: &mut Shell, arguments: &[Vec<u8>]) -> Run {
    if arguments.is_empty() {
        return done(shell, 0);
    }
    let _ = io::flush();
    shell.let_programs_read();
    shell.restore_signals();
    let (status, message) = shell.execute(arguments);
    eprintln!("sh: exec: {}: {message}", Bytes(&arguments[0]));
    if shell.control.is_some() {
        shell.keep_signals();
        return done(shell, status);
    }
    process::exit(status)
}
