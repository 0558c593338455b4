//! What tools read: files by their names, or standard input.

use crate::io::{self, File};
use crate::lines::LineReader;
use crate::sys::{self, Fd};
use alloc_crate::vec::Vec;
use askr_abi::Errno;

/// A file by its name, or standard input for `-`.
#[derive(Debug)]
pub struct Input(Option<File>);

impl Input {
    /// Opens it for reading.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub fn open(name: &[u8]) -> Result<Self, Errno> {
        Ok(Self(if name == b"-" { None } else { Some(File::open(name)?) }))
    }

    /// Its descriptor.
    #[must_use]
    pub fn fd(&self) -> Fd {
        self.0.as_ref().map_or(sys::STDIN, File::fd)
    }

    /// Up to `buffer.len()` bytes; 0 at the end.
    ///
    /// # Errors
    /// Those of `read(2)`.
    pub fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        io::read(self.fd(), buffer)
    }

    /// Its lines.
    pub fn lines(&self) -> LineReader<impl FnMut(&mut [u8]) -> Result<usize, Errno> + '_> {
        LineReader::new(|buffer: &mut [u8]| self.read(buffer))
    }
}

/// The operands as names of files: standard input if there are none.
#[must_use]
pub fn names<'a>(operands: &[&'a [u8]]) -> Vec<&'a [u8]> {
    if operands.is_empty() { [&b"-"[..]].into() } else { operands.into() }
}

/// What stands over the content of a file where there are several.
#[must_use]
pub fn title(name: &[u8]) -> &[u8] {
    if name == b"-" { b"standard input" } else { name }
}

/// The arguments of `head` and `tail`, where `-5` as the first one is the old way to write `-n 5`.
#[must_use]
pub fn with_old_count<'a>(arguments: &[&'a [u8]]) -> Vec<&'a [u8]> {
    match arguments.split_first() {
        Some((first, rest))
            if first.len() > 1 && first[0] == b'-' && first[1..].iter().all(u8::is_ascii_digit) =>
        {
            [&b"-n"[..], &first[1..]].into_iter().chain(rest.iter().copied()).collect()
        }
        _ => arguments.into(),
    }
}
