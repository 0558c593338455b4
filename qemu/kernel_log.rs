//! The kernel's own lines and the exit status, which `--run` gets apart from the line's output.

use std::io::{self, Read, Write};
use std::thread::{self, JoinHandle};

/// Largest piece carried at once.
const PIECE: usize = 4096;
/// Comes after the last line and before the status; no line has it.
const MARK: u8 = 0;

/// Copies the lines to standard error. The result is the status, if the machine told one before it ended.
pub(crate) fn copy(log: impl Read + Send + 'static) -> JoinHandle<Option<u8>> {
    thread::spawn(move || copy_to(log, &mut io::stderr()))
}

fn copy_to(mut log: impl Read, lines: &mut impl Write) -> Option<u8> {
    let mut piece = [0; PIECE];
    // A mark at the end, and the byte after it, are held back: they may be the status.
    let mut held = Vec::with_capacity(2 * PIECE);
    loop {
        let count = match log.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(count @ 1..) => count,
            // QEMU's end, which whoever waits for QEMU explains.
            Ok(0) | Err(_) => break,
        };
        held.extend_from_slice(&piece[..count]);
        let shown = held.len() - end_length(&held);
        // A standard error that is gone must not stop the guest.
        let _ = lines.write_all(&held[..shown]);
        held.drain(..shown);
    }
    match held[..] {
        [MARK, status] => Some(status),
        _ => {
            let _ = lines.write_all(&held);
            None
        }
    }
}

/// How many of the last bytes may be the mark and the status.
fn end_length(bytes: &[u8]) -> usize {
    match *bytes {
        [.., MARK, _] => 2,
        [.., MARK] => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as a slow guest does.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = self.0.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    fn copied(log: &[u8]) -> (Option<u8>, Vec<u8>) {
        let mut lines = Vec::new();
        let status = copy_to(log, &mut lines);
        let mut slowly = Vec::new();
        assert_eq!(copy_to(Slow(log), &mut slowly), status);
        assert_eq!(slowly, lines);
        (status, lines)
    }

    #[test]
    fn every_status_arrives_and_the_lines_stay_as_they_are() {
        for status in 0..=u8::MAX {
            let log = [&b"one\ntwo\n\0"[..], &[status]].concat();
            assert_eq!(copied(&log), (Some(status), b"one\ntwo\n".to_vec()));
        }
        assert_eq!(copied(b"\0\x07"), (Some(7), Vec::new()));
        assert_eq!(copied(b"a\0\0\x07"), (Some(7), b"a\0".to_vec()));
    }

    #[test]
    fn a_line_is_shown_when_it_comes() {
        let (mut guest, log) = std::os::unix::net::UnixStream::pair().unwrap();
        let (mut shown, lines) = std::os::unix::net::UnixStream::pair().unwrap();
        shown.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        let copying = thread::spawn(move || copy_to(log, &mut &lines));
        guest.write_all(b"up\n").unwrap();
        let mut line = [0; 3];
        shown.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"up\n");
        guest.write_all(b"\0\x05").unwrap();
        drop(guest);
        assert_eq!(copying.join().unwrap(), Some(5));
    }

    #[test]
    fn a_log_that_was_cut_has_no_status() {
        for log in [&b""[..], b"o", b"one\n", b"one\n\0", b"\0", b"a\0\x07\n"] {
            assert_eq!(copied(log), (None, log.to_vec()), "{log:?}");
        }
    }
}
