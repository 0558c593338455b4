//! What can be done to a guest, over as many frames as it takes.

mod files;

use std::time::{Duration, Instant};

use askr_wire::message::{Counter, Decision, FileType, ProcessEntry, ProcessState, PsRequest};
use askr_wire::{List, Message, SESSION_PAYLOAD_MAX, code};

pub use files::{Content, READ_MAX};

use crate::session::{AskId, BootId, CallError, Peer, Request, Session};

/// Longest time that one operation may take over all its frames.
const OPERATION_MAX: Duration = Duration::from_secs(600);
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

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name, any bytes but `/` and NUL.
    pub name: Vec<u8>,
    /// File or directory.
    pub file_type: FileType,
    /// Size in bytes.
    pub size: u64,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// What it is doing.
    pub state: ProcessState,
    /// Whether it runs in ring 3.
    pub is_user: bool,
    /// Name of the program.
    pub name: Vec<u8>,
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
        Ok(Self { session, peer, timeout, give_up: now + OPERATION_MAX })
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
        let mut payload = [0; SESSION_PAYLOAD_MAX];
        let limit = self.room();
        let len = message.encode(&mut payload[..limit]).map_err(|_| CallError::TooLarge { limit })?;
        let request = Request {
            code,
            payload: &payload[..len],
            mutating,
            boot: Some(self.boot()),
            deadline: self.deadline(),
        };
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

    /// The guest's counters.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub fn counters(&self) -> Result<Vec<(String, u64)>, CallError> {
        let body = self.read_request(code::STATS, &())?;
        let counters: List<'_, Counter<'_>> = decode(&body)?;
        Ok(counters.iter().map(|c| (String::from_utf8_lossy(c.name).into_owned(), c.value)).collect())
    }

    /// All processes.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub fn processes(&self) -> Result<Listing<Process>, CallError> {
        all_pages(|start| {
            let body = self.read_request(code::PS, &PsRequest { start })?;
            let page: List<'_, ProcessEntry<'_>> = decode(&body)?;
            let own = |entry: ProcessEntry<'_>| Process {
                pid: entry.pid,
                tid: entry.tid,
                state: entry.state,
                is_user: entry.is_user,
                name: entry.name.to_vec(),
            };
            Ok(page.iter().map(own).collect())
        })
    }

    /// Answers or refuses an ask.
    ///
    /// # Errors
    /// As [`Session::answer`].
    pub fn answer(&self, ask: AskId, decision: Decision<'_>) -> Result<Verdict, CallError> {
        self.session.answer(ask, decision, self.deadline())
    }
}

fn decode<'a, T: Message<'a>>(body: &'a [u8]) -> Result<T, CallError> {
    T::decode(body).map_err(|_| CallError::Protocol("the body of a response is malformed"))
}

/// Asks for page after page until one is empty. `page` takes the number of entries to skip.
fn all_pages<T>(page: impl Fn(u32) -> Result<Vec<T>, CallError>) -> Result<Listing<T>, CallError> {
    let mut entries = Vec::new();
    while entries.len() < ENTRIES_MAX {
        let more = page(u32::try_from(entries.len()).unwrap_or(u32::MAX))?;
        if more.is_empty() {
            return Ok(Listing { entries, truncated: false });
        }
        entries.extend(more);
    }
    Ok(Listing { entries, truncated: true })
}
