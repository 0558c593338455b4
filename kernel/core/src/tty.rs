//! The line discipline of a terminal: bytes typed go in, lines (canonical mode) or bytes (raw mode) come out, and each
//! byte tells what to show (`termios(3)`: ICANON, ECHO, ECHOE, ECHOK, ECHOCTL, IUTF8, ISIG, ICRNL, IMAXBEL; OPOST and
//! ONLCR for output; VMIN and VTIME). All memory is taken when it is made; nothing grows after that.
//!
//! Nothing typed is dropped for want of a reader: when the queue of finished input is full, further bytes wait as they
//! came in a backlog, and when that is full, [`LineDiscipline::room`] is 0 and the caller leaves the bytes where they
//! are, which makes the sender wait. Ctrl-C and its like are looked for when a byte enters the backlog, so it gets through as long
//! as no more than [`BACKLOG_MAX`] bytes were typed before it and not read, whatever the mode is.
//!
//! A change of mode takes what was typed and not read along: lines become bytes with the line being typed at their
//! end, and bytes are typed again, with their echo, line by line as somebody reads them. So a shell that reads in raw
//! mode up to the end of a command leaves the rest to the command, as far as that reads, and then to the next line.

mod echo;
mod modes;
mod output;
mod queue;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use askr_abi::signal::{SIGINT, SIGQUIT, SIGTSTP};

pub use echo::Echo;
pub use modes::Modes;
pub use output::Onlcr;
use queue::Ready;

/// Longest line in bytes without its newline (Linux's N_TTY limit). What is typed beyond it is refused with a
/// bell and counted.
pub const LINE_MAX: usize = 4095;
/// Bytes of finished input that wait to be read.
pub const READY_BYTES_MAX: usize = 16 * 1024;
/// Finished lines that wait to be read.
pub const READY_LINES_MAX: usize = 256;
/// Bytes that wait for room among those. More than those are, because a change of mode may put them all here.
pub const BACKLOG_MAX: usize = 2 * READY_BYTES_MAX;

const INTERRUPT: u8 = 0x03;
const QUIT: u8 = 0x1c;
const SUSPEND: u8 = 0x1a;
const END_OF_FILE: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const KILL_LINE: u8 = 0x15;
const ERASE_WORD: u8 = 0x17;
const DELETE: u8 = 0x7f;

/// What happened besides the echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something is ready to be read: wake the reader.
    Ready,
    /// Ctrl-C, Ctrl-\ or Ctrl-Z: send this signal to the foreground group. What was typed ahead has been discarded.
    Signal(u32),
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

/// A terminal's input side.
#[derive(Debug)]
pub struct LineDiscipline {
    modes: Modes,
    line: Vec<u8>,
    ready: Ready,
    /// Typed, but not looked at yet except for Ctrl-C.
    backlog: VecDeque<u8>,
    /// The backlog was typed in raw mode: each line of it waits for somebody who reads it.
    held: bool,
    /// Somebody has found nothing to read.
    wanted: bool,
    refused: u64,
}

impl Default for LineDiscipline {
    fn default() -> Self {
        Self::new()
    }
}

impl LineDiscipline {
    /// An empty terminal in canonical mode; takes about 80 KiB.
    #[must_use]
    pub fn new() -> Self {
        Self {
            modes: Modes::CANONICAL,
            line: Vec::with_capacity(LINE_MAX),
            ready: Ready::new(),
            backlog: VecDeque::with_capacity(BACKLOG_MAX + READY_BYTES_MAX + LINE_MAX),
            held: false,
            wanted: false,
            refused: 0,
        }
    }

    /// Takes one byte from the terminal. Call it only while there is [`Self::room`].
    pub fn input(&mut self, byte: u8) -> Reaction {
        if let Some(signal) = self.signal_of(byte) {
            self.backlog.clear();
            self.held = false;
            return self.interrupt(byte, signal);
        }
        let waits = !self.backlog.is_empty() || !self.takes(byte);
        match byte {
            _ if !waits => self.process(byte),
            _ if self.room() > 0 => {
                self.backlog.push_back(byte);
                show(Echo::nothing())
            }
            _ => self.refuse(),
        }
    }

    /// How many bytes [`Self::input`] can take now, whatever they are.
    #[must_use]
    pub fn room(&self) -> usize {
        BACKLOG_MAX.saturating_sub(self.backlog.len())
    }

    /// Goes on with the backlog: call it after [`Self::read`] and [`Self::set_modes`] until it returns `None`.
    pub fn resume(&mut self) -> Option<Reaction> {
        let &byte = self.backlog.front()?;
        if (self.held && !self.wanted) || !self.takes(byte) {
            return None;
        }
        self.backlog.pop_front();
        self.held &= !self.backlog.is_empty();
        let reaction = self.process(byte);
        self.wanted &= reaction.event != Some(Event::Ready);
        Some(reaction)
    }

    /// Moves what is ready to be read, as far as it fits and in canonical mode not beyond one line, and returns its
    /// length. `Some(0)` is an end of file; `None` says that nothing is ready yet, unless [`Self::resume`] brings it.
    pub fn read(&mut self, into: &mut [u8]) -> Option<usize> {
        self.want();
        if self.modes.canonical { self.ready.read_line(into) } else { self.ready.read_bytes(into) }
    }

