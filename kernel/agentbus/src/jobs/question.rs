//! The requests that wait for a job.

use askr_wait::Nanos;
use askr_wire::message::{OutputRequest, WaitRequest};

use crate::NANOS_PER_MS;
use crate::reply_slots::Token;

/// Longest time that a request waits for a job; one that asks for more is answered then.
pub const WAIT_MAX: Nanos = 600_000 * NANOS_PER_MS;

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// That the first process of a job has ended.
    Wait(WaitRequest),
    /// That a job has written something.
    Output(OutputRequest),
}

impl Question {
    pub(super) const fn job(&self) -> u32 {
        match self {
            Self::Wait(WaitRequest { job, .. }) | Self::Output(OutputRequest { job, .. }) => *job,
        }
    }

    const fn wait_ms(&self) -> u32 {
        match self {
            Self::Wait(WaitRequest { wait_ms, .. }) | Self::Output(OutputRequest { wait_ms, .. }) => *wait_ms,
        }
    }
}

/// A request that waits, or need not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Names the request towards [`Router::respond`](crate::Router::respond).
    pub token: Token,
    /// What it waits for.
    pub question: Question,
    /// Most bytes that its answer may have.
    pub body_max: usize,
}

/// One that waits, and until when.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) waiting: Waiting,
    pub(super) deadline: Nanos,
}

impl Pending {
    pub(super) fn new(now: Nanos, waiting: Waiting) -> Self {
        let wait = (Nanos::from(waiting.question.wait_ms()) * NANOS_PER_MS).min(WAIT_MAX);
        Self { waiting, deadline: now.saturating_add(wait) }
    }
}
