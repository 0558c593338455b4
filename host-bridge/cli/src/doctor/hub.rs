//! The hub: which socket, who listens there, and whether it answers.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use host_bridge::client::{HubClient, NoHub, SOCKET_VARIABLE, find_socket, socket_from_environment};
use host_bridge::hub::CLIENTS_MAX;
use host_bridge::json::Answer;
use host_bridge::socket;
use rustix::net::sockopt::socket_peercred;
use serde_json::{Value, json};

use super::check::Check;

/// Longest time for the hub to say something, and for the guest to answer it. The hub gives its guest less.
const PATIENCE: Duration = Duration::from_secs(12);
const GUEST_MS: u64 = 5000;
/// What starts a guest with a hub.
const START: &str = "cargo run   (in Askr's folder)";
/// So many clients are close to the limit.
const MANY_CLIENTS: u64 = CLIENTS_MAX as u64 - 8;

/// A hub that answers, and what it said of itself.
pub(super) struct Hub {
    client: HubClient,
    pub(super) status: Value,
}

/// Why there is no answer.
pub(super) enum Trouble {
    /// The hub says nothing.
    Silent,
    /// The connection is over.
    Gone(String),
    /// An error of the hub.
    Refused { code: String, message: String },
}

impl Trouble {
    pub(super) fn tell(self) -> String {
        match self {
            Self::Silent => format!("the hub did not answer within {} s", PATIENCE.as_secs()),
            Self::Gone(why) => why,
            Self::Refused { code, message } => format!("{code}: {message}"),
        }
    }
}

impl Hub {
    fn open(path: &Path) -> Result<Self, NoHub> {
        let client = HubClient::connect(path)?;
        client.set_patience(Some(PATIENCE)).map_err(|error| NoHub::Unreachable(path.to_owned(), error))?;
        Ok(Self { client, status: Value::Null })
    }

    pub(super) fn ask(&mut self, op: &str) -> Result<Value, Trouble> {
        let request = json!({ "op": op, "timeout_ms": GUEST_MS });
        let reply = self.client.request(&request).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Trouble::Silent,
            io::ErrorKind::UnexpectedEof => Trouble::Gone("the hub ended the connection".into()),
            _ => Trouble::Gone(error.to_string()),
        })?;
        match Answer::of(&reply) {
            Answer::Ok(ok) => Ok(ok),
            Answer::Error { code, message, .. } => Err(Trouble::Refused { code, message }),
            Answer::Other => Err(Trouble::Gone("what listens there is no hub".into())),
        }
    }

    /// The process that listens, for whoever wants to end it.
    fn process(&self) -> Option<i32> {
        socket_peercred(self.client.stream()).ok().map(|credentials| credentials.pid.as_raw_nonzero().get())
    }
}

/// Looks for the hub; one that answers.
pub(super) fn look(named: Option<PathBuf>, tell: &impl Fn(Check)) -> Option<Hub> {
    let origin = origin(named.as_ref());
    let path = match find_socket(named) {
        Ok(path) => path,
        Err(_) => {
            let text = "none runs: no socket is named, and none lies beside this program";
            tell(Check::fail("hub", text, START));
            return None;
        }
    };
    match open(&path, origin) {
        Ok((hub, check)) => {
            tell(check);
            tell(versions(&hub.status));
            Some(hub)
        }
        Err(check) => {
            tell(with_others(check, &path));
            None
        }
    }
}

/// Where the path is from.
fn origin(named: Option<&PathBuf>) -> &'static str {
    match (named, socket_from_environment()) {
        (Some(_), _) => "--socket",
        (None, Some(_)) => "$ASKR_SOCKET",
        (None, None) => "beside this program",
    }
}

