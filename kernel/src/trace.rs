//! The kernel's own messages: kept in a ring with the time, and shown on COM1 as far as it takes them.

use crate::arch::clock::{self, Nanos, SECOND};
use crate::console;
use crate::drivers::debugcon;
use crate::sync::IrqMutex;
use alloc::format;
use alloc::vec::Vec;
use askr_abi::Errno;
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

/// Most bytes that are copied out of the ring at a time, with interrupts off.
const PIECE: usize = 1024;

static MESSAGES: IrqMutex<Ring> = IrqMutex::new(Ring { bytes: [0; RING], written: 0 });

/// Prints one line of the kernel's.
#[macro_export]
macro_rules! kprintln {
    ($($argument:tt)*) => { $crate::trace::print(format_args!($($argument)*)) };
}

impl Ring {
    fn keep(&mut self, parts: [&[u8]; 3]) {
        for &byte in parts.into_iter().flatten() {
            let at = (self.written % RING as u64) as usize;
            self.bytes[at] = byte;
            self.written += 1;
        }
    }
}

/// The messages that are kept, for `/proc/kmsg`: whole lines, the oldest first. If there were older ones, the first line
/// says how many bytes of them are gone.
///
/// # Errors
/// ENOMEM.
pub(crate) fn messages() -> Result<Vec<u8>, Errno> {
    let mut content = Vec::new();
    content.try_reserve_exact(RING).map_err(|_| Errno::ENOMEM)?;
    let end = MESSAGES.lock().written;
    let start = end.saturating_sub(RING as u64);
    let mut at = start;
    while at < end {
        let ring = MESSAGES.lock();
        // What was overwritten since is lost too.
        at = at.max(ring.written.saturating_sub(RING as u64));
        for at in at..end.min(at + PIECE as u64) {
            content.push(ring.bytes[(at % RING as u64) as usize]);
        }
        at += PIECE as u64;
    }
    if end == content.len() as u64 {
        return Ok(content);
    }
    // The oldest line that is left may be the rest of one.
    let whole = content.iter().position(|&byte| byte == b'\n').map_or(content.len(), |at| at + 1);
    let lost = end - (content.len() - whole) as u64;
    let mut text = format!("[{lost} bytes of older messages are lost]\n").into_bytes();
    text.extend_from_slice(&content[whole..]);
    Ok(text)
}

/// A time since boot as messages show it: seconds and microseconds.
pub(crate) struct Stamp(pub(crate) Nanos);

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:5}.{:06}", self.0 / SECOND, self.0 % SECOND / 1000)
    }
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
    let stamp = Line::format(format_args!("[{}]", Stamp(clock::uptime())));
    let (stamp, newline) = stamp.as_bytes().split_at(stamp.length - 1);
    debug_assert_eq!(newline, b"\n");
    MESSAGES.lock().keep([stamp, b" ", line.as_bytes()]);
    if debugcon::is_enabled() {
        debugcon::write(line.as_bytes());
    } else {
        console::write_kernel(line.as_bytes());
    }
}
