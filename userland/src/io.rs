//! Reading and writing: standard output buffered, by line where it is a terminal, standard error at once, files that
//! close themselves.

use crate::dirent::Entries;
use crate::sys::single::Single;
use crate::sys::{self, Fd};
use alloc_crate::ffi::CString;
use alloc_crate::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{O_DIRECTORY, O_RDONLY};
use core::fmt;

/// Room of the buffer of standard output, in bytes.
const STDOUT_ROOM: usize = 1024;
/// Room for one message on standard error, in bytes; a longer one goes out in pieces.
const STDERR_ROOM: usize = 256;
/// How much [`File::read_to_end`] asks for at a time, in bytes.
const READ_PIECE: usize = 4096;
/// Most pieces of a directory that are read: room for some hundred thousand names.
const DIRECTORY_READS_MAX: usize = 4096;
/// Highest number of times that a call is made again because a signal came.
const RETRIES_MAX: u32 = 1_000;

/// Writes all of `bytes`.
///
/// # Errors
/// What the kernel says; EIO if it takes nothing.
pub fn write_all(fd: Fd, bytes: &[u8]) -> Result<(), Errno> {
    let mut rest = bytes;
    let mut retries = 0;
    while !rest.is_empty() {
        match sys::write(fd, rest) {
            Ok(0) => return Err(Errno::EIO),
            Ok(count) => rest = rest.get(count..).ok_or(Errno::EIO)?,
            Err(Errno::EINTR) if retries < RETRIES_MAX => retries += 1,
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// `read(2)` that is made again when a signal came first.
pub fn read(fd: Fd, buffer: &mut [u8]) -> Result<usize, Errno> {
    for _ in 0..RETRIES_MAX {
        match sys::read(fd, buffer) {
            Err(Errno::EINTR) => {}
            other => return other,
        }
    }
    Err(Errno::EINTR)
}

/// A buffer of `N` bytes before a descriptor. It remembers the first error, so that none is lost, and writes nothing after
/// it: that would have a gap before it, and a disk that is full looks for room each time, for as long as that takes.
struct Writer<const N: usize> {
    fd: Fd,
    buffer: [u8; N],
    used: usize,
    error: Option<Errno>,
}

impl<const N: usize> Writer<N> {
    const fn new(fd: Fd) -> Self {
        Self { fd, buffer: [0; N], used: 0, error: None }
    }

    fn flush(&mut self) {
        if self.error.is_none() {
            self.error = write_all(self.fd, &self.buffer[..self.used]).err();
        }
        self.used = 0;
    }

    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = bytes.len().min(N - self.used);
            self.buffer[self.used..self.used + count].copy_from_slice(&bytes[..count]);
            self.used += count;
            bytes = &bytes[count..];
            if self.used == N {
                self.flush();
            }
        }
    }
}

impl<const N: usize> fmt::Write for Writer<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text.as_bytes());
        Ok(())
    }
}

static STDOUT: Single<Writer<STDOUT_ROOM>> = Single::new(Writer::new(sys::STDOUT));

/// Whether standard output is a terminal, once that was asked.
static IS_TERMINAL: Single<Option<bool>> = Single::new(None);

/// Whether standard output is a terminal. It is asked once: a program that changes the descriptor starts another.
#[must_use]
pub fn prints_to_terminal() -> bool {
    IS_TERMINAL.with(|known| *known.get_or_insert_with(|| sys::is_terminal(sys::STDOUT)))
}

/// Writes bytes to standard output; they leave when the buffer is full or at exit, and to a terminal at the next end
/// of line.
pub fn print_bytes(bytes: &[u8]) {
    STDOUT.with(|out| {
        out.put(bytes);
        if bytes.contains(&b'\n') && prints_to_terminal() {
            out.flush();
        }
    });
}

/// Writes a name to standard output: to a terminal without what it would obey, else as it is.
pub fn print_name(name: &[u8]) {
    if prints_to_terminal() {
        print(format_args!("{}", crate::bytes::Bytes(name)));
    } else {
        print_bytes(name);
    }
}

/// Formats to standard output. Call it through [`print!`](crate::print) and [`println!`](crate::println).
pub fn print(arguments: fmt::Arguments<'_>) {
    STDOUT.with(|out| {
        let _ = fmt::Write::write_fmt(out, arguments);
        if out.buffer[..out.used].contains(&b'\n') && prints_to_terminal() {
            out.flush();
        }
    });
}

