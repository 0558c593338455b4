//! Calls that were given back to their client, because a person is to say something first.
//!
//! What such a call needs to go on stays here; the client gets a handle (`requestState`) that is good for one
//! repetition of the same call. A client that never repeats it loses nothing but its place.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::error::{Code, Failure};

/// Most calls that wait for their client; the oldest is given up for another.
const ROUNDS_MAX: usize = 16;

/// A call: the name of its tool, and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// The calls that wait, each with what it goes on with.
pub(super) struct Rounds<T> {
    waiting: Mutex<Waiting<T>>,
}

struct Waiting<T> {
    rounds: VecDeque<(u64, Request, T)>,
    given: u64,
}

impl<T> Rounds<T> {
    pub(super) fn new() -> Self {
        Self { waiting: Mutex::new(Waiting { rounds: VecDeque::new(), given: 0 }) }
    }

    /// Keeps what a call goes on with; its handle.
    pub(super) fn put(&self, request: Request, goes_on: T) -> String {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.given += 1;
        let handle = waiting.given;
        waiting.rounds.push_back((handle, request, goes_on));
        let given_up = if waiting.rounds.len() > ROUNDS_MAX { waiting.rounds.pop_front() } else { None };
        drop(waiting);
        // What it held may take a while to end.
        drop(given_up);
        handle.to_string()
    }

    /// What the call goes on with that this handle was given for.
    pub(super) fn take(&self, handle: &str, request: &Request) -> Result<T, Failure> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(number, of, _): &(u64, Request, T)| number.to_string() == handle && of == request;
        let at = waiting.rounds.iter().position(is_it);
        let round = at.and_then(|at| waiting.rounds.remove(at));
        round.map(|(_, _, goes_on)| goes_on).ok_or_else(|| {
            Failure::new(
                Code::BadRequest,
                "`requestState` is not of this call, or was used already; call again without it",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(path: &str) -> Request {
        Request { tool: "t", arguments: json!({ "path": path }) }
    }

    #[test]
    fn a_handle_is_good_once_and_for_its_call_only() {
        let rounds = Rounds::new();
        let (one, two) = (rounds.put(request("/a"), 1), rounds.put(request("/a"), 2));
        let take =
            |handle: &str, path: &str| rounds.take(handle, &request(path)).map_err(|failure| failure.code());
        for (handle, path) in [(&*one, "/b"), ("", "/a"), ("0", "/a"), ("-1", "/a"), ("x", "/a")] {
            assert_eq!(take(handle, path), Err(Code::BadRequest), "{handle} {path}");
        }
        assert_eq!((take(&two, "/a"), take(&one, "/a")), (Ok(2), Ok(1)));
        assert_eq!(take(&one, "/a"), Err(Code::BadRequest));
    }

    #[test]
    fn no_more_wait_than_there_is_room_for() {
        let (rounds, held) = (Rounds::new(), std::sync::Arc::new(()));
        let first = rounds.put(request("/"), std::sync::Arc::clone(&held));
        for _ in 0..ROUNDS_MAX {
            rounds.put(request("/"), std::sync::Arc::clone(&held));
        }
        assert_eq!(std::sync::Arc::strong_count(&held), ROUNDS_MAX + 1);
        assert!(rounds.take(&first, &request("/")).is_err());
    }
}
