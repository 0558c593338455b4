//! The kernel's own messages: kept in a ring, and shown on COM1 as far as it takes them.

use crate::console;
use crate::drivers::debugcon;
use crate::sync::IrqMutex;
use core::fmt::{self, Write};

/// Bytes of messages that are kept; older ones are overwritten.
const RING: usize = 32 * 1024;
/// Longest line; the rest of a longer one is cut and marked.
const LINE: usize = 512;

struct Ring {
    bytes: [u8; RING],
    /// Bytes ever written; the place of the next one is this modulo [`RING`].
    written: u64,
}

static MESSAGES: IrqMutex<Ring> = IrqMutex::new(Ring { bytes: [0; RING], written: 0 });

/// Prints one line of the kernel's.
#[macro_export]
macro_rules! kprintln {
    ($($argument:tt)*) => { $crate::trace::print(format_args!($($argument)*)) };
}

/// A line being formatted.
pub(crate) struct Line {
    bytes: [u8; LINE],
    length: usize,
}

impl Line {
    /// Formats `arguments` with a newline at the end.
    pub(crate) fn format(arguments: fmt::Arguments<'_>) -> Self {
        const CUT: &[u8] = b" [cut]";
        let mut line = Self { bytes: [0; LINE], length: 0 };
        if line.write_fmt(arguments).is_err() {
            let at = LINE - CUT.len() - 1;
            line.bytes[at..at + CUT.len()].copy_from_slice(CUT);
            line.length = LINE - 1;
        }
        line.bytes[line.length] = b'\n';
        line.length += 1;
        line
    }

    /// The line, newline included.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = LINE - 1 - self.length;
        let taken = &text.as_bytes()[..text.len().min(room)];
        self.bytes[self.length..self.length + taken.len()].copy_from_slice(taken);
        self.length += taken.len();
        if taken.len() == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Keeps a line and shows it. Never waits: what COM1 cannot take is counted there.
pub(crate) fn print(arguments: fmt::Arguments<'_>) {
    let line = Line::format(arguments);
    let mut ring = MESSAGES.lock();
    for &byte in line.as_bytes() {
        let at = (ring.written % RING as u64) as usize;
        ring.bytes[at] = byte;
        ring.written += 1;
    }
    drop(ring);
    if debugcon::is_enabled() {
        debugcon::write(line.as_bytes());
    } else {
        console::write_kernel(line.as_bytes());
    }
}
