//! Output processing: a newline goes to the terminal as CR LF (ONLCR).

/// The bytes to send for a piece of output, as an iterator.
#[derive(Clone, Debug)]
pub struct Onlcr<'a> {
    bytes: &'a [u8],
    consumed: usize,
    /// The CR of the newline at `consumed` has been sent, or needs none.
    returned: bool,
    enabled: bool,
}

impl<'a> Onlcr<'a> {
    /// Starts at the first byte of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self::when(true, bytes)
    }

    /// As [`Self::new`]; without `enabled` the bytes stay as they are.
    #[must_use]
    pub const fn when(enabled: bool, bytes: &'a [u8]) -> Self {
        Self { bytes, consumed: 0, returned: !enabled, enabled }
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
        if byte == b'\n' && !self.returned {
            self.returned = true;
            return Some(b'\r');
        }
        self.returned = !self.enabled;
        self.consumed += 1;
        Some(byte)
    }
}
