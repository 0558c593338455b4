//! Text for files of `/proc` that may be long: its memory is asked for as a whole before it is written.

use crate::mm;
use alloc::vec::Vec;
use askr_abi::Errno;
use core::fmt::{self, Write};

/// What `write` writes, which is asked twice: how long it is, and what it is.
///
/// # Errors
/// ENOMEM.
pub(super) fn text(write: impl Fn(&mut dyn Write) -> fmt::Result) -> Result<Vec<u8>, Errno> {
    let mut length = Length(0);
    // Neither a count nor memory that is there fails.
    let _ = write(&mut length);
    let mut text = Text(mm::with_room(length.0)?);
    let _ = write(&mut text);
    Ok(text.0)
}

/// Counts bytes.
struct Length(usize);

impl Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// Bytes in memory that is there already.
struct Text(Vec<u8>);

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
