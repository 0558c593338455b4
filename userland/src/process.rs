//! Starting other programs, waiting for them, and ending.

use crate::bytes::Bytes;
use crate::sys::{self, CStrings, Disposition, Fork, Pid};
use crate::{env, eprintln, io};
use askr_abi::Errno;
use askr_abi::terminal::Termios;
use askr_abi::types::{SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, WNOHANG};

pub use crate::signal::Status;

/// Exit code of a program that was not found.
pub const EXIT_NOT_FOUND: i32 = 127;
/// Exit code of a program that was found but could not be started.
pub const EXIT_NOT_STARTED: i32 = 126;

/// Which process group a new program belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The caller's.
    Inherit,
    /// A new one that it leads.
    Own,
    /// A new one that it leads, and that the terminal belongs to.
    Foreground,
    /// A new one in a new session that it leads, and that the terminal at standard output belongs to.
    Session,
}

/// Ends the program: writes out standard output, and turns success into failure if output was lost.
pub fn exit(status: i32) -> ! {
    if let Err(errno) = io::flush() {
        eprintln!("{}: write error: {errno}", env::program());
        sys::exit(if status == 0 { 1 } else { status });
    }
    sys::exit(status)
}

/// Puts a process into its group and gives it the terminal if it gets it. Parent and child both do this, so that
/// it holds whichever runs first; so errors are no matter: the other one was earlier. Only a session is the child's own
/// business.
pub fn join_group(pid: Pid, group: Group) {
    match group {
        Group::Inherit => return,
        Group::Session if pid != 0 => return,
        Group::Session => {
            let _ = sys::setsid();
            let _ = sys::set_controlling_terminal(sys::STDOUT);
            return;
        }
        Group::Own | Group::Foreground => {}
    }
    let _ = sys::setpgid(pid, 0);
    if group == Group::Foreground {
        let leader = if pid == 0 { sys::getpid() } else { pid };
        let _ = sys::set_foreground(sys::STDIN, leader);
    }
}

/// Gives the terminal at standard input the modes that programs expect, whatever the one before left. Whoever starts
/// a program in the foreground may have read a line in raw mode; what was typed since is typed again for the program.
pub fn set_canonical() {
    // Fails where standard input is no terminal, and then there is nothing to set.
    let _ = sys::set_terminal_attributes(sys::STDIN, &Termios::CANONICAL);
}

/// Forks; the child is in `group` and obeys Ctrl-C again. In the foreground its terminal has the ordinary modes.
///
/// # Errors
/// What `fork` says.
pub fn fork_into(group: Group) -> Result<Fork, Errno> {
    // What is left in the buffer would be written by both. A lost write stays recorded for the parent's exit.
    io::flush_best_effort();
    let who = sys::fork()?;
    match who {
        Fork::Child => {
            join_group(0, group);
            // What the caller ignores would stay ignored across `execve`. Where a signal cannot be changed, it
            // was not ignored either.
            for signal in [SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU] {
                let _ = sys::set_signal(signal, Disposition::Default);
            }
            // Last, because a Ctrl-C that was typed meanwhile has its effect now.
            if matches!(group, Group::Foreground | Group::Session) {
                set_canonical();
            }
        }
        Fork::Parent(pid) => join_group(pid, group),
    }
    Ok(who)
}

/// Starts the program at `path` with `arguments` (the first is its name) and `environment`.
///
/// If the child cannot become the program, it says so on standard error in the name of `caller` and ends with
/// [`EXIT_NOT_FOUND`] or [`EXIT_NOT_STARTED`].
///
/// # Errors
/// What `fork` says; EINVAL for a NUL byte in an argument.
pub fn spawn(caller: &str, path: &[u8], arguments: &[&[u8]], group: Group) -> Result<Pid, Errno> {
    let c_path = io::c_path(path)?;
    let c_arguments = CStrings::new(arguments)?;
    let c_environment = CStrings::new(&env::variables())?;
    match fork_into(group)? {
        Fork::Parent(pid) => Ok(pid),
        Fork::Child => {
            let errno = sys::execve(&c_path, &c_arguments, &c_environment);
            let name = arguments.first().copied().unwrap_or(path);
            if errno != Errno::ENOENT {
                eprintln!("{caller}: {}: {errno}", Bytes(name));
                sys::exit(EXIT_NOT_STARTED);
            }
            let what = if name.contains(&b'/') { errno.message() } else { "command not found" };
            eprintln!("{caller}: {}: {what}", Bytes(name));
            sys::exit(EXIT_NOT_FOUND)
        }
    }
}

/// Waits until the child `pid` has ended.
pub fn wait(pid: Pid) -> Result<Status, Errno> {
    let (_, status) = sys::wait4(pid, 0)?.ok_or(Errno::EIO)?;
    Ok(Status::from_raw(status))
}

/// A child that has ended and was not waited for yet, if there is one.
pub fn reap() -> Option<(Pid, Status)> {
    // The only error is ECHILD: there are no children.
    let (pid, status) = sys::wait4(-1, WNOHANG).ok().flatten()?;
    Some((pid, Status::from_raw(status)))
}
