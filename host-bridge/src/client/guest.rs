//! Calls in types.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Error, Follower, HubClient, NoHub, Refusal};
use crate::json::typed;
use crate::json::{self, Answer, Ask, Finished, Job, Program, Reply};

/// Longest time that a hub takes over any request: it ends all of them after ten and a half minutes.
pub const REPLY_MAX: Duration = Duration::from_secs(660);
/// Bytes of a file in one request: far below the longest line, also as base64.
const WRITE_PIECE: usize = 1 << 20;
/// Longest that one request may wait.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// The guest behind a hub. Calls are made one after the other; for two at once make two connections.
pub struct Guest {
    hub: HubClient,
    /// Of the last request.
    id: u64,
    /// Longest wait for a reply.
    patience: Duration,
}

impl Guest {
    /// Connects to the hub at this socket; [`super::find_socket`] finds that of a `cargo run`.
    ///
    /// # Errors
    /// [`NoHub::Unreachable`].
    pub fn connect(socket: &Path) -> Result<Self, NoHub> {
        Ok(Self { hub: HubClient::connect(socket)?, id: 0, patience: REPLY_MAX })
    }

    /// From now on no call waits longer than this for its reply, [`REPLY_MAX`] at first. Every call has deadlines of its own
    /// in hub and guest, so this is for a hub that hangs, or a caller in a hurry.
    pub const fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Any operation of `docs/host.md` with its fields: `call("fs.stat", &[("path", "/etc/motd".into())])`.
    ///
    /// # Errors
    /// All that [`Error`] lists, but for [`Error::NoHub`].
    pub fn call(&mut self, op: &str, fields: &[(&str, Value)]) -> Result<Reply, Error> {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        self.send(typed::request(op, fields.collect()))
    }

    fn send(&mut self, mut request: Value) -> Result<Reply, Error> {
        self.id += 1;
        typed::set_id(&mut request, self.id);
        let give_up = Instant::now() + self.patience;
        self.hub.send_within(request.to_string().as_bytes(), self.patience)?;
        loop {
            let left = give_up.saturating_duration_since(Instant::now());
            let line = self.hub.line_within(left)?.ok_or(Error::NoReply(self.patience))?;
            match Answer::of(&line) {
                // Of an earlier call that was not waited for.
                _ if typed::id_of(&line).is_some_and(|id| id < self.id) => {}
                Answer::Ok(ok) => return Ok(Reply { boot: typed::boot_of(&line), ok }),
                Answer::Error { code, message, hint } => {
                    return Err(Error::Refused(Refusal { code, message, hint, boot: typed::boot_of(&line) }));
                }
                Answer::Other => return Err(Error::Protocol("the hub's line is no reply".into())),
            }
        }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// As [`Guest::call`].
    pub fn read(&mut self, path: impl AsRef<[u8]>) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        loop {
            let reply = self.send(typed::read(path.as_ref(), content.len()))?;
            let piece = json::content_of(&reply.ok).ok_or_else(|| unreadable("a file"))?;
            content.extend_from_slice(&piece);
            if piece.is_empty() || !typed::goes_on(&reply.ok) {
                return Ok(content);
            }
        }
    }

    /// Makes these the bytes of a file, which is made if it is not there. They go in pieces of 1 MiB: if a later one fails,
    /// those before it are there. To replace a file in one step write another one and rename it (`fs.rename`).
    ///
    /// # Errors
    /// As [`Guest::call`].
    pub fn write(&mut self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Result<(), Error> {
        let (path, content) = (path.as_ref(), content.as_ref());
        let (first, rest) = content.split_at(content.len().min(WRITE_PIECE));
        self.send(typed::replace(path, first))?;
        for (number, piece) in (1..).zip(rest.chunks(WRITE_PIECE)) {
            self.send(typed::write_at(path, number * WRITE_PIECE, piece))?;
        }
        Ok(())
    }

    /// Runs a program to its end, a minute long unless it has another deadline.
    ///
    /// # Errors
    /// As [`Guest::call`]. A program that ends badly is no error.
    pub fn run(&mut self, program: &Program) -> Result<Finished, Error> {
        let reply = self.send(program.request("proc.run"))?;
        let finished = Finished::of(&reply.ok).ok_or_else(|| unreadable("the end of a program"))?;
        self.with_all_that_is_kept(finished)
    }

    /// What was read while the program wrote may have gaps, and then ends before the first.
    fn with_all_that_is_kept(&mut self, finished: Finished) -> Result<Finished, Error> {
        if [&finished.stdout, &finished.stderr]
            .iter()
            .all(|output| output.content.len() as u64 == output.total)
        {
            return Ok(finished);
        }
        let reply = self.send(typed::wait_for_end(finished.job, Duration::ZERO))?;
        Finished::of(&reply.ok).ok_or_else(|| unreadable("the end of a program"))
    }

    /// Starts a program, which goes on when this connection ends.
    ///
    /// # Errors
    /// As [`Guest::call`].
    pub fn spawn(&mut self, program: &Program) -> Result<Job, Error> {
        let reply = self.send(program.request("proc.spawn"))?;
        Job::of(&reply.ok).ok_or_else(|| unreadable("a job"))
    }

    /// Waits for the end of a program; `None` if it still runs after `wait`, ten minutes at most.
    ///
    /// # Errors
    /// As [`Guest::call`]; `ESRCH` for a job that the guest has forgotten.
    pub fn wait(&mut self, job: Job, wait: Duration) -> Result<Option<Finished>, Error> {
        let reply = self.send(typed::wait_for_end(job, wait.min(WAIT_MAX)))?;
        if typed::is_running(&reply.ok) {
            return Ok(None);
        }
        let finished = Finished::of(&reply.ok).ok_or_else(|| unreadable("the end of a program"))?;
        self.with_all_that_is_kept(finished).map(Some)
    }

    /// The asks that wait for an answer: at once if there are any, else when one comes. None if that takes longer than
    /// `wait`, ten minutes at most.
    ///
    /// # Errors
    /// As [`Guest::call`].
    pub fn asks(&mut self, wait: Duration) -> Result<Vec<Ask>, Error> {
        let reply = self.send(typed::wait_for_asks(wait.min(WAIT_MAX)))?;
        typed::asks_of(&reply.ok).ok_or_else(|| unreadable("the list of asks"))
    }

    /// Answers an ask.
    ///
    /// # Errors
    /// As [`Guest::call`]; `late` when it was settled before, `not_a_choice` when it takes others only.
    pub fn answer(&mut self, ask: &Ask, answer: impl AsRef<[u8]>) -> Result<(), Error> {
        self.send(typed::answer(&ask.ask, Some(answer.as_ref()))).map(drop)
    }

    /// Refuses an ask: its program gets EACCES.
    ///
    /// # Errors
    /// As [`Guest::answer`].
    pub fn refuse(&mut self, ask: &Ask) -> Result<(), Error> {
        self.send(typed::answer(&ask.ask, None)).map(drop)
    }

    /// Makes this the connection on which asks, events or both are told as they come. While it is open the built-in agent
    /// leaves the asks to it, if it is told them.
    ///
    /// # Errors
    /// As [`Guest::call`].
    pub fn follow(mut self, asks: bool, events: bool) -> Result<Follower, Error> {
        self.send(typed::subscribe(asks, events))?;
        Ok(Follower::new(self.hub))
    }
}

fn unreadable(what: &str) -> Error {
    Error::Protocol(format!("the hub's reply tells {what} in another form"))
}
