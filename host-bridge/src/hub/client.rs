//! One client: its lines in, its lines out.

use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use socket2::SockRef;

use super::Inner;
use super::outbox::Outbox;
use crate::json::{self, Error, Problem};

/// Longest line from a client in bytes.
pub const LINE_MAX: usize = 4 * 1024 * 1024;
/// Longest time that a client may leave a line unread before it is disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connected client.
pub(super) struct Client {
    pub(super) id: u64,
    outbox: Outbox,
    stream: UnixStream,
    /// Is never disconnected for leaving a line unread.
    patient: AtomicBool,
}

impl Client {
    pub(super) fn new(id: u64, stream: UnixStream) -> io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self { id, outbox: Outbox::default(), stream, patient: AtomicBool::new(false) })
    }

    /// Queues a reply to a request of this client; may wait for room, so only its own thread calls it.
    pub(super) fn reply(&self, line: String) {
        self.outbox.push_reply(line);
    }

    /// Queues a line without waiting. A client that leaves too many unread is disconnected.
    pub(super) fn push(&self, line: &str) {
        if !self.outbox.push(line.to_owned()) {
            self.disconnect();
        }
    }

    /// Queues a line without waiting, if there is room for more that the client may do without. `false` if not.
    pub(super) fn offer(&self, line: &str) -> bool {
        self.outbox.offer(line.to_owned())
    }

    /// From now on it may leave a line unread as long as it likes, or no longer: what it does not take is lost to it alone.
    pub(super) fn set_patient(&self, patient: bool) {
        self.patient.store(patient, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(super) fn take_queued(&self) -> Option<String> {
        self.outbox.pop()
    }

    /// Whether it has closed both directions, so that no reply reaches it. One that only sends no more is still there.
    pub(super) fn is_gone(&self) -> bool {
        // Nothing is sent; `send(2)` fails if there is nobody to send to.
        SockRef::from(&self.stream).send(&[]).is_err()
    }

    /// Ends the client's threads; what waits for it is lost.
    pub(super) fn disconnect(&self) {
        self.outbox.abandon();
        // Already disconnected is what was wanted.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Writes what is queued until the queue is closed or the client does not read.
    fn write_all(&self) {
        while let Some(mut line) = self.outbox.pop() {
            line.push('\n');
            if self.write(line.as_bytes()).is_err() {
                return self.disconnect();
            }
        }
    }

    fn write(&self, mut rest: &[u8]) -> io::Result<()> {
        while !rest.is_empty() {
            match (&self.stream).write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.is_patient() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn is_patient(&self) -> bool {
        self.patient.load(Ordering::Relaxed)
    }
}

/// Serves a client until it closes its sending side; its replies still go out.
pub(super) fn serve(hub: &Inner, client: &Arc<Client>) {
    let theirs = Arc::clone(client);
    let writer = thread::Builder::new().name("askr-client-out".into()).spawn(move || theirs.write_all());
    if let Ok(writer) = writer {
        read_requests(hub, client);
        hub.board.leave(client, hub.boot());
        hub.captures.leave(client);
        client.outbox.close();
        // A panic of the thread was already printed; the client is disconnected either way.
        let _ = writer.join();
    }
    client.disconnect();
}

fn read_requests(hub: &Inner, client: &Arc<Client>) {
    let mut reader = BufReader::new(&client.stream);
    let mut line = Vec::new();
    loop {
        match read_line(&mut reader, &mut line) {
            Ok(Line::End) | Err(_) => return,
            Ok(Line::TooLong) => {
                let error =
                    Error::new(Problem::LineTooLong, format!("the line is longer than {LINE_MAX} bytes"));
                client.reply(json::reply_error(&Value::Null, hub.boot(), &error));
            }
            Ok(Line::Whole) if line.trim_ascii().is_empty() => {}
            Ok(Line::Whole) => super::dispatch::execute(hub, client, json::parse(&line)),
        }
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads up to the next line feed or the end. A line that is too long is read to its end and dropped.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let mut too_long = false;
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result?,
        };
        if buffer.is_empty() && line.is_empty() && !too_long {
            return Ok(Line::End);
        }
        let feed = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..feed.unwrap_or(buffer.len())];
        too_long |= line.len() + part.len() > LINE_MAX;
        if !too_long {
            line.extend_from_slice(part);
        }
        let is_end = buffer.is_empty() || feed.is_some();
        let count = part.len() + usize::from(feed.is_some());
        reader.consume(count);
        if is_end {
            return Ok(if too_long { Line::TooLong } else { Line::Whole });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlong_line_costs_only_itself() {
        let mut input = vec![b'x'; LINE_MAX + 1];
        input.extend_from_slice(b"\nnext\nlast");
        let (mut reader, mut line) = (BufReader::new(&input[..]), Vec::new());
        assert!(matches!(read_line(&mut reader, &mut line), Ok(Line::TooLong)));
        assert!(matches!(read_line(&mut reader, &mut line), Ok(Line::Whole)));
        assert_eq!(line, b"next");
        assert!(matches!(read_line(&mut reader, &mut line), Ok(Line::Whole)));
        assert_eq!(line, b"last");
        assert!(matches!(read_line(&mut reader, &mut line), Ok(Line::End)));
    }

    #[test]
    fn who_sends_no_more_is_not_gone() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let client = Client::new(1, ours).unwrap();
        assert!(!client.is_gone());
        theirs.shutdown(Shutdown::Write).unwrap();
        assert!(!client.is_gone());
        drop(theirs);
        assert!(client.is_gone());
    }

    #[test]
    fn the_longest_line_passes() {
        let mut input = vec![b'x'; LINE_MAX];
        input.push(b'\n');
        let (mut reader, mut line) = (BufReader::new(&input[..]), Vec::new());
        assert!(matches!(read_line(&mut reader, &mut line), Ok(Line::Whole)));
        assert_eq!(line.len(), LINE_MAX);
    }
}
