//! The line discipline of a terminal in canonical mode: bytes typed go in, lines come out, and each byte tells
//! what to show (`termios(3)`: ICANON, ECHO, ECHOE, ECHOK, ECHOCTL, IUTF8, ISIG, ICRNL, IMAXBEL; ONLCR for
//! output). All memory is taken when it is made; nothing grows after that.

mod echo;
mod output;
mod queue;

use alloc::vec::Vec;

pub use echo::Echo;
pub use output::Onlcr;
use queue::ReadyLines;

/// Longest line in bytes without its newline (Linux's N_TTY limit). What is typed beyond it is refused with a
/// bell and counted.
pub const LINE_MAX: usize = 4095;
/// Bytes of finished lines that wait to be read.
pub const READY_BYTES_MAX: usize = 16 * 1024;
/// Finished lines that wait to be read.
pub const READY_LINES_MAX: usize = 256;

const INTERRUPT: u8 = 0x03;
const END_OF_FILE: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const KILL_LINE: u8 = 0x15;
const ERASE_WORD: u8 = 0x17;
const DELETE: u8 = 0x7f;

/// What happened besides the echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A line, or an end of file, is ready to be read: wake the reader.
    Ready,
    /// Ctrl-C: send SIGINT to the foreground group. Lines typed ahead have been discarded.
    Interrupt,
}

/// What to do about one byte of input.
#[must_use]
#[derive(Clone, Debug)]
pub struct Reaction {
    /// What to show on the terminal, raw (newlines are already CR LF).
    pub echo: Echo,
    /// What happened, if anything.
    pub event: Option<Event>,
}

/// What was refused since the start, for the counters of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Bytes typed beyond [`LINE_MAX`].
    pub bytes: u64,
    /// Whole lines that found no room among those waiting.
    pub lines: u64,
}

/// A terminal's input side.
#[derive(Debug)]
pub struct LineDiscipline {
    line: Vec<u8>,
    ready: ReadyLines,
    losses: Losses,
}

impl Default for LineDiscipline {
    fn default() -> Self {
        Self::new()
    }
}

impl LineDiscipline {
    /// An empty terminal; takes about 20 KiB.
    #[must_use]
    pub fn new() -> Self {
        Self { line: Vec::with_capacity(LINE_MAX), ready: ReadyLines::new(), losses: Losses::default() }
    }

    /// Takes one byte from the terminal.
    pub fn input(&mut self, byte: u8) -> Reaction {
        match byte {
            b'\r' | b'\n' => self.end_line(),
            INTERRUPT => self.interrupt(),
            END_OF_FILE => self.end_of_file(),
            BACKSPACE | DELETE => self.erase_to(last_visible(&self.line)),
            KILL_LINE => self.erase_to(0),
            ERASE_WORD => self.erase_to(last_word(&self.line)),
            _ => self.add(byte),
        }
    }

    /// Moves the oldest finished line, or the first part of it if `into` is shorter, and returns its length.
    /// `Some(0)` is an end of file; `None` says that nothing is ready yet.
    pub fn read(&mut self, into: &mut [u8]) -> Option<usize> {
        self.ready.read(into)
    }

    /// Whether [`Self::read`] has something.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The line being typed, to show it again after other output came between.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.line
    }

    /// What was refused so far.
    #[must_use]
    pub const fn losses(&self) -> Losses {
        self.losses
    }

    fn add(&mut self, byte: u8) -> Reaction {
        if self.line.len() >= LINE_MAX {
            self.losses.bytes += 1;
            return show(Echo::bell());
        }
        self.line.push(byte);
        show(Echo::typed(byte))
    }

    fn end_line(&mut self) -> Reaction {
        let taken = self.ready.push(&self.line, b"\n");
        self.hand_over(taken, Echo::newline())
    }

    /// Ctrl-D hands over what is there without a newline; at the start of a line that is an end of file.
    fn end_of_file(&mut self) -> Reaction {
        let taken = self.ready.push(&self.line, b"");
        self.hand_over(taken, Echo::nothing())
    }

    fn hand_over(&mut self, taken: bool, echo: Echo) -> Reaction {
        self.line.clear();
        if taken {
            return Reaction { echo, event: Some(Event::Ready) };
        }
        self.losses.lines += 1;
        show(echo.and_bell())
    }

    fn interrupt(&mut self) -> Reaction {
        self.line.clear();
        self.ready.clear();
        Reaction { echo: Echo::interrupt(), event: Some(Event::Interrupt) }
    }

    fn erase_to(&mut self, length: usize) -> Reaction {
        let echo = Echo::erase(echo::columns(&self.line[length..]));
        self.line.truncate(length);
        show(echo)
    }
}

fn show(echo: Echo) -> Reaction {
    Reaction { echo, event: None }
}

/// Where what the user sees as the last character starts: marks that take no column go with what they are on.
fn last_visible(line: &[u8]) -> usize {
    let mut start = last_char(line);
    // Each round takes at least one byte off the line, which LINE_MAX bounds.
    while start > 0 && echo::columns(&line[start..]) == 0 {
        start = last_char(&line[..start]);
    }
    start
}

/// Where the last character of the line starts: a whole UTF-8 sequence, or one byte that is not part of one.
fn last_char(line: &[u8]) -> usize {
    let is_continuation = |byte: u8| byte & 0xc0 == 0x80;
    let start = line.iter().rposition(|&byte| !is_continuation(byte)).unwrap_or(0);
    match core::str::from_utf8(&line[start..]) {
        Ok(_) => start,
        Err(_) => line.len() - 1,
    }
}

/// Where the last word of the line starts: blanks at the end go with it.
fn last_word(line: &[u8]) -> usize {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = line.iter().rposition(|byte| !is_blank(byte)).map_or(0, |at| at + 1);
    line[..end].iter().rposition(is_blank).map_or(0, |at| at + 1)
}
