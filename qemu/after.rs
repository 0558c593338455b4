//! What a guest says after its firmware.

use std::io::{self, Read};

/// Most that is kept of what came before, in bytes.
const KEPT: usize = 64 * 1024;

/// A stream without what comes before a certain line, and without that line. If the line never comes, what there was
/// instead goes to standard error at the end.
pub(crate) struct After<R> {
    inner: R,
    /// The line that is awaited, with its newline.
    mark: Option<Vec<u8>>,
    before: Vec<u8>,
    /// What came behind the mark with it: given out from here on.
    rest: io::Cursor<Vec<u8>>,
}

impl<R: Read> After<R> {
    /// The part of `inner` after the line `mark`; all of it without one.
    pub(crate) fn new(inner: R, mark: Option<String>) -> Self {
        let mark = mark.map(|mark| format!("{mark}\n").into_bytes());
        Self { inner, mark, before: Vec::new(), rest: io::Cursor::default() }
    }

    /// Reads until the mark was there. `false` at the end of the stream.
    fn pass(&mut self, mark: &[u8]) -> io::Result<bool> {
        let mut piece = [0; 4096];
        loop {
            let count = match self.inner.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if count == 0 {
                let text = String::from_utf8_lossy(&self.before);
                text.lines().for_each(|line| eprintln!("{}", line.escape_debug()));
                return Ok(false);
            }
            self.before.extend_from_slice(&piece[..count]);
            if let Some(at) = self.before.windows(mark.len()).position(|window| window == mark) {
                self.rest = io::Cursor::new(self.before.split_off(at + mark.len()));
                self.before.clear();
                return Ok(true);
            }
            let surplus = self.before.len().saturating_sub(KEPT);
            self.before.drain(..surplus);
        }
    }
}

impl<R: Read> Read for After<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(mark) = self.mark.take() {
            match self.pass(&mark) {
                Ok(true) => {}
                Ok(false) => return Ok(0),
                Err(error) => {
                    self.mark = Some(mark);
                    return Err(error);
                }
            }
        }
        match self.rest.read(into)? {
            0 => self.inner.read(into),
            count => Ok(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(pieces: &'static [&'static [u8]], mark: Option<&str>) -> Vec<u8> {
        /// Gives at most one piece at a time.
        struct Pieces(Vec<&'static [u8]>);
        impl Read for Pieces {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let Some(piece) = self.0.last_mut() else { return Ok(0) };
                let count = piece.read(into)?;
                if piece.is_empty() {
                    self.0.pop();
                }
                Ok(count)
            }
        }
        let mut found = Vec::new();
        let pieces = Pieces(pieces.iter().rev().copied().collect());
        After::new(pieces, mark.map(str::to_owned)).read_to_end(&mut found).unwrap();
        found
    }

    #[test]
    fn what_comes_before_the_mark_is_left_out() {
        assert_eq!(after(&[b"BIOS\r\n12", b"34\nhello", b" you"], Some("1234")), b"hello you");
        assert_eq!(after(&[b"1234\n", b"1234\n"], Some("1234")), b"1234\n");
        assert_eq!(after(&[b"BIOS", b" hangs"], Some("1234")), b"");
    }

    #[test]
    fn without_a_mark_everything_is_left_in() {
        assert_eq!(after(&[b"a", b"b"], None), b"ab");
    }
}
