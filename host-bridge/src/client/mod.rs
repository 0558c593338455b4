//! A client of a hub, for programs on the host: [`Guest`] calls in types, [`Follower`] is told what happens, and
//! [`HubClient`] has the lines themselves. `docs/sdk.md` shows how they are used.

mod error;
mod follower;
mod guest;

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

pub use error::{Error, Refusal};
pub use follower::Follower;
pub use guest::{Guest, REPLY_MAX};

pub use crate::json::{Ask, Cause, End, Event, Finished, Job, Output, Program, Pushed, Reply};
use crate::socket;

/// Environment variable that names the hub's socket.
pub const SOCKET_VARIABLE: &str = "ASKR_SOCKET";
/// Where the hub's socket lies, seen from the target folder.
pub const SOCKET_IN_TARGET: &str = "askr/agent.sock";

/// Shortest wait for a line.
const PATIENCE_MIN: Duration = Duration::from_millis(1);
/// Most bytes of one write whose time is limited: the kernel begins that time anew for every few of its buffers.
const PIECE_MAX: usize = 32 * 1024;

/// Why there is no connection to a hub.
#[derive(Debug)]
pub enum NoHub {
    /// No socket was named and none was found beside this program.
    NotFound,
    /// Nobody listens at this socket.
    Unreachable(PathBuf, io::Error),
}

impl fmt::Display for NoHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = "start a guest with `cargo run`, or name the socket of another hub with --socket";
        match self {
            Self::NotFound => write!(f, "no hub is running: {start}"),
            Self::Unreachable(path, error) => {
                write!(f, "no hub is running at {} ({error}): {start}", path.display())
            }
        }
    }
}

impl std::error::Error for NoHub {}

/// The hub's socket: the one named, else the one in the environment, else the one beside an ancestor of this
/// program (`target/debug/askr-bridge` finds `target/askr/agent.sock`).
///
/// # Errors
/// [`NoHub::NotFound`].
pub fn find_socket(named: Option<PathBuf>) -> Result<PathBuf, NoHub> {
    find_socket_where(named, Path::exists)
}

/// The same, but the socket beside an ancestor of this program is the first of which `is_wanted` is true.
///
/// # Errors
/// [`NoHub::NotFound`].
pub fn find_socket_where(
    named: Option<PathBuf>,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<PathBuf, NoHub> {
    let beside = || {
        let program = std::env::current_exe().ok()?;
        let sockets = program.ancestors().skip(1).map(|folder| folder.join(SOCKET_IN_TARGET));
        sockets.into_iter().find(|path| is_wanted(path))
    };
    named.or_else(socket_from_environment).or_else(beside).ok_or(NoHub::NotFound)
}

/// The socket that the environment names.
#[must_use]
pub fn socket_from_environment() -> Option<PathBuf> {
    std::env::var_os(SOCKET_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// A connection to a hub.
///
/// One line goes to the hub and one or more come back; what they mean is for the caller. See [`Guest`] for typed calls.
pub struct HubClient {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    /// The beginning of a line whose end was not there yet when patience ended.
    partial: Vec<u8>,
}

impl HubClient {
    /// Connects.
    ///
    /// # Errors
    /// [`NoHub::Unreachable`].
    pub fn connect(path: &Path) -> Result<Self, NoHub> {
        let open = || {
            let writer = socket::connect(path)?;
            Ok(Self { reader: BufReader::new(writer.try_clone()?), writer, partial: Vec::new() })
        };
        open().map_err(|error| NoHub::Unreachable(path.to_owned(), error))
    }

    /// Longest time that [`HubClient::receive`] waits for bytes; `None`, as at first, for ever. When it has passed nothing
    /// is lost: the next call goes on with the same line.
    ///
    /// # Errors
    /// As `setsockopt(2)`; a time of zero is refused.
    pub fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        self.writer.set_read_timeout(patience)
    }

    /// The socket, for what is to be known of who listens.
    #[must_use]
    pub fn stream(&self) -> &UnixStream {
        &self.writer
    }

    /// Sends one line.
    ///
    /// # Errors
    /// As `write(2)`.
    pub fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.writer.write_all(&[line, b"\n"].concat())
    }

    /// The same within this time; `TimedOut` if the hub does not take the line. An error ends the connection: the line may
    /// have been sent in part, and the next could not follow it. That the hub has ended it is none: why, it may have said.
    fn send_within(&mut self, line: &[u8], wait: Duration) -> io::Result<()> {
        let (bytes, started) = ([line, b"\n"].concat(), Instant::now());
        let sent = bytes.chunks(PIECE_MAX).try_for_each(|piece| {
            let left = wait.saturating_sub(started.elapsed());
            self.writer.set_write_timeout(Some(left.max(PATIENCE_MIN)))?;
            self.writer.write_all(piece)
        });
        let Err(error) = sent else { return Ok(()) };
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Ok(());
        }
        // It may be ended already.
        let _ = self.writer.shutdown(Shutdown::Both);
        if error.kind() != io::ErrorKind::WouldBlock {
            return Err(error);
        }
        let late = format!("it did not take a line within {} seconds", wait.as_secs_f32());
        Err(io::Error::new(io::ErrorKind::TimedOut, late))
    }

    /// The next line, without its line feed; `None` when the hub closed the connection.
    ///
    /// # Errors
    /// As `read(2)`, `WouldBlock` when patience ended; `UnexpectedEof` when the connection ended inside a line,
    /// `InvalidData` for a line that is not UTF-8.
    pub fn receive(&mut self) -> io::Result<Option<String>> {
        self.reader.read_until(b'\n', &mut self.partial)?;
        let mut line = std::mem::take(&mut self.partial);
        match line.pop() {
            None => Ok(None),
            Some(b'\n') => String::from_utf8(line)
                .map(Some)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
            Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The next line as JSON; `None` if it takes longer than `wait`. What comes in time counts, even at the deadline.
    fn line_within(&mut self, wait: Duration) -> Result<Option<Value>, Error> {
        // Zero would be no limit.
        self.set_patience(Some(wait.max(PATIENCE_MIN)))?;
        let line = match self.receive() {
            Ok(line) => line.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        serde_json::from_str(&line).map(Some).map_err(|_| Error::Protocol("the hub's line is no JSON".into()))
    }

    /// Sends a request and waits for the next line. A hub that takes no more clients says so and closes, perhaps before
    /// this is sent: then that line is given.
    ///
    /// # Errors
    /// As [`HubClient::send`] and [`HubClient::receive`]; `UnexpectedEof` when the hub closed the connection,
    /// `InvalidData` for a line that is no JSON.
    pub fn request(&mut self, request: &Value) -> io::Result<Value> {
        match self.send(request.to_string().as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
        let line = self.receive()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        serde_json::from_str(&line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// The two directions, for two threads.
    #[must_use]
    pub fn split(self) -> (UnixStream, BufReader<UnixStream>) {
        (self.writer, self.reader)
    }
}
