//! The person's yes.

use crate::run::LOOK_MS;
use askr_userland::{Errno, eprint, eprintln, sys};

/// Most bytes of a reply that are looked at.
const REPLY_MAX: usize = 64;

/// What the person said.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// `y` or `yes`, typed after the question.
    Yes,
    /// Anything else.
    No,
    /// There is nobody to ask.
    Impossible,
    /// Ctrl-C.
    Interrupted,
}

/// Waits for a line, or for Ctrl-C: a read would sleep on if that came just before it.
fn answered() -> Result<(), Errno> {
    loop {
        if sys::take_interrupt() {
            return Err(Errno::EINTR);
        }
        if sys::poll_readable(sys::STDIN, LOOK_MS)? {
            return Ok(());
        }
    }
}

/// Asks at the terminal. What was typed before the question is no answer to it.
pub(crate) fn consent() -> Consent {
    let Ok(modes) = sys::terminal_attributes(sys::STDIN) else { return Consent::Impossible };
    let is_foreground = sys::getpgrp().is_ok_and(|own| sys::foreground(sys::STDIN) == Ok(own));
    if !is_foreground || !sys::is_terminal(sys::STDERR) {
        return Consent::Impossible;
    }
    if sys::flush_terminal(sys::STDIN, &modes).is_err() {
        return Consent::Impossible;
    }
    eprint!("do it? [y/N] ");
    let mut reply = [0; REPLY_MAX];
    let count = match answered().and_then(|()| sys::read(sys::STDIN, &mut reply)) {
        Ok(count) => count,
        Err(Errno::EINTR) => return Consent::Interrupted,
        Err(_) => 0,
    };
    if count == 0 {
        // The end of the input was typed, and no end of a line.
        eprintln!("");
    }
    let reply = reply[..count].trim_ascii();
    let is_yes = [&b"y"[..], b"yes"].iter().any(|yes| reply.eq_ignore_ascii_case(yes));
    if is_yes { Consent::Yes } else { Consent::No }
}
