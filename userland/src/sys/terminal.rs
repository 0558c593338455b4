//! The terminal.

use super::file::{Fd, fd_argument};
use super::process::Pid;
use super::raw::syscall;
use askr_abi::terminal::{
    TCGETS, TCSETSF, TCSETSW, TIOCGPGRP, TIOCGWINSZ, TIOCSCTTY, TIOCSPGRP, TIOCSWINSZ, Termios, Winsize,
};
use askr_abi::{Errno, number};

/// `tcgetattr(3)`.
pub fn terminal_attributes(fd: Fd) -> Result<Termios, Errno> {
    let mut termios = Termios::CANONICAL;
    // SAFETY: the kernel writes one `struct termios`, for which every bit pattern is valid.
    unsafe { syscall(number::IOCTL, [fd_argument(fd), TCGETS, &raw mut termios as u64]) }?;
    Ok(termios)
}

/// `tcsetattr(3)` with TCSADRAIN.
pub fn set_terminal_attributes(fd: Fd, termios: &Termios) -> Result<(), Errno> {
    let arguments = [fd_argument(fd), TCSETSW, core::ptr::from_ref(termios) as u64];
    // SAFETY: the kernel reads one `struct termios`.
    unsafe { syscall(number::IOCTL, arguments) }.map(drop)
}

/// `tcsetattr(3)` with TCSAFLUSH: what was typed and not read is forgotten.
pub fn flush_terminal(fd: Fd, termios: &Termios) -> Result<(), Errno> {
    let arguments = [fd_argument(fd), TCSETSF, core::ptr::from_ref(termios) as u64];
    // SAFETY: the kernel reads one `struct termios`.
    unsafe { syscall(number::IOCTL, arguments) }.map(drop)
}

/// Whether `fd` is a terminal, tested as the C library does, by asking for its attributes.
#[must_use]
pub fn is_terminal(fd: Fd) -> bool {
    terminal_attributes(fd).is_ok()
}

/// `tcsetpgrp(3)`: makes `group` the foreground process group of the terminal `fd`.
pub fn set_foreground(fd: Fd, group: Pid) -> Result<(), Errno> {
    let arguments = [fd_argument(fd), TIOCSPGRP, &raw const group as u64];
    // SAFETY: the kernel reads one `pid_t`.
    unsafe { syscall(number::IOCTL, arguments) }.map(drop)
}

/// `tcgetpgrp(3)`: the foreground process group of the terminal `fd`.
pub fn foreground(fd: Fd) -> Result<Pid, Errno> {
    let mut group: Pid = 0;
    // SAFETY: the kernel writes one `pid_t`.
    unsafe { syscall(number::IOCTL, [fd_argument(fd), TIOCGPGRP, &raw mut group as u64]) }?;
    Ok(group)
}

/// Makes the terminal `fd` the controlling one of the session that we lead.
pub fn set_controlling_terminal(fd: Fd) -> Result<(), Errno> {
    // SAFETY: no address is passed.
    unsafe { syscall(number::IOCTL, [fd_argument(fd), TIOCSCTTY, 0]) }.map(drop)
}

/// The size of the terminal's window, zeros if nobody knows it.
pub fn window_size(fd: Fd) -> Result<Winsize, Errno> {
    let mut size = Winsize::default();
    // SAFETY: the kernel writes one `struct winsize`, for which every bit pattern is valid.
    unsafe { syscall(number::IOCTL, [fd_argument(fd), TIOCGWINSZ, &raw mut size as u64]) }?;
    Ok(size)
}

/// Tells the kernel the size of the terminal's window.
pub fn set_window_size(fd: Fd, size: Winsize) -> Result<(), Errno> {
    let arguments = [fd_argument(fd), TIOCSWINSZ, &raw const size as u64];
    // SAFETY: the kernel reads one `struct winsize`.
    unsafe { syscall(number::IOCTL, arguments) }.map(drop)
}
