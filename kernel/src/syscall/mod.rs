//! System calls: the table, on one screen, and the way into it. Numbers and meanings are Linux's (`man 2`); what
//! differs is in docs/syscalls.md.

mod agent;
mod alarm;
mod attributes;
mod descriptor;
mod facts;
mod file;
mod io;
mod memory;
mod poll;
mod process;
mod restart;
mod signal;
mod system;
mod terminal;
mod time;
mod tree;

use crate::arch::clock::{Nanos, SECOND};
use crate::arch::trap::TrapFrame;
use crate::process::{Process, Restart, with_memory};
use crate::sched::{self, Task};
use crate::{kprintln, mm};
use alloc::sync::Arc;
use askr_abi::{Errno, number as nr};

/// One system call: who calls, with what, and where to return to.
pub(crate) struct Call<'a> {
    task: Arc<Task>,
    /// rdi, rsi, rdx, r10, r8, r9.
    args: [u64; 6],
    number: u64,
    /// When the call ends that is going on after a stop.
    resumed: Option<Nanos>,
    frame: &'a mut TrapFrame,
}

type Handler = fn(&mut Call<'_>) -> Result<u64, Errno>;

/// Calls that make the kernel remember something for the program. They are refused (ENOMEM) when the kernel's heap is
/// down to its reserve; what gives memory back, and all the rest, goes on.
const NEEDS_ROOM: &[u64] = &[
    nr::OPEN,
    nr::OPENAT,
    nr::FORK,
    nr::VFORK,
    nr::CLONE,
    nr::EXECVE,
    nr::MMAP,
    nr::MPROTECT,
    nr::AGENT_ASK,
    nr::PIPE,
    nr::PIPE2,
    nr::DUP,
    nr::DUP2,
    nr::DUP3,
    nr::FCNTL,
    nr::POLL,
    nr::PPOLL,
    nr::MREMAP,
    nr::CREAT,
    nr::TRUNCATE,
    nr::FTRUNCATE,
    nr::RENAME,
    nr::RENAMEAT,
    nr::RENAMEAT2,
    nr::MKDIR,
    nr::MKDIRAT,
    nr::LINK,
    nr::LINKAT,
    nr::SYMLINK,
    nr::SYMLINKAT,
];

const TABLE: &[(u64, Handler)] = &[
    (nr::READ, io::read),
    (nr::WRITE, io::write),
    (nr::OPEN, file::open),
    (nr::CLOSE, file::close),
    (nr::STAT, file::stat),
    (nr::FSTAT, file::fstat),
    (nr::LSTAT, file::lstat),
    (nr::POLL, poll::poll),
    (nr::LSEEK, file::lseek),
    (nr::MMAP, memory::mmap),
    (nr::MPROTECT, memory::mprotect),
    (nr::MUNMAP, memory::munmap),
    (nr::BRK, memory::brk),
    (nr::RT_SIGACTION, signal::rt_sigaction),
    (nr::RT_SIGPROCMASK, signal::rt_sigprocmask),
    (nr::RT_SIGRETURN, signal::rt_sigreturn),
    (nr::IOCTL, terminal::ioctl),
    (nr::PREAD64, io::pread64),
    (nr::PWRITE64, io::pwrite64),
    (nr::READV, io::readv),
    (nr::WRITEV, io::writev),
    (nr::ACCESS, attributes::access),
    (nr::PIPE, descriptor::pipe),
    (nr::SCHED_YIELD, process::sched_yield),
    (nr::MREMAP, memory::mremap),
    (nr::MADVISE, memory::madvise),
    (nr::DUP, descriptor::dup),
    (nr::DUP2, descriptor::dup2),
    (nr::PAUSE, signal::pause),
    (nr::GETITIMER, alarm::getitimer),
    (nr::ALARM, alarm::alarm),
    (nr::SETITIMER, alarm::setitimer),
    (nr::NANOSLEEP, time::nanosleep),
    (nr::GETPID, process::getpid),
    (nr::FORK, process::fork),
    (nr::CLONE, process::clone),
    (nr::VFORK, process::vfork),
    (nr::EXECVE, process::execve),
    (nr::EXIT, process::exit),
    (nr::WAIT4, process::wait4),
    (nr::KILL, signal::kill),
    (nr::UNAME, system::uname),
    (nr::FCNTL, descriptor::fcntl),
    (nr::FSYNC, file::fsync),
    (nr::FDATASYNC, file::fsync),
    (nr::TRUNCATE, attributes::truncate),
    (nr::FTRUNCATE, attributes::ftruncate),
    (nr::GETCWD, file::getcwd),
    (nr::CHDIR, file::chdir),
    (nr::FCHDIR, file::fchdir),
    (nr::RENAME, tree::rename),
    (nr::MKDIR, tree::mkdir),
    (nr::RMDIR, tree::rmdir),
    (nr::CREAT, file::creat),
    (nr::LINK, tree::link),
    (nr::UNLINK, tree::unlink),
    (nr::SYMLINK, tree::symlink),
    (nr::READLINK, tree::readlink),
    (nr::CHMOD, attributes::chmod),
    (nr::FCHMOD, attributes::fchmod),
    (nr::UMASK, attributes::umask),
    (nr::GETTIMEOFDAY, time::gettimeofday),
    (nr::GETRLIMIT, memory::getrlimit),
    (nr::GETRUSAGE, time::getrusage),
    (nr::SYSINFO, facts::sysinfo),
    (nr::TIMES, time::times),
    (nr::GETUID, process::get_zero),
    (nr::GETGID, process::get_zero),
    (nr::GETEUID, process::get_zero),
    (nr::GETEGID, process::get_zero),
    (nr::SETPGID, process::setpgid),
    (nr::GETPPID, process::getppid),
    (nr::GETPGRP, process::getpgrp),
    (nr::SETSID, process::setsid),
    (nr::GETGROUPS, facts::getgroups),
    (nr::GETPGID, process::getpgid),
    (nr::GETSID, process::getsid),
    (nr::RT_SIGPENDING, signal::rt_sigpending),
    (nr::RT_SIGTIMEDWAIT, signal::rt_sigtimedwait),
    (nr::RT_SIGQUEUEINFO, signal::rt_sigqueueinfo),
    (nr::RT_SIGSUSPEND, signal::rt_sigsuspend),
    (nr::SIGALTSTACK, signal::sigaltstack),
    (nr::STATFS, attributes::statfs),
    (nr::FSTATFS, attributes::fstatfs),
    (nr::PRCTL, facts::prctl),
    (nr::ARCH_PRCTL, process::arch_prctl),
    (nr::SETRLIMIT, memory::setrlimit),
    (nr::SYNC, file::sync),
    (nr::REBOOT, system::reboot),
    (nr::GETTID, process::getpid),
    (nr::TKILL, signal::tkill),
    (nr::TIME, time::time),
    (nr::FUTEX, facts::futex),
    (nr::SCHED_GETAFFINITY, facts::sched_getaffinity),
    (nr::GETDENTS64, file::getdents64),
    (nr::SET_TID_ADDRESS, process::set_tid_address),
    (nr::RESTART_SYSCALL, signal::restart_syscall),
    (nr::CLOCK_GETTIME, time::clock_gettime),
    (nr::CLOCK_GETRES, time::clock_getres),
    (nr::CLOCK_NANOSLEEP, time::clock_nanosleep),
    (nr::EXIT_GROUP, process::exit),
    (nr::TGKILL, signal::tgkill),
    (nr::OPENAT, file::openat),
    (nr::MKDIRAT, tree::mkdirat),
    (nr::NEWFSTATAT, file::newfstatat),
    (nr::UNLINKAT, tree::unlinkat),
    (nr::RENAMEAT, tree::renameat),
    (nr::LINKAT, tree::linkat),
    (nr::SYMLINKAT, tree::symlinkat),
    (nr::READLINKAT, tree::readlinkat),
    (nr::FCHMODAT, attributes::fchmodat),
    (nr::FACCESSAT, attributes::faccessat),
    (nr::PPOLL, poll::ppoll),
    (nr::UTIMENSAT, attributes::utimensat),
    (nr::DUP3, descriptor::dup3),
    (nr::PIPE2, descriptor::pipe2),
    (nr::PRLIMIT64, memory::prlimit64),
    (nr::RENAMEAT2, tree::renameat2),
    (nr::SET_ROBUST_LIST, facts::set_robust_list),
    (nr::GETRANDOM, system::getrandom),
    (nr::FACCESSAT2, attributes::faccessat2),
    (nr::AGENT_ASK, agent::ask),
    (nr::AGENT_ANSWER, agent::answer),
];

/// Calls that begin however little memory the kernel has: they give back, or let others do so.
const GIVES_BACK: &[u64] = &[
    nr::EXIT,
    nr::EXIT_GROUP,
    nr::CLOSE,
    nr::MUNMAP,
    nr::KILL,
    nr::WAIT4,
    nr::RT_SIGRETURN,
    nr::UNLINK,
    nr::UNLINKAT,
];

/// Handlers by number, in two ranges: Linux's calls and Askr's own.
static BY_NUMBER: [Option<Handler>; INDEX_MAX] = {
    let mut by_number: [Option<Handler>; INDEX_MAX] = [None; INDEX_MAX];
    let mut row = 0;
    while row < TABLE.len() {
        by_number[index(TABLE[row].0)] = Some(TABLE[row].1);
        row += 1;
    }
    by_number
};

const LINUX_MAX: usize = 512;
const ASKR_MAX: usize = 64;
const INDEX_MAX: usize = LINUX_MAX + ASKR_MAX;

const fn index(number: u64) -> usize {
    if number >= nr::ASKR_BASE && number < nr::ASKR_BASE + ASKR_MAX as u64 {
        LINUX_MAX + (number - nr::ASKR_BASE) as usize
    } else if number < LINUX_MAX as u64 {
        number as usize
    } else {
        INDEX_MAX
    }
}

/// The handler of a call.
fn handler(number: u64) -> Option<Handler> {
    BY_NUMBER.get(index(number)).copied().flatten()
}

/// Serves the call that `frame` holds and leaves its result in rax. Returns how it goes on if a signal interrupted it.
pub(crate) fn dispatch(frame: &mut TrapFrame) -> Option<Restart> {
    let number = frame.rax;
    let args = [frame.rdi, frame.rsi, frame.rdx, frame.r10, frame.r8, frame.r9];
    let mut call = Call { task: sched::current(), args, number, resumed: None, frame };
    let result = match handler(number) {
        Some(_) if !GIVES_BACK.contains(&number) && mm::require_heap_step().is_err() => Err(Errno::ENOMEM),
        Some(_) if NEEDS_ROOM.contains(&number) && call.require_heap_room().is_err() => Err(Errno::ENOMEM),
        Some(handler) => handler(&mut call),
        None => Err(unknown(&call, number)),
    };
    // A successful execve has replaced the whole frame and returns 0 in its rax.
    call.frame.rax = result.unwrap_or_else(Errno::to_rax);
    if result == Err(Errno::EINTR) { restart::of(&call) } else { None }
}

/// Calls that C libraries try at every start, or before an older one, and do without: `statx` `rseq` `clone3`. Nobody needs
/// to be told of them.
const DONE_WITHOUT: &[u64] = &[332, 334, 435];

/// Told once for each program and call, so that its author learns what is missing.
fn unknown(call: &Call<'_>, number: u64) -> Errno {
    let process = call.process();
    if !DONE_WITHOUT.contains(&number) && process.misses_call(number) {
        let name = process.name();
        let (name, pid) = (name.escape_ascii(), process.pid());
        let call = askr_abi::call_name(number).unwrap_or("without a name");
        kprintln!("{name}[{pid}]: system call {number} ({call}) does not exist here (ENOSYS)");
    }
    Errno::ENOSYS
}

impl Call<'_> {
    fn process(&self) -> &Process {
        self.task.process().expect("only processes make system calls")
    }

    /// Argument `index` as the 32-bit int that C passes.
    const fn int(&self, index: usize) -> i32 {
        self.args[index] as i32
    }

    /// Room in the kernel's heap, the reserve of which is for the person at the console.
    fn require_heap_room(&self) -> Result<(), Errno> {
        if self.process().role().is_privileged() { Ok(()) } else { mm::require_heap_room() }
    }

    fn copy_in(&self, address: u64, into: &mut [u8]) -> Result<(), Errno> {
        let process = self.process();
        with_memory(|| process.with_space(|space| mm::user::copy_in(space, address, into)))
    }

    fn copy_out(&self, address: u64, from: &[u8]) -> Result<(), Errno> {
        let process = self.process();
        with_memory(|| process.with_space(|space| mm::user::copy_out(space, address, from)))
    }

    /// The length of time in the `struct timespec` at `address`.
    fn duration(&self, address: u64) -> Result<Nanos, Errno> {
        let mut bytes = [0; 16];
        self.copy_in(address, &mut bytes)?;
        let word = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let (Ok(seconds), Ok(nanos @ 0..SECOND)) = (u64::try_from(word(0)), u64::try_from(word(8))) else {
            return Err(Errno::EINVAL);
        };
        Ok(seconds.saturating_mul(SECOND).saturating_add(nanos))
    }

    /// The path at `address`.
    fn path(&self, address: u64) -> Result<alloc::vec::Vec<u8>, Errno> {
        self.process().with_space(|space| {
            mm::user::string(space, address, askr_core::path::PATH_MAX, Errno::ENAMETOOLONG)
        })
    }
}
