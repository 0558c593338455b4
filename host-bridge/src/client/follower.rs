//! A connection that is told what happens.

use std::time::{Duration, Instant};

use super::{Error, HubClient};
use crate::json::{Pushed, typed};

/// A connection on which the hub tells asks and events as they come. [`super::Guest::follow`] makes one.
///
/// Take what comes: a hub disconnects whoever leaves a line unread for 5 seconds, or more than 1024 of them.
pub struct Follower {
    hub: HubClient,
}

impl Follower {
    /// Of a connection that has subscribed.
    pub(super) const fn new(hub: HubClient) -> Self {
        Self { hub }
    }

    /// What comes next; `None` if that takes longer than `wait`.
    ///
    /// # Errors
    /// [`Error::Lost`] when the hub has ended or has given this connection up, [`Error::Protocol`] for a line that tells
    /// nothing.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Pushed>, Error> {
        let started = Instant::now();
        loop {
            let left = wait.saturating_sub(started.elapsed());
            let Some(told) = self.hub.line_within(left)? else { return Ok(None) };
            // A number is that of a call that was not waited for, whose reply comes only now.
            if typed::id_of(&told).is_none() {
                let pushed = Pushed::of(&told).map(Some);
                return pushed
                    .ok_or_else(|| Error::Protocol("the hub pushed a line that tells nothing".into()));
            }
        }
    }
}
