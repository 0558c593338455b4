//! Clients that are given whatever goes through the doors to the guest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::client::Client;
use crate::json;
use crate::link::Door;
use crate::session::BootId;
use crate::tap::Seen;

/// All captures under way.
#[derive(Default)]
pub(super) struct Captures {
    /// So that nothing is done for a frame that nobody captures.
    any: AtomicBool,
    list: Mutex<Vec<Capture>>,
}

struct Capture {
    client: Arc<Client>,
    /// Lines that were put on their way.
    captured: u64,
    /// Lines for which there was no room.
    dropped: u64,
    /// Those of them that the client was not told of yet.
    untold: u64,
}

impl Capture {
    /// Gives the client a line if it has room; it is told of what it had none for before the next line that it gets.
    fn offer(&mut self, line: &str) {
        if self.untold > 0 && self.client.offer(&json::capture_lost_pushed(self.untold)) {
            self.untold = 0;
        }
        if self.untold == 0 && self.client.offer(line) {
            self.captured += 1;
        } else {
            self.untold += 1;
            self.dropped += 1;
        }
    }
}

impl Captures {
    fn lock(&self) -> MutexGuard<'_, Vec<Capture>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells all captures. Never waits: called by the link's own threads.
    pub(super) fn see(&self, door: Door, seen: &Seen<'_>) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        // Time and place in the order are given under the same lock, so that the one follows the other.
        let mut list = self.lock();
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let unix_ns = u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX);
        let line = json::captured_pushed(unix_ns, door, seen);
        list.iter_mut().for_each(|capture| capture.offer(&line));
    }

    /// Gives this client all that is seen from now on, if it does not get it already.
    pub(super) fn start(&self, client: &Arc<Client>, id: &Value, boot: Option<BootId>) {
        let mut list = self.lock();
        let counts = list
            .iter()
            .find(|capture| capture.client.id == client.id)
            .map(|capture| (capture.captured, capture.dropped));
        let (captured, dropped) = counts.unwrap_or_default();
        // Under the lock, so that the reply comes before the first line; see `Board::subscribe`.
        client.push(&json::reply(id, boot, json::capture(true, captured, dropped)));
        if counts.is_none() {
            client.set_patient(true);
            list.push(Capture { client: Arc::clone(client), captured: 0, dropped: 0, untold: 0 });
        }
        self.any.store(true, Ordering::Relaxed);
    }

    /// Gives this client no more, and tells it how much there was.
    pub(super) fn stop(&self, client: &Client, id: &Value, boot: Option<BootId>) {
        let (captured, dropped) = self.leave(client).unwrap_or_default();
        client.reply(json::reply(id, boot, json::capture(false, captured, dropped)));
    }

    /// Forgets this client; how many lines it got and how many not, if it captured.
    pub(super) fn leave(&self, client: &Client) -> Option<(u64, u64)> {
        let mut list = self.lock();
        let place = list.iter().position(|capture| capture.client.id == client.id)?;
        let capture = list.remove(place);
        self.any.store(!list.is_empty(), Ordering::Relaxed);
        client.set_patient(false);
        Some((capture.captured, capture.dropped))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    const MORE_THAN_FIT: usize = 100_000;

    #[test]
    fn what_a_client_has_no_room_for_is_counted_and_told_before_what_comes_next() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let client = Arc::new(Client::new(1, ours).unwrap());
        let mut capture = Capture { client: Arc::clone(&client), captured: 0, dropped: 0, untold: 0 };
        // Nobody takes lines from the queue.
        for _ in 0..MORE_THAN_FIT {
            capture.offer("line");
            if capture.dropped == 3 {
                break;
            }
        }
        assert_eq!((capture.dropped, capture.untold), (3, 3));
        let room = capture.captured;
        assert_eq!(
            (0..room).filter(|_| client.take_queued().as_deref() == Some("line")).count() as u64,
            room
        );
        capture.offer("next");
        let told = serde_json::from_str(&client.take_queued().unwrap()).unwrap();
        assert_eq!(json::captured_of(&told), Some(json::Captured::Lost(3)));
        assert_eq!(client.take_queued().as_deref(), Some("next"));
        assert_eq!((capture.captured, capture.dropped, capture.untold), (room + 1, 3, 0));
    }
}
