//! Who is at the other end, since when, and until when without a further frame.

use core::hash::Hasher;

use askr_wait::Nanos;
use askr_wire::message::{GENERATION, HelloRequest, PingRequest};
use askr_wire::status::Status;
use askr_wire::{BASE_PAYLOAD_MAX, Frame, SESSION_PAYLOAD_MAX, SessionId};
use siphasher::sip::SipHasher24;

use crate::bounded::Queue;
use crate::reply_slots::Key;
use crate::reply_window::WINDOW_MAX;
use askr_wire::Door;

/// Number of ended sessions whose HELLO is still recognised as a delayed copy.
const ENDED_MAX: usize = 8;

/// Where asks and events go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Nobody is attached.
    Nobody,
    /// To a base peer, in base frames.
    Base,
    /// To this session.
    Session(SessionId),
}

/// What holds in a session, and what its last ping was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// Longest payload with its session head, in bytes.
    pub(crate) payload_limit: usize,
    pub(crate) window: usize,
    /// Number of events before this session began.
    pub(crate) event_cursor: u64,
    /// Where its last frame came through: what is for it goes out there.
    pub(crate) door: Door,
    nonce: [u8; 16],
    until: Nanos,
    last_ping: Ping,
}

/// A ping, and the counter of the one before it.
#[derive(Clone, Copy, Debug, Default)]
struct Ping {
    seq: u32,
    counter: u32,
    previous: u32,
}

impl Session {
    /// Takes a ping in and returns the counter of the one before it; `None` for a delayed copy of an older one.
    pub(crate) fn ping(&mut self, seq: u32, ping: PingRequest) -> Result<Option<u32>, Status> {
        if ping.counter == 0 {
            return Err(Status::Inval);
        }
        let last = self.last_ping;
        if seq > last.seq {
            self.last_ping = Ping { seq, counter: ping.counter, previous: last.counter };
        } else if seq < last.seq {
            return Ok(None);
        } else if ping.counter != last.counter {
            return Err(Status::Inval);
        }
        Ok(Some(self.last_ping.previous))
    }
}

/// What a HELLO was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// A copy of the one that opened the current session.
    Repeated,
    /// A new one: its session is the current one now, and the one before has ended.
    Opened,
}

/// The peers: at most one session, and base peers, which cannot be told apart.
pub(crate) struct Link {
    boot_id: [u8; 16],
    lease: Nanos,
    base_lease: Nanos,
    session: Option<Session>,
    ended: Queue<SessionId>,
    /// Until when a base peer counts as attached, by the door its last frame came through.
    base_until: [Nanos; Door::ALL.len()],
}

impl Link {
    pub(crate) fn new(boot_id: [u8; 16], lease: Nanos, base_lease: Nanos) -> Self {
        let ended = Queue::new(ENDED_MAX);
        Self { boot_id, lease, base_lease, session: None, ended, base_until: [0; Door::ALL.len()] }
    }

    pub(crate) const fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// The session, if `id` is its id; a frame of it came, so its lease begins anew, and it is at this door now.
    pub(crate) fn renew(&mut self, now: Nanos, door: Door, id: SessionId) -> Option<&mut Session> {
        let session = self.session.as_mut().filter(|session| session.id == id)?;
        (session.until, session.door) = (now.saturating_add(self.lease), door);
        Some(session)
    }

    /// A frame of a base peer came.
    pub(crate) fn renew_base(&mut self, now: Nanos, door: Door) {
        self.base_until[door.index()] = now.saturating_add(self.base_lease);
    }

    /// There is nobody at this door any more. A session is not over with that: it may go on at another.
    pub(crate) fn end_base(&mut self, door: Door) {
        self.base_until[door.index()] = 0;
    }

    /// The door that asks and events go through.
    pub(crate) fn door(&self, route: Route) -> Option<Door> {
        match route {
            Route::Nobody => None,
            Route::Base => Door::ALL.into_iter().max_by_key(|door| self.base_until[door.index()]),
            Route::Session(_) => self.session_door(),
        }
    }

    /// The door that the session is at.
    pub(crate) fn session_door(&self) -> Option<Door> {
        self.session.as_ref().map(|session| session.door)
    }

    /// When the last base peer is not attached any more.
    fn base_end(&self) -> Nanos {
        self.base_until.into_iter().max().unwrap_or(0)
    }

    /// Who is attached: a session before a base peer.
    pub(crate) fn route(&self, now: Nanos) -> Route {
        match &self.session {
            Some(session) if now < session.until => Route::Session(session.id),
            _ if now < self.base_end() => Route::Base,
            _ => Route::Nobody,
        }
    }

    /// When `route` ends without a further frame.
    pub(crate) fn lease_end(&self, route: Route) -> Option<Nanos> {
        match route {
            Route::Nobody => None,
            Route::Base => Some(self.base_end()),
            Route::Session(_) => self.session.as_ref().map(|session| session.until),
        }
    }

    /// Takes a HELLO in. [`Status::Stale`] is that of a session that has ended: opening it again would forget
    /// what was done in it.
    pub(crate) fn hello(
        &mut self,
        now: Nanos,
        door: Door,
        hello: &HelloRequest<'_>,
        event_cursor: u64,
    ) -> Result<Greeting, Status> {
        let until = now.saturating_add(self.lease);
        if let Some(session) = self.session.as_mut().filter(|session| session.nonce == hello.nonce) {
            (session.until, session.door) = (until, door);
            return Ok(Greeting::Repeated);
        }
        let payload_limit =
            usize::try_from(hello.payload_limit).unwrap_or(usize::MAX).min(SESSION_PAYLOAD_MAX);
        if hello.generation < GENERATION || hello.window == 0 || payload_limit < BASE_PAYLOAD_MAX {
            return Err(Status::Inval);
        }
        let id = SessionId(hash(&self.boot_id, &[&hello.nonce]).to_le_bytes());
        if self.ended.iter().any(|&ended| ended == id) {
            return Err(Status::Stale);
        }
        let new = Session {
            id,
            payload_limit,
            window: usize::from(hello.window).min(WINDOW_MAX),
            event_cursor,
            door,
            nonce: hello.nonce,
            until,
            last_ping: Ping::default(),
        };
        if let Some(old) = self.session.replace(new) {
            self.ended.push_over(old.id);
        }
        Ok(Greeting::Opened)
    }

