//! Running a step: an ordinary program with exactly the arguments of the plan.
//!
//! It gets no input, and a process group that the terminal does not belong to: so nothing that it starts counts as the
//! person, and Ctrl-C comes to us, who end all of the group whatever it ignores.

use crate::ended;
use alloc::vec::Vec;
use askr_abi::signal::{SIGINT, SIGKILL};
use askr_abi::types::{O_CLOEXEC, O_RDONLY, WNOHANG, WUNTRACED};
use askr_userland::assist::tail::Tail;
use askr_userland::process::{self, EXIT_NOT_FOUND, EXIT_NOT_STARTED, Status};
use askr_userland::signal::{SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
use askr_userland::sys::{self, CStrings, Disposition, Fd, Fork, Pid};
use askr_userland::{Errno, env, eprintln, io};

/// Longest time without a look at whether the program has ended, in milliseconds.
pub(crate) const LOOK_MS: u32 = 100;
/// Bytes of output that are passed on at a time.
const PIECE: usize = 4096;
/// Where programs are.
const PROGRAMS: &[u8] = b"/bin";

/// How a step ended.
pub(crate) enum Ran {
    /// With this exit code, and a reason if a signal ended it.
    Ended { code: i32, cause: Option<&'static str>, output: Tail },
    /// It could not be started.
    NotStarted(Errno),
    /// Ctrl-C came; nothing of it runs any more.
    Interrupted,
}

/// Runs a program to its end. Its output is shown as it comes.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    io::flush_best_effort();
    let (from, pid) = match start(arguments) {
        Ok(started) => started,
        Err(errno) => return Ran::NotStarted(errno),
    };
    let mut output = Tail::default();
    let followed = follow(from, pid, &mut output);
    let _ = sys::close(from);
    match followed {
        Ok(status) => {
            let (code, cause) = ended(status);
            if matches!(status, Status::Stopped(_)) {
                end_group(pid);
            }
            Ran::Ended { code, cause, output }
        }
        Err(Errno::EINTR) => {
            end_group(pid);
            Ran::Interrupted
        }
        Err(errno) => {
            end_group(pid);
            Ran::NotStarted(errno)
        }
    }
}

/// The end of its output to read, and its number.
fn start(arguments: &[&str]) -> Result<(Fd, Pid), Errno> {
    let bytes: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
    let name = *bytes.first().ok_or(Errno::EINVAL)?;
    let path = if name.contains(&b'/') { name.to_vec() } else { [PROGRAMS, b"/", name].concat() };
    let path = io::c_path(&path)?;
    let (argv, environment) = (CStrings::new(&bytes)?, CStrings::new(&env::variables())?);
    let (from, to) = sys::pipe(O_CLOEXEC)?;
    match sys::fork() {
        Ok(Fork::Child) => {
            let _ = sys::setpgid(0, 0);
            become_program(&path, &argv, &environment, to, name)
        }
        Ok(Fork::Parent(pid)) => {
            // Both do it, so that it holds whichever runs first.
            let _ = (sys::setpgid(pid, pid), sys::close(to));
            Ok((from, pid))
        }
        Err(errno) => {
            let _ = (sys::close(from), sys::close(to));
            Err(errno)
        }
    }
}

fn become_program(
    path: &core::ffi::CStr,
    argv: &CStrings,
    environment: &CStrings,
    output: Fd,
    name: &[u8],
) -> ! {
    for signal in [SIGINT, SIGQUIT, SIGHUP, askr_abi::signal::SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU] {
        let _ = sys::set_signal(signal, Disposition::Default);
    }
    let input = sys::open(c"/dev/null", O_RDONLY, 0);
    let connected = input.and_then(|input| sys::dup2(input, sys::STDIN)).and_then(|()| {
        sys::dup2(output, sys::STDOUT)?;
        sys::dup2(output, sys::STDERR)
    });
    let errno = match connected {
        Ok(()) => sys::execve(path, argv, environment),
        Err(errno) => errno,
    };
    let what = if errno == Errno::ENOENT { "no such program" } else { errno.message() };
    eprintln!("ai: {}: {what}", askr_userland::bytes::Bytes(name));
    process::exit(if errno == Errno::ENOENT { EXIT_NOT_FOUND } else { EXIT_NOT_STARTED })
}

/// Passes the output on until the program has ended and what it wrote was read.
fn follow(from: Fd, pid: Pid, output: &mut Tail) -> Result<Status, Errno> {
    let mut status = None;
    let mut open = true;
    // Ends with the program, or by Ctrl-C.
    loop {
        if sys::take_interrupt() {
            return Err(Errno::EINTR);
        }
        let ready = open && sys::poll_readable(from, if status.is_some() { 0 } else { LOOK_MS })?;
        if ready {
            open = pass_on(from, output)?;
            continue;
        }
        if let Some(status) = status {
            return Ok(status);
        }
        let options = if open { WNOHANG | WUNTRACED } else { WUNTRACED };
        status = sys::wait4(pid, options)?.map(|(_, raw)| Status::from_raw(raw));
    }
}

/// Whether there may be more.
fn pass_on(from: Fd, output: &mut Tail) -> Result<bool, Errno> {
    let mut piece = [0; PIECE];
    let count = sys::read(from, &mut piece)?;
    output.push(&piece[..count]);
    io::write_all(sys::STDOUT, &piece[..count])?;
    Ok(count > 0)
}

/// Ends the program with all that it has started and that has not left its group.
fn end_group(pid: Pid) {
    // Fails if all have ended.
    let _ = sys::kill(-pid, SIGKILL);
    let _ = sys::wait4(pid, 0);
}
