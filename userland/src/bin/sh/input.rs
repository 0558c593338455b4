//! Lines of standard input that is no terminal.

use alloc::vec::Vec;
use askr_userland::Errno;
use askr_userland::shell::LINE_MAX;
use askr_userland::sys;

/// What was read.
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

/// The next line. The bytes are read one by one, because those after the line may be meant for a program that the line
/// starts. The last line needs no end.
pub(crate) fn next_line() -> Next {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let mut byte = [0];
        match sys::read(sys::STDIN, &mut byte) {
            Ok(0) if line.is_empty() && !too_long => return Next::End,
            Ok(0) => break,
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) if line.len() >= LINE_MAX => {
                line.clear();
                too_long = true;
            }
            Ok(_) => line.push(byte[0]),
            Err(Errno::EINTR) => {}
            Err(errno) => return Next::Failed(errno),
        }
    }
    if too_long { Next::TooLong } else { Next::Line(line) }
}
