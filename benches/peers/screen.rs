//! What a guest shows on its console: when it did, and what it said last if something else does not come.

use std::fmt::{Display, Write as _};
use std::io::{Error, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// Bytes that are kept; of a console that shows more, the last ones.
const KEPT: usize = 64 << 10;
/// Lines of them that an error shows.
const LAST_LINES: usize = 12;

/// A console, read to its end by a thread of its own: what nobody reads stalls the guest.
#[derive(Clone)]
pub(crate) struct Screen(Arc<Shared>);

#[derive(Default)]
struct Shared {
    shown: Mutex<Shown>,
    changed: Condvar,
}

#[derive(Default)]
struct Shown {
    bytes: Vec<u8>,
    /// How many bytes there were when a piece had come, and when that was.
    pieces: Vec<(usize, Instant)>,
    /// Whether the guest is gone.
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn add(&mut self, piece: &[u8], now: Instant) {
        self.bytes.extend_from_slice(piece);
        self.pieces.push((self.bytes.len(), now));
        let too_many = self.bytes.len().saturating_sub(KEPT);
        if too_many > 0 {
            self.bytes.drain(..too_many);
            self.pieces.retain_mut(|(end, _)| {
                *end = end.saturating_sub(too_many);
                *end > 0
            });
        }
    }

    /// When this text was whole.
    fn when(&self, text: &[u8]) -> Option<Instant> {
        let at = self.bytes.windows(text.len()).position(|window| window == text)?;
        self.pieces.iter().find(|(end, _)| *end >= at + text.len()).map(|(_, when)| *when)
    }
}

impl Screen {
    /// Begins to read this console.
    pub(crate) fn new(mut console: UnixStream) -> Self {
        let screen = Self(Arc::default());
        let filled = Arc::clone(&screen.0);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = console.read(&mut piece) {
                let now = Instant::now();
                filled.lock().add(&piece[..count], now);
                filled.changed.notify_all();
            }
            filled.lock().ended = true;
            filled.changed.notify_all();
        });
        screen
    }

    /// When it showed this text, which is waited for.
    ///
    /// # Errors
    /// It did not in this time, or the guest is gone.
    pub(crate) fn shows(&self, text: &str, within: Duration) -> Result<Instant> {
        let until = Instant::now() + within;
        let mut shown = self.0.lock();
        loop {
            if let Some(when) = shown.when(text.as_bytes()) {
                return Ok(when);
            }
            let left = until.saturating_duration_since(Instant::now());
            if shown.ended || left.is_zero() {
                let why = if shown.ended { "before QEMU ended".into() } else { format!("within {within:?}") };
                drop(shown);
                return Err(self.blame(format_args!("no {text:?} on the console {why}")).into());
            }
            shown = self.0.changed.wait_timeout(shown, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// That something did not come, or was not taken, within this time or because of this error.
    pub(crate) fn missed(&self, what: impl Display, within: Duration, error: &Error) -> String {
        match error.kind() {
            ErrorKind::WouldBlock => self.blame(format_args!("{what} within {within:?}")),
            _ => self.blame(format_args!("{what}: {error}")),
        }
    }

    /// What went wrong, with the last lines of this console below it.
    pub(crate) fn blame(&self, what: impl Display) -> String {
        let shown = self.0.lock();
        let text = String::from_utf8_lossy(&shown.bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.is_empty() {
            return format!("{what}; the console shows nothing");
        }
        let mut told = format!("{what}; the console shows last:");
        for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
            told.push_str("\n  | ");
            for character in line.chars() {
                let _ = match character.is_control() {
                    true => write!(told, "{}", character.escape_debug()),
                    false => told.write_char(character),
                };
            }
        }
        told
    }
}
