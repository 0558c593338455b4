//! COM1 as a person sees it: text comes in, lines are typed, and everything that was shown is kept.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Transcript;
use crate::{Error, Result};

/// How much output is kept. A guest that prints more than this is broken.
const TRANSCRIPT_MAX: usize = 16 << 20;
/// Largest read from the socket.
const READ_MAX: usize = 4096;
/// How long typing may block because the guest takes nothing.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);

/// A scripted console. A thread of its own reads it, so the guest never stalls on its output.
pub struct Console {
    writer: UnixStream,
    shown: Arc<Shown>,
    /// Where the next [`Console::wait_for`] starts to look.
    cursor: usize,
}

#[derive(Default)]
struct Shown {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    closed: bool,
    flooded: bool,
}

impl Shown {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Console {
    /// Takes over COM1.
    pub(crate) fn new(com1: UnixStream) -> io::Result<Self> {
        com1.set_write_timeout(Some(WRITE_DEADLINE))?;
        let shown = Arc::new(Shown::default());
        let reader = com1.try_clone()?;
        let filled = Arc::clone(&shown);
        thread::spawn(move || read_all(reader, &filled));
        Ok(Self { writer: com1, shown, cursor: 0 })
    }

    /// Waits until `text` is shown, looking only at what came after the previous match. Returns what was shown
    /// before it.
    ///
    /// # Errors
    /// [`Error::Deadline`] or [`Error::GuestEnded`] with the transcript.
    pub fn wait_for(&mut self, text: &str, within: Duration) -> Result<String> {
        let until = Instant::now() + within;
        let what = || format!("{text:?} on the console");
        let mut state = self.shown.lock();
        // Bytes before this were searched already; a match may start a little earlier.
        let mut searched = self.cursor;
        loop {
            let from = searched.saturating_sub(text.len()).max(self.cursor);
            if let Some(at) = find(&state.bytes[from..], text.as_bytes()) {
                let before = String::from_utf8_lossy(&state.bytes[self.cursor..from + at]).into_owned();
                self.cursor = from + at + text.len();
                return Ok(before);
            }
            searched = state.bytes.len();
            if state.flooded {
                return Err(Error::ConsoleFlooded { limit: TRANSCRIPT_MAX });
            }
            if state.closed {
                return Err(Error::GuestEnded { what: what(), transcript: transcript_of(&state) });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Deadline { what: what(), within, transcript: transcript_of(&state) });
            }
            state = self.shown.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Types a line and Enter (a carriage return, as a keyboard sends it).
    ///
    /// # Errors
    /// The guest takes no input or is gone.
    pub fn type_line(&mut self, line: &str) -> Result<()> {
        self.type_bytes(format!("{line}\r").as_bytes())
    }

    /// Types these bytes.
    ///
    /// # Errors
    /// As [`Console::type_line`].
    pub fn type_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(Error::io("typing on the console"))
    }

    /// Everything shown so far.
    #[must_use]
    pub fn transcript(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().bytes).into_owned()
    }
}

fn transcript_of(state: &State) -> Transcript {
    Transcript(Some(String::from_utf8_lossy(&state.bytes).into_owned()))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len().max(1)).position(|window| window.starts_with(needle))
}

/// Keeps what the console shows until QEMU closes it.
fn read_all(mut com1: UnixStream, shown: &Shown) {
    let mut buffer = [0; READ_MAX];
    loop {
        let count = match com1.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let mut state = shown.lock();
        // Read on all the same: a guest that stalls on its console would hide the flood's cause.
        if state.bytes.len() + count > TRANSCRIPT_MAX {
            state.flooded = true;
        } else {
            state.bytes.extend_from_slice(&buffer[..count]);
        }
        shown.changed.notify_all();
    }
    shown.lock().closed = true;
    shown.changed.notify_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn console() -> (Console, UnixStream) {
        let (ours, guest) = UnixStream::pair().unwrap();
        (Console::new(ours).unwrap(), guest)
    }

    #[test]
    fn a_match_may_come_in_pieces_and_is_used_once() {
        let (mut console, mut guest) = console();
        guest.write_all(b"boot\r\nas").unwrap();
        console.wait_for("boot", SOON).unwrap();
        guest.write_all(b"kr$ one askr$ ").unwrap();
        assert_eq!(console.wait_for("askr$ ", SOON).unwrap(), "\r\n");
        assert_eq!(console.wait_for("askr$ ", SOON).unwrap(), "one ");
        assert_eq!(console.transcript(), "boot\r\naskr$ one askr$ ");
    }

    #[test]
    fn a_deadline_shows_the_transcript_without_control_characters() {
        let (mut console, mut guest) = console();
        guest.write_all(b"kernel\x1b[2J panic\n").unwrap();
        console.wait_for("panic", SOON).unwrap();
        let error = console.wait_for("prompt", Duration::from_millis(10)).unwrap_err();
        assert!(matches!(error, Error::Deadline { .. }));
        let text = format!("{error:?}");
        assert!(
            text.contains("no \"prompt\" on the console") && text.contains(r"| kernel\u{1b}[2J panic"),
            "{text}"
        );
    }

    #[test]
    fn a_guest_that_ends_is_told_apart_from_a_slow_one() {
        let (mut console, guest) = console();
        drop(guest);
        assert!(matches!(console.wait_for("prompt", SOON), Err(Error::GuestEnded { .. })));
    }

    #[test]
    fn enter_is_a_carriage_return() {
        let (mut console, mut guest) = console();
        console.type_line("ls /").unwrap();
        let mut typed = [0; 5];
        guest.read_exact(&mut typed).unwrap();
        assert_eq!(&typed, b"ls /\r");
    }
}
