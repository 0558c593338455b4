//! Lines of files, and of standard input that is no terminal.

use alloc::vec::Vec;
use askr_userland::shell::LINE_MAX;
use askr_userland::sys::{self, Fd};
use askr_userland::{Errno, io};

/// Bytes read at a time where reading ahead takes nothing away from the programs that the shell starts.
const PIECE: usize = 1024;

/// What [`Lines::next`] found.
pub(crate) enum Next {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line of more than [`LINE_MAX`] bytes; it is skipped to its end.
    TooLong,
    /// The end of the input, for a terminal Ctrl-D in an empty line.
    End,
    /// Ctrl-C at a terminal.
    Interrupted,
    /// Reading failed.
    Failed(Errno),
}

/// Lines of a descriptor.
pub(crate) struct Lines {
    fd: Fd,
    /// Keeps the descriptor open.
    _file: Option<io::File>,
    /// Bytes asked for at a time.
    step: usize,
    /// Read, but not given out yet.
    ahead: Vec<u8>,
}

impl Lines {
    /// Lines of standard input. The bytes are read one by one, because those after the line may be meant for a
    /// program that the line starts.
    pub(crate) fn of_stdin() -> Self {
        Self { fd: sys::STDIN, _file: None, step: 1, ahead: Vec::new() }
    }

    /// Lines of a file.
    pub(crate) fn of_file(file: io::File) -> Self {
        Self { fd: file.fd(), _file: Some(file), step: PIECE, ahead: Vec::new() }
    }

    /// The next line. The last one needs no end.
    pub(crate) fn next(&mut self) -> Next {
        let mut line = Vec::new();
        let mut too_long = false;
        loop {
            let end = self.ahead.iter().position(|&byte| byte == b'\n');
            line.extend(self.ahead.drain(..end.unwrap_or(self.ahead.len())));
            if line.len() > LINE_MAX {
                line.clear();
                too_long = true;
            }
            if end.is_some() {
                self.ahead.remove(0);
                break;
            }
            let mut piece = [0; PIECE];
            match sys::read(self.fd, &mut piece[..self.step]) {
                Ok(0) if line.is_empty() && !too_long => return Next::End,
                Ok(0) => break,
                Ok(count) => self.ahead.extend_from_slice(&piece[..count]),
                Err(errno) => return Next::Failed(errno),
            }
        }
        if too_long { Next::TooLong } else { Next::Line(line) }
    }
}
