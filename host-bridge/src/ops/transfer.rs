//! Many requests of one operation, several of them outstanding at a time.

use std::collections::VecDeque;

use askr_wire::{Message, SESSION_PAYLOAD_MAX};

use super::{Operation, READ_TRIES};
use crate::session::{CallError, Pending, Request};

/// Requests of one operation that are outstanding at a time; the guest's window is shared with everybody else.
const DEPTH: usize = 6;

/// A request that is the same however often it is made.
struct Flight<T> {
    what: T,
    code: u16,
    payload: Vec<u8>,
    pending: Pending,
}

/// Requests under way, the oldest first. Dropping it forgets them.
pub(super) struct Flights<'a, T> {
    operation: &'a Operation<'a>,
    flights: VecDeque<Flight<T>>,
}

impl<'a, T> Flights<'a, T> {
    pub(super) const fn new(operation: &'a Operation<'a>) -> Self {
        Self { operation, flights: VecDeque::new() }
    }

    /// Whether another request may be begun before one has ended.
    pub(super) fn has_room(&self) -> bool {
        self.flights.len() < DEPTH
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flights.is_empty()
    }

    /// Begins a request; `what` comes back with its answer.
    pub(super) fn begin<'m>(
        &mut self,
        what: T,
        code: u16,
        message: &impl Message<'m>,
    ) -> Result<(), CallError> {
        let payload = self.operation.encode(message)?;
        let pending = self.operation.start(code, &payload);
        self.flights.push_back(Flight { what, code, payload, pending });
        Ok(())
    }

    /// The answer to the oldest request. It is made again when its session ends under it.
    pub(super) fn next(&mut self) -> Option<Result<(T, Vec<u8>), CallError>> {
        let Flight { what, code, payload, pending } = self.flights.pop_front()?;
        let mut outcome = pending.wait();
        for _ in 1..READ_TRIES {
            if !outcome.as_ref().is_err_and(CallError::is_retryable) {
                break;
            }
            outcome = self.operation.start(code, &payload).wait();
        }
        Some(outcome.map(|reply| (what, reply.body)))
    }
}

impl Operation<'_> {
    /// The payload of a request.
    pub(super) fn encode<'m>(&self, message: &impl Message<'m>) -> Result<Vec<u8>, CallError> {
        let mut payload = [0; SESSION_PAYLOAD_MAX];
        let limit = self.room();
        let len = message.encode(&mut payload[..limit]).map_err(|_| CallError::TooLarge { limit })?;
        Ok(payload[..len].to_vec())
    }

    /// Begins a request that may be made twice.
    fn start(&self, code: u16, payload: &[u8]) -> Pending {
        self.session.begin(&Request {
            code,
            payload,
            mutating: false,
            boot: Some(self.boot()),
            deadline: self.deadline(),
        })
    }
}