/// Formats to standard error, at once. Call it through [`eprint!`](crate::eprint) and
/// [`eprintln!`](crate::eprintln). There is nowhere left to report an error of its own.
pub fn eprint(arguments: fmt::Arguments<'_>) {
    let mut out = Writer::<STDERR_ROOM>::new(sys::STDERR);
    let _ = fmt::Write::write_fmt(&mut out, arguments);
    out.flush();
}

/// Writes out what standard output holds back.
///
/// # Errors
/// The first error of any write to standard output since the last call.
pub fn flush() -> Result<(), Errno> {
    STDOUT.with(|out| {
        out.flush();
        out.error.take().map_or(Ok(()), Err)
    })
}

/// As [`flush`], in a program that is ending because something is wrong.
pub fn flush_best_effort() {
    let _ = STDOUT.try_with(Writer::flush);
}

/// Writes to standard output like Rust's standard macro.
#[macro_export]
macro_rules! print { ($($arg:tt)*) => { $crate::io::print(format_args!($($arg)*)) }; }

/// Writes a line to standard output like Rust's standard macro.
#[macro_export]
macro_rules! println {
    () => { $crate::io::print(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::io::print(format_args!("{}\n", format_args!($($arg)*))) };
}

/// Writes to standard error like Rust's standard macro.
#[macro_export]
macro_rules! eprint { ($($arg:tt)*) => { $crate::io::eprint(format_args!($($arg)*)) }; }

/// Writes a line to standard error like Rust's standard macro.
#[macro_export]
macro_rules! eprintln {
    ($($arg:tt)*) => { $crate::io::eprint(format_args!("{}\n", format_args!($($arg)*))) };
}

/// `path` for the kernel. ENOENT if it holds a NUL byte: no file can have such a name.
pub fn c_path(path: &[u8]) -> Result<CString, Errno> {
    CString::new(path).map_err(|_| Errno::ENOENT)
}

/// An open file; it is closed when dropped.
#[derive(Debug)]
pub struct File(Fd);

impl File {
    /// Opens `path` for reading.
    pub fn open(path: &[u8]) -> Result<Self, Errno> {
        Self::open_with(path, O_RDONLY, 0)
    }

    /// `open(2)`.
    pub fn open_with(path: &[u8], flags: u32, mode: u32) -> Result<Self, Errno> {
        sys::open(&c_path(path)?, flags, mode).map(Self)
    }

    /// The open file behind `fd`, which is ours from now on.
    #[must_use]
    pub fn from_fd(fd: Fd) -> Self {
        Self(fd)
    }

    /// The descriptor, which stays ours.
    #[must_use]
    pub fn fd(&self) -> Fd {
        self.0
    }

    /// Up to `buffer.len()` bytes; 0 at the end.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        read(self.0, buffer)
    }

    /// The rest of the file.
    ///
    /// # Errors
    /// What the kernel says; EFBIG if more than `limit` bytes are left.
    pub fn read_to_end(&self, limit: usize) -> Result<Vec<u8>, Errno> {
        let mut content = Vec::new();
        let mut piece = [0; READ_PIECE];
        loop {
            match self.read(&mut piece)? {
                0 => return Ok(content),
                count => content.extend_from_slice(&piece[..count]),
            }
            if content.len() > limit {
                return Err(Errno::EFBIG);
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // A read-only file has nothing to lose here, and a drop cannot report.
        let _ = sys::close(self.0);
    }
}

/// Reads the whole of a small file.
///
/// # Errors
/// As [`File::open`] and [`File::read_to_end`].
pub fn read_file(path: &[u8], limit: usize) -> Result<Vec<u8>, Errno> {
    File::open(path)?.read_to_end(limit)
}

/// The names in a directory, as the kernel gives them, with `.` and `..` if it gives those.
///
/// # Errors
/// What the kernel says; EIO if its list makes no sense.
pub fn list_directory(path: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
    let directory = File::open_with(path, O_RDONLY | O_DIRECTORY, 0)?;
    let mut names = Vec::new();
    let mut buffer = [0; READ_PIECE];
    for _ in 0..DIRECTORY_READS_MAX {
        let filled = sys::getdents64(directory.fd(), &mut buffer)?;
        if filled == 0 {
            return Ok(names);
        }
        let before = names.len();
        names.extend(Entries::new(&buffer[..filled]).map(|entry| entry.name.to_vec()));
        if names.len() == before {
            return Err(Errno::EIO);
        }
    }
    Err(Errno::EFBIG)
}