    /// What tells the request in `frame` from others.
    pub(crate) fn key(&self, frame: &Frame<'_>) -> Key {
        let ext = frame.session.map_or(&[][..], |head| head.ext);
        let digest = hash(&self.boot_id, &[&ext.len().to_le_bytes(), ext, frame.payload]);
        Key { seq: frame.seq, code: frame.code, digest }
    }
}

/// SipHash-2-4 over `parts`, keyed with the boot id so that no peer can prepare two inputs with the same hash.
fn hash(key: &[u8; 16], parts: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher24::new_with_key(key);
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{Greeting, Link, Route};
    use askr_wire::Door;
    use askr_wire::SessionId;
    use askr_wire::message::{HelloRequest, PingRequest};
    use askr_wire::status::Status;

    const LEASE: u64 = 10;
    const BASE_LEASE: u64 = 60;

    fn link() -> Link {
        Link::new([1; 16], LEASE, BASE_LEASE)
    }

    fn hello(nonce: u8) -> HelloRequest<'static> {
        HelloRequest { generation: 1, payload_limit: 4096, window: 8, nonce: [nonce; 16], client: b"t" }
    }

    fn id(link: &Link) -> SessionId {
        link.session().unwrap().id
    }

    #[test]
    fn the_id_depends_on_the_boot_and_on_the_nonce() {
        let mut ids = [([1; 16], 1), ([1; 16], 2), ([2; 16], 1)].map(|(boot, nonce)| {
            let mut link = Link::new(boot, LEASE, BASE_LEASE);
            link.hello(0, Door::Com2, &hello(nonce), 0).unwrap();
            id(&link).0
        });
        ids.sort_unstable();
        assert!(ids[0] != ids[1] && ids[1] != ids[2]);
    }

    #[test]
    fn a_copy_of_the_current_hello_changes_nothing_and_one_of_an_ended_session_is_refused() {
        let mut link = link();
        assert_eq!(link.hello(0, Door::Com2, &hello(1), 5), Ok(Greeting::Opened));
        let first = id(&link);
        assert_eq!(link.hello(1, Door::Com2, &hello(1), 9), Ok(Greeting::Repeated));
        assert_eq!((id(&link), link.session().unwrap().event_cursor), (first, 5));
        assert_eq!(link.route(LEASE), Route::Session(first), "its lease has begun anew");
        assert_eq!(link.hello(2, Door::Com2, &hello(2), 9), Ok(Greeting::Opened));
        assert_eq!(link.hello(3, Door::Com2, &hello(1), 9), Err(Status::Stale));
        assert_ne!(id(&link), first);
    }

    #[test]
    fn limits_are_the_lower_ones_and_absurd_ones_are_refused() {
        let mut link = link();
        let wide = HelloRequest { payload_limit: u32::MAX, window: u16::MAX, generation: 9, ..hello(1) };
        link.hello(0, Door::Com2, &wide, 0).unwrap();
        let session = link.session().unwrap();
        assert_eq!((session.payload_limit, session.window), (4096, 8));
        for bad in [
            HelloRequest { payload_limit: 1023, ..hello(2) },
            HelloRequest { window: 0, ..hello(2) },
            HelloRequest { generation: 0, ..hello(2) },
        ] {
            assert_eq!(link.hello(0, Door::Com2, &bad, 0), Err(Status::Inval));
        }
    }

    #[test]
    fn a_lease_ends_to_the_nanosecond_and_a_session_goes_before_a_base_peer() {
        let mut link = link();
        assert_eq!(link.route(0), Route::Nobody);
        link.renew_base(0, Door::Com2);
        assert_eq!((link.route(59), link.route(60)), (Route::Base, Route::Nobody));
        link.hello(5, Door::Com2, &hello(1), 0).unwrap();
        let session = Route::Session(id(&link));
        assert_eq!((link.route(14), link.route(15)), (session, Route::Base));
        assert_eq!(link.lease_end(session), Some(15));
        assert!(link.renew(20, Door::Com2, SessionId([0; 8])).is_none());
        assert_eq!(link.route(20), Route::Base);
        let own = id(&link);
        assert!(link.renew(20, Door::Com2, own).is_some());
        assert_eq!((link.route(29), link.route(30)), (session, Route::Base));
    }

    #[test]
    fn a_ping_returns_the_counter_before_it_however_often_it_comes() {
        let mut link = link();
        link.hello(0, Door::Com2, &hello(1), 0).unwrap();
        let session_id = id(&link);
        let session = link.renew(0, Door::Com2, session_id).unwrap();
        let mut ping = |seq, counter| session.ping(seq, PingRequest { counter });
        assert_eq!(ping(1, 11), Ok(Some(0)));
        assert_eq!(ping(5, 12), Ok(Some(11)));
        assert_eq!(ping(5, 12), Ok(Some(11)), "sent again");
        assert_eq!(ping(1, 11), Ok(None), "a delayed copy");
        assert_eq!(ping(5, 13), Err(Status::Inval), "other bytes");
        assert_eq!(ping(6, 0), Err(Status::Inval));
        assert_eq!(ping(6, 13), Ok(Some(12)));
    }
}