    /// Says that somebody waits for something to read, as [`Self::read`] does: what was held for want of a reader goes
    /// on with [`Self::resume`].
    pub fn want(&mut self) {
        self.wanted = !self.is_ready();
    }

    /// Whether [`Self::read`] has something.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        if self.modes.canonical { self.ready.has_line() } else { self.ready.has_byte() }
    }

    /// How long a read waits for the first byte, in tenths of a second; `None` is for ever.
    #[must_use]
    pub const fn patience(&self) -> Option<u8> {
        if self.modes.canonical || self.modes.min > 0 { None } else { Some(self.modes.time) }
    }

    /// The modes in force.
    #[must_use]
    pub const fn modes(&self) -> Modes {
        self.modes
    }

    /// Changes the modes. What was typed and not read is kept, see the head of this module; but if it has a Ctrl-C in
    /// it and that is a signal now, it is one at once.
    pub fn set_modes(&mut self, modes: Modes) -> Option<Reaction> {
        match (self.modes.canonical, modes.canonical) {
            (true, false) => {
                self.ready.join(&self.line);
                self.line.clear();
                self.held = false;
            }
            (false, true) => {
                self.ready.move_before(&mut self.backlog);
                self.held = !self.backlog.is_empty();
                self.wanted = false;
            }
            _ => {}
        }
        self.modes = modes;
        let at = self.backlog.iter().rposition(|&byte| self.signal_of(byte).is_some())?;
        let key = self.backlog[at];
        self.backlog.drain(..=at);
        self.held &= !self.backlog.is_empty();
        self.signal_of(key).map(|signal| self.interrupt(key, signal))
    }

    /// Forgets what was typed and not read.
    pub fn discard(&mut self) {
        self.line.clear();
        self.ready.clear();
        self.backlog.clear();
        self.held = false;
    }

    /// The line being typed, to show it again after other output came between.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.line
    }

    /// Bytes refused so far: those typed beyond [`LINE_MAX`] in one line.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// The signal that a key is, in these modes.
    const fn signal_of(&self, byte: u8) -> Option<u32> {
        match byte {
            INTERRUPT if self.modes.signals => Some(SIGINT),
            QUIT if self.modes.signals => Some(SIGQUIT),
            SUSPEND if self.modes.signals => Some(SIGTSTP),
            _ => None,
        }
    }

    /// Whether there is room for what `byte` may finish.
    fn takes(&self, byte: u8) -> bool {
        match self.modes.canonical {
            true => !self.is_end(byte) || self.ready.takes_line(self.line.len() + 1),
            false => self.ready.takes_byte(),
        }
    }

    fn is_end(&self, byte: u8) -> bool {
        matches!(self.translate(byte), b'\n' | END_OF_FILE)
    }

    fn translate(&self, byte: u8) -> u8 {
        if byte == b'\r' && self.modes.return_is_newline { b'\n' } else { byte }
    }

    /// Takes a byte for which there is room.
    fn process(&mut self, byte: u8) -> Reaction {
        let byte = self.translate(byte);
        let reaction = match byte {
            _ if !self.modes.canonical => self.pass(byte),
            b'\n' => self.end_line(),
            END_OF_FILE => self.end_of_file(),
            BACKSPACE | DELETE => self.erase_to(last_visible(&self.line)),
            KILL_LINE => self.erase_to(0),
            ERASE_WORD => self.erase_to(last_word(&self.line)),
            _ => self.add(byte),
        };
        if self.modes.echo { reaction } else { Reaction { echo: Echo::nothing(), ..reaction } }
    }

    /// A byte in raw mode.
    fn pass(&mut self, byte: u8) -> Reaction {
        self.ready.push_byte(byte);
        let echo = if byte == b'\n' { Echo::newline() } else { Echo::typed(byte) };
        Reaction { echo, event: Some(Event::Ready) }
    }

    fn add(&mut self, byte: u8) -> Reaction {
        if self.line.len() >= LINE_MAX {
            return self.refuse();
        }
        self.line.push(byte);
        show(Echo::typed(byte))
    }

    fn refuse(&mut self) -> Reaction {
        self.refused += 1;
        show(Echo::bell())
    }

    fn end_line(&mut self) -> Reaction {
        self.hand_over(b"\n", Echo::newline())
    }

    /// Ctrl-D hands over what is there without a newline; at the start of a line that is an end of file.
    fn end_of_file(&mut self) -> Reaction {
        self.hand_over(b"", Echo::nothing())
    }

    fn hand_over(&mut self, end: &[u8], echo: Echo) -> Reaction {
        self.ready.push_line(&self.line, end);
        self.line.clear();
        Reaction { echo, event: Some(Event::Ready) }
    }

    /// What was typed before is discarded; what is in the backlog now was typed after.
    fn interrupt(&mut self, key: u8, signal: u32) -> Reaction {
        self.line.clear();
        self.ready.clear();
        let echo = if self.modes.echo { Echo::signal(key) } else { Echo::nothing() };
        Reaction { echo, event: Some(Event::Signal(signal)) }
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
