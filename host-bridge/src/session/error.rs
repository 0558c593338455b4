//! Why a call to the guest failed.

use std::fmt;

use askr_wire::status::Status;

/// Why a call failed. Each is a distinct code in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The guest answered with this status.
    Guest(Status),
    /// The guest was not attached until the deadline; the call was never sent.
    NotReady,
    /// The guest did not answer until the deadline; the call changes nothing, so it may be repeated.
    TimedOut,
    /// The call may or may not have changed something: its answer was lost for the reason given.
    OutcomeUnknown(&'static str),
    /// The guest rebooted while the call was outstanding, or is not the one that the call was meant for.
    GuestRestarted,
    /// The session ended under a call that changes nothing; it may be repeated.
    SessionLost,
    /// The request does not fit one frame; `limit` is the longest payload in bytes.
    TooLarge {
        /// Longest payload in bytes.
        limit: usize,
    },
    /// Too many calls wait already.
    QueueFull,
    /// The bridge is stopping.
    Closed,
    /// The guest's answer breaks the protocol.
    Protocol(&'static str),
}

impl CallError {
    /// Whether the same call may be sent again at once without changing what it means.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::SessionLost)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Guest(status) => write!(f, "the guest answered {}", status.name()),
            Self::NotReady => f.write_str("the guest is not attached"),
            Self::TimedOut => f.write_str("the guest did not answer in time"),
            Self::OutcomeUnknown(why) => write!(f, "{why}: the change may or may not have been made"),
            Self::GuestRestarted => f.write_str("the guest restarted"),
            Self::SessionLost => f.write_str("the session with the guest ended"),
            Self::TooLarge { limit } => write!(f, "the request is longer than {limit} bytes"),
            Self::QueueFull => f.write_str("too many requests wait for the guest"),
            Self::Closed => f.write_str("the bridge is stopping"),
            Self::Protocol(what) => write!(f, "the guest's answer breaks the protocol: {what}"),
        }
    }
}

impl std::error::Error for CallError {}
