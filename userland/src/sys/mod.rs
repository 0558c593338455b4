//! System calls as typed functions. The numbers and layouts are Linux's on x86-64 (`askr_abi`), so a program
//! also runs on a Linux host, except for the calls that only Askr has.
//!
//! Every function is safe: what it gives the kernel are addresses of live references with their true lengths.

mod ask;
mod file;
mod interrupt;
mod machine;
mod memory;
mod process;
mod raw;
pub(crate) mod single;
pub(crate) mod stack;
mod terminal;
mod tree;

pub use ask::{agent_answer, agent_ask};
pub use file::{
    Fd, STDERR, STDIN, STDOUT, chdir, close, dup, dup2, fcntl, fstat, getcwd, getdents64, lseek, open, pipe,
    poll_readable, read, stat, write,
};
pub use interrupt::{catch_ends, catch_interrupts, take_interrupt};
pub use machine::{Reboot, clock_gettime, nanosleep, reboot, uname};
pub use memory::{brk, grow_break, map_anonymous};
pub use process::{
    CStrings, Disposition, Fork, Pid, execve, exit, fork, getpgrp, getpid, getppid, getsid, kill,
    sched_yield, set_signal, setpgid, setsid, wait4,
};
pub use terminal::{
    flush_terminal, foreground, is_terminal, set_controlling_terminal, set_foreground,
    set_terminal_attributes, set_window_size, terminal_attributes, window_size,
};
pub use tree::{
    FsUsage, access, chmod, current_umask, fsync, ftruncate, link, lstat, mkdir, readlink, rename, rmdir,
    set_modified, statfs, symlink, sync, umask, unlink,
};
