//! Files, directories and the terminal.

use super::raw::syscall;
use alloc_crate::vec;
use alloc_crate::vec::Vec;
use askr_abi::types::{POLLIN, Stat};
use askr_abi::{Errno, number};
use core::ffi::CStr;

/// A file descriptor.
pub type Fd = i32;

/// Standard input.
pub const STDIN: Fd = 0;
/// Standard output.
pub const STDOUT: Fd = 1;
/// Standard error.
pub const STDERR: Fd = 2;

/// Longest path that the kernel handles, in bytes with the NUL (`PATH_MAX` in Linux).
const PATH_MAX: usize = 4096;

/// The register that carries a descriptor; the kernel looks at the low 32 bits.
pub(super) fn fd_argument(fd: Fd) -> u64 {
    u64::from(fd.cast_unsigned())
}

/// `read(2)`: up to `buffer.len()` bytes; 0 at the end.
pub fn read(fd: Fd, buffer: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel writes at most `buffer.len()` bytes to a buffer we hold exclusively.
    unsafe { syscall(number::READ, [fd_argument(fd), buffer.as_mut_ptr() as u64, buffer.len() as u64]) }
}

/// `write(2)`: how many of `bytes` were taken.
pub fn write(fd: Fd, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel reads `bytes.len()` bytes from a live slice.
    unsafe { syscall(number::WRITE, [fd_argument(fd), bytes.as_ptr() as u64, bytes.len() as u64]) }
}

/// `open(2)` with the `O_*` flags of `askr_abi::types`.
pub fn open(path: &CStr, flags: u32, mode: u32) -> Result<Fd, Errno> {
    let arguments = [path.as_ptr() as u64, u64::from(flags), u64::from(mode)];
    // SAFETY: the path is NUL-terminated and live.
    let fd = unsafe { syscall(number::OPEN, arguments) }?;
    Fd::try_from(fd).map_err(|_| Errno::EIO)
}

/// `close(2)`.
pub fn close(fd: Fd) -> Result<(), Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::CLOSE, [fd_argument(fd)]) }.map(drop)
}

/// `pipe2(2)`: the end to read and the end to write.
pub fn pipe(flags: u32) -> Result<(Fd, Fd), Errno> {
    let mut ends: [Fd; 2] = [-1; 2];
    // SAFETY: the kernel writes two `int`s.
    unsafe { syscall(number::PIPE2, [&raw mut ends as u64, u64::from(flags)]) }?;
    Ok((ends[0], ends[1]))
}

/// `poll(2)`: whether `fd` can be read, has ended, or does within `milliseconds`.
pub fn poll_readable(fd: Fd, milliseconds: u32) -> Result<bool, Errno> {
    let mut entry = PollFd { fd, events: POLLIN, revents: 0 };
    let arguments = [&raw mut entry as u64, 1, milliseconds.into()];
    // SAFETY: the kernel reads and writes one `struct pollfd`.
    unsafe { syscall(number::POLL, arguments) }.map(|ready| ready > 0)
}

/// `struct pollfd`.
#[repr(C)]
struct PollFd {
    fd: Fd,
    events: u16,
    revents: u16,
}

/// `dup(2)`: the lowest free descriptor of the same open file.
pub fn dup(fd: Fd) -> Result<Fd, Errno> {
    // SAFETY: no address is passed.
    let fd = unsafe { syscall(number::DUP, [fd_argument(fd)]) }?;
    Fd::try_from(fd).map_err(|_| Errno::EIO)
}

/// `dup2(2)`: makes `new` a descriptor of the open file of `old`.
pub fn dup2(old: Fd, new: Fd) -> Result<(), Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::DUP2, [fd_argument(old), fd_argument(new)]) }.map(drop)
}

/// `fcntl(2)` with a command whose argument is a number (`F_DUPFD`, `F_SETFD`, `F_GETFL` and the like).
pub fn fcntl(fd: Fd, command: u32, argument: u32) -> Result<u32, Errno> {
    // SAFETY: no address is passed.
    let result =
        unsafe { syscall(number::FCNTL, [fd_argument(fd), u64::from(command), u64::from(argument)]) }?;
    u32::try_from(result).map_err(|_| Errno::EIO)
}

/// `fstat(2)`.
pub fn fstat(fd: Fd) -> Result<Stat, Errno> {
    let mut stat = Stat::default();
    // SAFETY: the kernel writes one `Stat`, for which every bit pattern is valid.
    unsafe { syscall(number::FSTAT, [fd_argument(fd), &raw mut stat as u64]) }?;
    Ok(stat)
}

/// `stat(2)`.
pub fn stat(path: &CStr) -> Result<Stat, Errno> {
    let mut stat = Stat::default();
    // SAFETY: the path is NUL-terminated and live; the kernel writes one `Stat`, any bit pattern is valid.
    unsafe { syscall(number::STAT, [path.as_ptr() as u64, &raw mut stat as u64]) }?;
    Ok(stat)
}

/// `lseek(2)` with one of `SEEK_SET`, `SEEK_CUR`, `SEEK_END`: the new position.
pub fn lseek(fd: Fd, offset: i64, whence: u32) -> Result<u64, Errno> {
    let arguments = [fd_argument(fd), offset.cast_unsigned(), u64::from(whence)];
    // SAFETY: no address is passed.
    unsafe { syscall(number::LSEEK, arguments) }.map(|position| position as u64)
}

/// `getdents64(2)`: how many bytes of `buffer` hold records (`crate::dirent` reads them); 0 at the end.
pub fn getdents64(fd: Fd, buffer: &mut [u8]) -> Result<usize, Errno> {
    let arguments = [fd_argument(fd), buffer.as_mut_ptr() as u64, buffer.len() as u64];
    // SAFETY: the kernel writes at most `buffer.len()` bytes to a buffer we hold exclusively.
    unsafe { syscall(number::GETDENTS64, arguments) }
}

/// `chdir(2)`.
pub fn chdir(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path is NUL-terminated and live.
    unsafe { syscall(number::CHDIR, [path.as_ptr() as u64]) }.map(drop)
}

/// `getcwd(2)`: the working directory, without the NUL.
pub fn getcwd() -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; PATH_MAX];
    // SAFETY: the kernel writes at most `buffer.len()` bytes to a buffer we own.
    let length = unsafe { syscall(number::GETCWD, [buffer.as_mut_ptr() as u64, buffer.len() as u64]) }?;
    buffer.truncate(length.saturating_sub(1));
    Ok(buffer)
}