fn open(path: &Path, origin: &str) -> Result<(Hub, Check), Check> {
    let shown = format!("{} ({origin})", path.display());
    let mut hub = Hub::open(path).map_err(|error| unreachable(path, &shown, origin, &error))?;
    let process = hub.process().map_or(String::new(), |pid| format!("process {pid}"));
    match hub.ask("status") {
        Ok(status) => hub.status = status,
        Err(Trouble::Refused { code, .. }) if code == "too_many_clients" => {
            let text = format!("{shown}: {process} takes no more clients, {CLIENTS_MAX} are connected");
            return Err(Check::fail(
                "hub",
                text,
                "end clients that are not needed: agents, `askr-bridge mcp` or `watch`",
            ));
        }
        Err(trouble @ Trouble::Silent) => {
            let mend = match hub.process() {
                Some(pid) => format!("kill {pid}; {START}"),
                None => format!("end it, then: {START}"),
            };
            return Err(Check::fail("hub", format!("{shown}: {process} hangs: {}", trouble.tell()), mend));
        }
        Err(trouble) => {
            return Err(Check::fail("hub", format!("{shown}: {process}: {}", trouble.tell()), START));
        }
    }
    let clients = hub.status["clients"].as_u64().unwrap_or_default();
    let text = format!("{shown}, {process}, {clients} of {CLIENTS_MAX} clients");
    let check = if clients >= MANY_CLIENTS {
        Check::warn("hub", text, "end clients that are not needed: agents, `askr-bridge mcp` or `watch`")
    } else {
        Check::ok("hub", text)
    };
    Ok((hub, check))
}

/// Why nobody can be reached there.
fn unreachable(path: &Path, shown: &str, origin: &str, error: &NoHub) -> Check {
    let NoHub::Unreachable(_, error) = error else { return Check::fail("hub", error.to_string(), START) };
    let found = fs::symlink_metadata(path);
    let start =
        if origin == "$ASKR_SOCKET" { format!("unset {SOCKET_VARIABLE}; {START}") } else { START.to_owned() };
    match error.kind() {
        io::ErrorKind::NotFound => Check::fail("hub", format!("{shown}: nothing is there"), start),
        io::ErrorKind::PermissionDenied => {
            let owner = found.map_or(String::new(), |meta| format!(": it belongs to user {}", meta.uid()));
            Check::fail(
                "hub",
                format!("{shown} is not for this user{owner}"),
                "run this as the user who started the guest",
            )
        }
        io::ErrorKind::WouldBlock => {
            let text = format!("{shown}: whoever listens takes no connections; it hangs");
            Check::fail("hub", text, format!("end it, then: {START}"))
        }
        io::ErrorKind::ConnectionRefused if found.is_ok_and(|meta| meta.file_type().is_socket()) => {
            let text = format!("{shown} is stale: nobody listens, the hub that made it was killed");
            // A new hub takes its place.
            Check::fail("hub", text, start)
        }
        io::ErrorKind::ConnectionRefused => {
            Check::fail("hub", format!("{shown} is no socket"), "name the hub's socket with --socket")
        }
        _ => Check::fail("hub", format!("{shown}: {error}"), start),
    }
}

/// With the hubs that run in the same folder, as those of a second `cargo run`.
fn with_others(check: Check, path: &Path) -> Check {
    let folder = path.parent().map(fs::read_dir).and_then(Result::ok);
    let other = folder.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()).find(|other| {
        other.extension().is_some_and(|end| end == "sock") && other != path && socket::connect(other).is_ok()
    });
    match other {
        Some(other) => {
            let mend = format!("askr-bridge doctor --socket {}   (a hub that listens)", other.display());
            Check { mend: Some(mend), ..check }
        }
        None => check,
    }
}

/// Whether hub, guest and this program are of one version.
fn versions(status: &Value) -> Check {
    const OWN: &str = env!("CARGO_PKG_VERSION");
    let hub = status["bridge_version"].as_str().unwrap_or("unknown");
    let kernel = status["guest"]["version"].as_str();
    if hub == OWN && kernel.is_none_or(|kernel| kernel == OWN) {
        return Check::ok("versions", format!("{OWN}: this program, the hub and the guest"));
    }
    let guest = kernel.map_or(String::new(), |kernel| format!(", the guest {kernel}"));
    let text = format!("this program is {OWN}, the hub {hub}{guest}: some things may not work");
    Check::warn("versions", text, format!("cargo build -p host-bridge; {START}"))
}
