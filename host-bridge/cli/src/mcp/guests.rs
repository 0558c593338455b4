//! The hubs that this server can reach, each with one guest.

use std::io;
use std::path::{Path, PathBuf};

use host_bridge::client::{NoHub, find_socket_where};
use host_bridge::json::Answer;
use host_bridge::socket;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::error::{Code, Failure};

/// Most bytes of one reply: a listing of all entries that the hub gives, with room to spare.
const REPLY_MAX: u64 = 64 * 1024 * 1024;
/// Most guests of one checkout (`cargo run` gives no more of them a socket).
const GUESTS_MAX: u32 = 16;
/// Ends the file name of a hub's socket.
const SUFFIX: &str = ".sock";

/// Where guests are looked for, again at each call: they come and go.
pub(super) struct Guests {
    named: Option<PathBuf>,
}

impl Guests {
    /// With the socket that the command line names, if it does.
    pub(super) const fn new(named: Option<PathBuf>) -> Self {
        Self { named }
    }

    /// The socket of the first guest, which may have ended before others.
    fn default_socket(&self) -> Result<PathBuf, NoHub> {
        find_socket_where(self.named.clone(), |first| sockets(first).any(|(_, path)| path.exists()))
    }

    /// The socket of a guest; of the first one, if none is named. Others are those beside it with a number in their
    /// name, and nothing else: a name is not a path.
    fn socket(&self, guest: Option<&str>) -> Result<PathBuf, Failure> {
        let first = self.default_socket().map_err(not_running)?;
        let Some(guest) = guest else { return Ok(first) };
        let known = sockets(&first).find(|(name, _)| name == guest);
        let unknown = || Failure::new(Code::UnknownGuest, format!("there is no guest `{guest}`"));
        known.map(|(_, path)| path).ok_or_else(unknown)
    }

    /// Where the hub of a guest is.
    pub(super) fn path(&self, guest: Option<&str>) -> Result<PathBuf, Failure> {
        self.socket(guest)
    }

    /// The names of the guests whose socket is there.
    pub(super) fn names(&self) -> Vec<String> {
        let first = self.default_socket().ok();
        let all = first.iter().flat_map(|first| sockets(first));
        all.filter(|(_, path)| path.exists()).map(|(name, _)| name).collect()
    }

    /// Connects to the hub of a guest.
    pub(super) fn connect(&self, guest: Option<&str>) -> Result<Connection, Failure> {
        let path = self.socket(guest)?;
        let open = || {
            let stream = socket::connect(&path)?;
            stream.set_nonblocking(true)?;
            UnixStream::from_std(stream)
        };
        match open() {
            Ok(stream) => Ok(Connection { stream: BufReader::new(stream) }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(Failure::new(Code::Busy, "too many clients connect to the hub at once"))
            }
            Err(error) => Err(not_running(NoHub::Unreachable(path, error))),
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "taken as what map_err gives")]
fn not_running(error: NoHub) -> Failure {
    let message = match error {
        NoHub::NotFound => "no guest is running".to_owned(),
        NoHub::Unreachable(path, error) => format!("no guest is running at {} ({error})", path.display()),
    };
    Failure::new(Code::NotReady, message)
}

/// Names and sockets that guests have beside the first: `agent`, `agent-2`, …
fn sockets(first: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let name = first.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned();
    let first = first.to_owned();
    (1..=GUESTS_MAX).map(move |number| match number {
        1 => (name.clone(), first.clone()),
        _ => {
            let numbered = format!("{name}-{number}");
            let path = first.with_file_name(format!("{numbered}{SUFFIX}"));
            (numbered, path)
        }
    })
}

/// What the hub replied.
pub(super) struct Reply {
    /// The boot of the guest that it comes from; `None` until a guest was seen.
    pub(super) boot: Option<String>,
    pub(super) ok: Value,
}

/// A connection to a hub, for one call.
pub(super) struct Connection {
    stream: BufReader<UnixStream>,
}

impl Connection {
    /// Sends a request and waits for its reply, which comes by the request's own deadline.
    pub(super) async fn request(&mut self, request: &Value) -> Result<Reply, Failure> {
        let ended = |_| {
            Failure::new(Code::NotReady, "the guest has been stopped: its hub ended before it replied")
                .unanswered()
        };
        let line = format!("{request}\n");
        // A hub that takes no more clients says so and closes, perhaps before it was asked: what it said is read all the same.
        let sent = self.stream.write_all(line.as_bytes()).await.map_err(ended);
        let mut line = Vec::new();
        (&mut self.stream).take(REPLY_MAX).read_until(b'\n', &mut line).await.map_err(ended)?;
        if !line.ends_with(b"\n") {
            sent?;
            return Err(ended(io::ErrorKind::UnexpectedEof.into()));
        }
        let no_reply = || Failure::new(Code::Protocol, "what the hub replied is no reply");
        let reply: Value = serde_json::from_slice(&line).map_err(|_| no_reply())?;
        let boot = reply.get("boot").and_then(Value::as_str).map(str::to_owned);
        match Answer::of(&reply) {
            Answer::Ok(ok) => Ok(Reply { boot, ok }),
            Answer::Error { code, message, .. } => Err(Failure::of_hub(&code, &message, boot)),
            Answer::Other => Err(no_reply()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixListener;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_hub_that_closes_before_it_is_asked_has_said_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let ask_of_one_that_says = |said: &[u8]| {
            runtime.block_on(async {
                let mut hub = Guests::new(Some(path.clone())).connect(None).ok().unwrap();
                let (mut client, _) = listener.accept().unwrap();
                client.write_all(said).unwrap();
                drop(client);
                hub.request(&json!({ "op": "ping" })).await.map(|_| ()).map_err(|failure| failure.code())
            })
        };
        let full = b"{\"boot\":null,\"id\":null,\"error\":{\"code\":\"too_many_clients\",\"message\":\"64\",\"hint\":\"\"}}\n";
        assert_eq!(ask_of_one_that_says(full), Err(Code::Busy));
        assert_eq!(ask_of_one_that_says(b""), Err(Code::NotReady));
    }

    #[test]
    fn guests_are_those_beside_the_first_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("agent.sock");
        let guests = Guests::new(Some(first.clone()));
        let socket = |guest| guests.socket(guest).map_err(|failure| failure.code());
        assert_eq!(socket(None), Ok(first.clone()));
        assert_eq!(socket(Some("agent")), Ok(first));
        assert_eq!(socket(Some("agent-2")), Ok(folder.path().join("agent-2.sock")));
        for name in ["", "agent-1", "agent-17", "other", "../agent", "agent.sock", "/run/agent"] {
            assert_eq!(socket(Some(name)), Err(Code::UnknownGuest), "{name}");
        }
        assert!(guests.names().is_empty());
        for name in ["agent-3.sock", "agent-x.sock", "other.sock"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(guests.names(), ["agent-3"]);
    }
}
