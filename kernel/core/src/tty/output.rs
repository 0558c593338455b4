//! Output processing: a newline goes to the terminal as CR LF (ONLCR).

/// The bytes to send for a piece of output, as an iterator.
#[derive(Clone, Debug)]
pub struct Onlcr<'a> {
    bytes: &'a [u8],
    consumed: usize,
    newline: bool,
}

impl<'a> Onlcr<'a> {
    /// Starts at the first byte of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, consumed: 0, newline: false }
    }

    /// Bytes of the input that have been sent whole. A newline counts only after its LF.
    #[must_use]
    pub const fn consumed(&self) -> usize {
        self.consumed
    }
}

impl Iterator for Onlcr<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let &byte = self.bytes.get(self.consumed)?;
        if byte == b'\n' && !self.newline {
            self.newline = true;
            return Some(b'\r');
        }
        self.newline = false;
        self.consumed += 1;
        Some(byte)
    }
}
