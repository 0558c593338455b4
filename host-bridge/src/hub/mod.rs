//! The one process that owns the doors to a guest, and its clients on a unix socket: one JSON object per line both ways.
//!
//! Requests of one client are served in their order; only `asks.wait` replies when it has something to say.
//! Whoever needs two things at once opens two connections.

mod board;
mod captures;
mod client;
mod dispatch;
mod outbox;

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) use board::Board;
pub use client::LINE_MAX;

use crate::json::{self, AgentStatus, Error, Problem, Status};
use crate::link::{Connect, Door, Doors, Stream};
use crate::session::{BootId, CallError, Session, State};
use crate::socket::{self, Listener};
use crate::tap::{Seen, Tap};
use captures::Captures;
use client::Client;

/// Most clients at the same time.
pub const CLIENTS_MAX: usize = 64;
/// Pause after a connection that could not be accepted, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a hub is started with.
#[derive(Clone, Debug)]
pub struct HubConfig {
    /// The unix socket that is the guest's COM2; connected to again and again, it need not exist yet.
    pub com2: PathBuf,
    /// The unix socket that is the guest's data door, if the machine has one; used when the guest answers there.
    pub data: Option<PathBuf>,
    /// Where clients connect; its folder must exist.
    pub socket: PathBuf,
    /// Whether the built-in agent answers what nobody else does.
    pub agent: bool,
}

/// A running hub. Dropping it ends its threads and removes its socket.
pub struct Hub {
    inner: Arc<Inner>,
    threads: Vec<JoinHandle<()>>,
}

pub(crate) struct Inner {
    pub(crate) session: Session,
    pub(crate) board: Arc<Board>,
    captures: Arc<Captures>,
    listener: Listener,
    clients: Mutex<Clients>,
    /// Whether there is a built-in agent.
    agent: bool,
    stopping: AtomicBool,
}

#[derive(Default)]
struct Clients {
    next_id: u64,
    connected: HashMap<u64, (Arc<Client>, Option<JoinHandle<()>>)>,
}

impl Hub {
    /// Starts a hub on the sockets of a guest.
    ///
    /// # Errors
    /// `AddrInUse` when another hub listens at the socket; else as `bind(2)`, or when a thread cannot be started.
    pub fn start(config: HubConfig) -> io::Result<Self> {
        let HubConfig { com2, data, socket, agent } = config;
        let connect =
            |path: PathBuf| -> Connect { Box::new(move || Stream::try_from(socket::connect(&path)?)) };
        Self::start_on(Doors { com2: connect(com2), data: data.map(connect) }, &socket, agent)
    }

