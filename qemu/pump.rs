//! Carries bytes between this process's standard streams and COM1.

use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use crate::keys::{Action, Keys};

/// Largest piece carried at once.
const PIECE: usize = 64 * 1024;
/// How long a typed key may wait for a guest that takes no input. After that it is dropped, so that Ctrl-A x
/// always works.
const TYPING_PATIENCE: Duration = Duration::from_millis(200);

const HELP: &str = "
askr: Ctrl-A x       end QEMU
      Ctrl-A Ctrl-A  send Ctrl-A
      Ctrl-A h       this help
";

/// How long the output of one line is gathered after a small piece: QEMU sends byte by byte, and being woken for
/// each would cost most of the time.
const GATHERING: Duration = Duration::from_millis(1);
/// Pieces from this size on need no gathering.
const PIECE_LARGE: usize = PIECE / 4;

/// What the main thread waits for.
#[derive(Debug)]
pub(crate) enum Event {
    /// QEMU closed COM1: it has ended.
    GuestGone,
    /// Ctrl-A x.
    Quit,
    /// Standard input can't be read, or standard output can't be written.
    StreamGone(&'static str, io::Error),
    /// A signal arrived.
    Signal(i32),
}

/// Whether the guest's output stopped in the middle of a line.
static LINE_IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Ends the guest's last line on the terminal, so that what comes next starts a line of its own.
pub(crate) fn end_line() {
    if LINE_IS_OPEN.swap(false, Ordering::Relaxed) && io::stdout().is_terminal() {
        eprintln!();
    }
}

/// COM1 to standard output. The receiver gets a message with the guest's first byte.
pub(crate) fn output(mut com1: impl Read + Send + 'static, events: Sender<Event>) -> Receiver<()> {
    let (spoke, first_byte) = mpsc::channel();
    thread::spawn(move || {
        let end = copy_output(&mut com1, |piece| {
            // Nobody listens any more after the first message, or ever on a terminal.
            let _ = spoke.send(());
            LINE_IS_OPEN.store(!piece.ends_with(b"\n"), Ordering::Relaxed);
        });
        // The main thread is gone only when the process is about to end.
        let _ = events.send(end);
    });
    first_byte
}

/// The output of one line to standard output.
pub(crate) fn line_output(mut output: impl Read + Send + 'static, events: Sender<Event>) {
    thread::spawn(move || {
        let end = copy_output(&mut output, |piece| {
            if piece.len() < PIECE_LARGE {
                thread::sleep(GATHERING);
            }
        });
        let _ = events.send(end);
    });
}

/// Copies to standard output until one of the two ends; `copied` sees each piece.
fn copy_output(from: &mut impl Read, mut copied: impl FnMut(&[u8])) -> Event {
    let mut piece = vec![0; PIECE];
    let mut stdout = io::stdout();
    loop {
        match from.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return Event::GuestGone,
            Ok(count) => {
                if let Err(error) = stdout.write_all(&piece[..count]).and_then(|()| stdout.flush()) {
                    return Event::StreamGone("standard output", error);
                }
                copied(&piece[..count]);
            }
        }
    }
}

/// Standard input to COM1, byte for byte, starting when the guest has said something: a UART that is not yet
/// set up loses what it receives. The end of the input is not the end of the guest.
pub(crate) fn piped_input(mut com1: UnixStream, first_byte: Receiver<()>, events: Sender<Event>) {
    thread::spawn(move || {
        if first_byte.recv().is_err() {
            return;
        }
        let mut stdin = io::stdin();
        let mut piece = vec![0; PIECE];
        loop {
            match stdin.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) => return,
                Ok(count) => {
                    if com1.write_all(&piece[..count]).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    let _ = events.send(Event::StreamGone("standard input", error));
                    return;
                }
            }
        }
    });
}

/// The keyboard to COM1, with the escapes of [`Keys`].
pub(crate) fn keyboard(mut com1: UnixStream, events: Sender<Event>) -> io::Result<()> {
    com1.set_write_timeout(Some(TYPING_PATIENCE))?;
    thread::spawn(move || {
        let end = match type_keys(&mut io::stdin(), &mut com1) {
            Ok(()) => Event::Quit,
            Err(error) => Event::StreamGone("standard input", error),
        };
        let _ = events.send(end);
    });
    Ok(())
}

/// Returns at Ctrl-A x.
fn type_keys(keyboard: &mut impl Read, com1: &mut impl Write) -> io::Result<()> {
    let mut keys = Keys::default();
    let mut piece = vec![0; PIECE];
    let mut typed = Vec::with_capacity(PIECE);
    loop {
        let count = match keyboard.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            other => other?,
        };
        typed.clear();
        for byte in &piece[..count] {
            match keys.press(*byte) {
                Action::Send(byte) => typed.push(byte),
                Action::Nothing => {}
                Action::Quit => return Ok(()),
                Action::Help => eprint!("{HELP}"),
            }
        }
        if let Err(error) = com1.write_all(&typed) {
            // A guest that has ended is reported by the output's end.
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
                eprint!(
                    "\r\n\x07askr: the guest takes no input; what was typed is dropped (Ctrl-A x quits)\r\n"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_to_the_guest_until_the_escape() {
        let mut sent = Vec::new();
        type_keys(&mut &b"ls\r\x01\x01\x01xmore"[..], &mut sent).unwrap();
        assert_eq!(sent, b"");
        let mut pieces = (&b"ls\r\x01\x01"[..]).chain(&b"\x01x"[..]);
        type_keys(&mut pieces, &mut sent).unwrap();
        assert_eq!(sent, b"ls\r\x01");
    }

    #[test]
    fn a_closed_keyboard_is_an_error() {
        let error = type_keys(&mut &b"ls"[..], &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn the_escape_works_while_the_guest_takes_nothing() {
        struct Stalled;
        impl Write for Stalled {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::WouldBlock.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut pieces = (&b"lost"[..]).chain(&b"\x01x"[..]);
        type_keys(&mut pieces, &mut Stalled).unwrap();
    }
}
