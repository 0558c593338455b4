//! What can be done to a guest, over as many frames as it takes.

mod files;
mod jobs;
mod system;
mod transfer;
mod tree;

use std::time::{Duration, Instant};

use askr_wire::Message;
use askr_wire::message::Decision;

pub use files::{Content, READ_MAX, WriteTo};
pub use jobs::{Job, Look, Piece, Report, Spawn, Until};
pub use system::{EventPage, Process};
pub use tree::{Entry, FsInfo};

use crate::session::{Answerer, AskId, BootId, CallError, Peer, Request, Session};

/// Longest time that one operation may take over all its frames: more than the longest wait that a client may ask for.
const OPERATION_MAX: Duration = Duration::from_secs(630);
/// How often a request that changes nothing is made, when its session ends under it.
const READ_TRIES: u32 = 3;
/// Most entries in one listing.
pub const ENTRIES_MAX: usize = 65_536;

/// An operation in progress, tied to one boot of the guest.
pub struct Operation<'a> {
    session: &'a Session,
    peer: Peer,
    timeout: Duration,
    give_up: Instant,
    is_wanted: &'a dyn Fn() -> bool,
}

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpError {
    /// Why its last request failed.
    pub error: CallError,
    /// What happened before that, if anything changed.
    pub before: Option<String>,
}

impl From<CallError> for OpError {
    fn from(error: CallError) -> Self {
        Self { error, before: None }
    }
}

/// A listing, and whether it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<T> {
    /// The entries in the guest's order.
    pub entries: Vec<T>,
    /// There are more than [`ENTRIES_MAX`].
    pub truncated: bool,
}

/// The verdict on an answer that was not accepted, or that it was.
pub type Verdict = askr_wire::message::AnswerReply;

impl<'a> Operation<'a> {
    /// Begins an operation once the guest is in session. `timeout` is the longest time without progress.
    ///
    /// # Errors
    /// [`CallError::NotReady`] after `timeout`.
    pub fn begin(session: &'a Session, timeout: Duration) -> Result<Self, CallError> {
        let now = Instant::now();
        let peer = session.wait_ready(now + timeout)?;
        Ok(Self { session, peer, timeout, give_up: now + OPERATION_MAX, is_wanted: &|| true })
    }

    /// Tells it whether anybody still wants the result: a wait ends early when nobody does.
    #[must_use]
    pub fn wanted_while(self, is_wanted: &'a dyn Fn() -> bool) -> Self {
        Self { is_wanted, ..self }
    }

    /// The boot that this operation is tied to.
    #[must_use]
    pub const fn boot(&self) -> BootId {
        self.peer.boot
    }

    /// Bytes of a payload that a frame has room for.
    const fn room(&self) -> usize {
        self.peer.room()
    }

    fn deadline(&self) -> Instant {
        (Instant::now() + self.timeout).min(self.give_up)
    }

    fn request<'m>(
        &self,
        code: u16,
        message: &impl Message<'m>,
        mutating: bool,
    ) -> Result<Vec<u8>, CallError> {
        let payload = self.encode(message)?;
        let request =
            Request { code, payload: &payload, mutating, boot: Some(self.boot()), deadline: self.deadline() };
        self.session.call(&request).map(|reply| reply.body)
    }

    /// A request that changes nothing; made again when its session ends under it.
    fn read_request<'m>(&self, code: u16, message: &impl Message<'m>) -> Result<Vec<u8>, CallError> {
        let mut tries = 1;
        loop {
            match self.request(code, message, false) {
                Err(error) if error.is_retryable() && tries < READ_TRIES => tries += 1,
                result => return result,
            }
        }
    }

    /// Answers or refuses an ask for a client.
    ///
    /// # Errors
    /// As [`Session::answer`].
    pub fn answer(&self, ask: AskId, decision: Decision<'_>) -> Result<Verdict, CallError> {
        self.session.answer(ask, decision, Answerer::Client, self.deadline())
    }
}

fn decode<'a, T: Message<'a>>(body: &'a [u8]) -> Result<T, CallError> {
    T::decode(body).map_err(|_| CallError::Protocol("the body of a response is malformed"))
}