    /// Starts a hub on any byte streams; a single one is COM2.
    ///
    /// # Errors
    /// As [`Hub::start`].
    pub fn start_on(doors: impl Into<Doors>, socket: &Path, agent: bool) -> io::Result<Self> {
        let listener = socket::bind(socket)?;
        let board = Arc::new(Board::default());
        let theirs = Arc::clone(&board);
        let captures = Arc::new(Captures::default());
        let tapped = Arc::clone(&captures);
        let tap: Tap = Arc::new(move |door: Door, seen: &Seen<'_>| tapped.see(door, seen));
        let session = Session::start(doors, Box::new(move |notice| theirs.notice(notice)), &tap)?;
        let inner = Arc::new(Inner {
            session,
            board,
            captures,
            listener,
            clients: Mutex::default(),
            agent,
            stopping: AtomicBool::new(false),
        });
        let mut hub = Self { inner, threads: Vec::new() };
        hub.spawn("askr-accept", |inner| inner.accept_all())?;
        hub.spawn("askr-waits", |inner| inner.board.run_clock(&inner.session))?;
        #[cfg(feature = "agent")]
        if agent {
            hub.spawn("askr-agent", crate::agent::run)?;
        }
        #[cfg(not(feature = "agent"))]
        if agent {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "built without the feature `agent`"));
        }
        Ok(hub)
    }

    fn spawn(&mut self, name: &str, body: impl FnOnce(&Arc<Inner>) + Send + 'static) -> io::Result<()> {
        let inner = Arc::clone(&self.inner);
        self.threads.push(thread::Builder::new().name(name.into()).spawn(move || body(&inner))?);
        Ok(())
    }

    /// From now on a fault in the program that is called `name` in the guest is told with its place in the source, by the
    /// debug information of this file.
    #[cfg(feature = "symbols")]
    pub fn know_program(&self, name: &[u8], file: PathBuf) {
        self.inner.board.symbols.add(name, file);
    }

    /// How link and session stand.
    #[must_use]
    pub fn status(&self) -> Status {
        self.inner.status()
    }

    /// Waits until the guest is in session.
    ///
    /// # Errors
    /// [`CallError::NotReady`] after `timeout`.
    pub fn wait_ready(&self, timeout: Duration) -> Result<Status, CallError> {
        self.inner.session.wait_ready(Instant::now() + timeout).map(|_| self.status())
    }

    /// Where clients connect.
    #[must_use]
    pub fn socket(&self) -> &Path {
        self.inner.listener.path()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.inner.stopping.store(true, Ordering::SeqCst);
        self.inner.listener.stop();
        self.inner.listener.remove();
        self.inner.board.stop();
        self.inner.session.stop();
        let clients: Vec<_> = self.inner.lock().connected.drain().map(|(_, client)| client).collect();
        clients.iter().for_each(|(client, _)| client.disconnect());
        let serving = clients.into_iter().filter_map(|(_, thread)| thread);
        for thread in self.threads.drain(..).chain(serving) {
            // A panic of the thread was already printed; there is nothing left to clean up here.
            let _ = thread.join();
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn boot(&self) -> Option<BootId> {
        self.session.peer().map(|peer| peer.boot)
    }

    fn status(&self) -> Status {
        let State { connected, door, .. } = self.session.state();
        Status {
            connected,
            ready: door.is_some(),
            door,
            peer: self.session.peer(),
            pending_asks: self.session.asks().len(),
            outstanding: self.session.counters().1,
            clients: self.lock().connected.len(),
        }
    }

    /// Who answers asks. Looks at the guest's configuration, and whether its endpoint can be reached.
    fn agent_status(&self) -> AgentStatus {
        #[cfg(feature = "agent")]
        let own = if self.agent { crate::agent::status(&self.session) } else { AgentStatus::default() };
        #[cfg(not(feature = "agent"))]
        let own = AgentStatus::default();
        AgentStatus { built_in: self.agent, takers: self.board.takers(), ..own }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn accept_all(self: &Arc<Self>) {
        while !self.is_stopping() {
            match self.listener.accept() {
                Ok(stream) => self.welcome(stream),
                Err(_) if self.is_stopping() => return,
                Err(_) => thread::sleep(ACCEPT_PAUSE),
            }
        }
    }

    /// Serves a new client on a thread of its own, if there is room.
    fn welcome(self: &Arc<Self>, stream: UnixStream) {
        let mut clients = self.lock();
        if clients.connected.len() >= CLIENTS_MAX {
            drop(clients);
            return self.turn_away(&stream);
        }
        clients.next_id += 1;
        let id = clients.next_id;
        let Ok(client) = Client::new(id, stream).map(Arc::new) else { return };
        let (hub, theirs) = (Arc::clone(self), Arc::clone(&client));
        let thread = thread::Builder::new().name("askr-client-in".into()).spawn(move || {
            client::serve(&hub, &theirs);
            hub.lock().connected.remove(&id);
        });
        match thread {
            // While the lock is held neither the client's thread nor a stopping hub takes it out.
            Ok(thread) if !self.is_stopping() => drop(clients.connected.insert(id, (client, Some(thread)))),
            _ => client.disconnect(),
        }
    }

    fn turn_away(&self, mut stream: &UnixStream) {
        let error =
            Error::new(Problem::TooManyClients, format!("{CLIENTS_MAX} clients are connected already"));
        let line = json::reply_error(&Value::Null, self.boot(), &error) + "\n";
        // The line fits the socket's buffer; a client that is gone already needs none.
        let _ = stream.write_all(line.as_bytes());
    }
}
