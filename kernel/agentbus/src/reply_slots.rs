//! Where the responses are until they are sent, and after that while they may be wanted again.

use alloc::boxed::Box;
use alloc::vec;

use askr_wire::Message;
use askr_wire::status::Status;

use askr_wire::Door;

/// Most requests of base peers at one door that may be outstanding; one more is answered EINVAL.
pub const BASE_REPLIES_MAX: usize = 8;

/// Names one request that the kernel carries out. Never given twice, so the result of a request whose session
/// has ended cannot reach another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub(crate) asker: Asker,
    pub(crate) index: usize,
    pub(crate) generation: u64,
}

/// Who made a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asker {
    /// The peer of the session, wherever it is now.
    Session,
    /// A base peer at this door.
    Base(Door),
}

/// What tells requests apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) seq: u32,
    pub(crate) code: u16,
    /// Hash over all else that the request said.
    pub(crate) digest: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Free,
    /// Being worked on.
    Running,
    /// The response is there and waits to be sent.
    Ready,
    /// The response was sent, and can be sent again.
    Sent,
    /// The response was sent, and waits to be sent again.
    Again,
}

impl State {
    /// Whether a response waits to be sent.
    const fn is_in_line(self) -> bool {
        matches!(self, Self::Ready | Self::Again)
    }
}

pub(crate) struct Slot {
    pub(crate) state: State,
    pub(crate) key: Key,
    generation: u64,
    /// When it became ready, as a place in the order of all responses.
    ready_at: u64,
    len: usize,
    buffer: Box<[u8]>,
}

impl Slot {
    /// The payload of the response: status and body.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.buffer[..self.len]
    }
}

/// A fixed number of slots, one for each request.
pub(crate) struct ReplySlots {
    slots: Box<[Slot]>,
    asker: Asker,
    generation: u64,
}

impl ReplySlots {
    /// `count` slots for payloads of at most `capacity` bytes each.
    pub(crate) fn new(count: usize, capacity: usize, asker: Asker) -> Self {
        let slot = |_| Slot {
            state: State::Free,
            key: Key { seq: 0, code: 0, digest: 0 },
            generation: 0,
            ready_at: 0,
            len: 0,
            buffer: vec![0; capacity].into_boxed_slice(),
        };
        Self { slots: (0..count).map(slot).collect(), asker, generation: 0 }
    }

    /// A slot that holds nothing.
    pub(crate) fn free(&self) -> Option<usize> {
        self.slots.iter().position(|slot| slot.state == State::Free)
    }

    /// Puts a request into a slot, whatever was in it.
    pub(crate) fn open(&mut self, index: usize, key: Key) -> Token {
        self.generation += 1;
        let slot = &mut self.slots[index];
        (slot.state, slot.key, slot.generation, slot.len) = (State::Running, key, self.generation, 0);
        Token { asker: self.asker, index, generation: self.generation }
    }

    /// Whether a request is being worked on.
    pub(crate) fn is_running(&self, token: Token) -> bool {
        let slot = self.slots.get(token.index);
        slot.is_some_and(|slot| slot.generation == token.generation && slot.state == State::Running)
    }

    /// Stores the response of a request that is being worked on: what `body` writes, or its error. `limit` is
    /// the most bytes the payload may have, `now` the next place in the order of responses. Returns whether
    /// there was such a request.
    pub(crate) fn finish(
        &mut self,
        token: Token,
        (limit, now): (usize, u64),
        body: impl FnOnce(&mut [u8]) -> Result<usize, Status>,
    ) -> bool {
        let Some(slot) = self.slots.get_mut(token.index) else { return false };
        if slot.generation != token.generation || slot.state != State::Running {
            return false;
        }
        let limit = limit.min(slot.buffer.len());
        let (status, out) = slot.buffer[..limit].split_at_mut(1);
        let (code, len) = match body(out) {
            Ok(len) => (Status::Ok, len),
            Err(error) => (error, 0),
        };
        status[0] = if token.asker == Asker::Session { code } else { code.base() } as u8;
        (slot.state, slot.ready_at, slot.len) = (State::Ready, now, 1 + len);
        true
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Slot)> {
        self.slots.iter().enumerate()
    }

    pub(crate) fn get(&self, index: usize) -> &Slot {
        &self.slots[index]
    }

    /// Whether the response of this request waits to be sent.
    pub(crate) fn is_ready(&self, token: Token) -> bool {
        let slot = self.slots.get(token.index);
        slot.is_some_and(|slot| slot.generation == token.generation && slot.state.is_in_line())
    }

    /// The slot that became ready first, and when.
    pub(crate) fn first_ready(&self) -> Option<(u64, usize)> {
        let ready = self.iter().filter(|(_, slot)| slot.state.is_in_line());
        ready.map(|(index, slot)| (slot.ready_at, index)).min()
    }

    /// Puts a stored response in line again.
    pub(crate) fn again(&mut self, index: usize, now: u64) {
        let slot = &mut self.slots[index];
        if slot.state == State::Sent {
            (slot.state, slot.ready_at) = (State::Again, now);
        }
    }

    /// Moves the slots in state `from` to state `to` and returns how many there were.
    pub(crate) fn shift(&mut self, from: State, to: State) -> u64 {
        let slots = self.slots.iter_mut().filter(|slot| slot.state == from);
        slots.map(|slot| slot.state = to).count() as u64
    }

    pub(crate) fn set_state(&mut self, index: usize, state: State) {
        self.slots[index].state = state;
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.state = State::Free);
    }
}

/// Writes a body as it is.
pub(crate) fn copy(body: &[u8]) -> impl FnOnce(&mut [u8]) -> Result<usize, Status> {
    move |out| {
        out.get_mut(..body.len()).ok_or(Status::MsgSize)?.copy_from_slice(body);
        Ok(body.len())
    }
}

/// Writes a message as the body.
pub(crate) fn message<'a>(message: impl Message<'a>) -> impl FnOnce(&mut [u8]) -> Result<usize, Status> {
    move |out| message.encode(out).map_err(|_| Status::MsgSize)
}

#[cfg(test)]
mod tests {
    use super::{Asker, Key, ReplySlots, State, copy};
    use askr_wire::Door;
    use askr_wire::status::Status;

    const KEY: Key = Key { seq: 1, code: 2, digest: 3 };

    #[test]
    fn a_result_reaches_only_the_request_it_belongs_to() {
        let mut slots = ReplySlots::new(1, 8, Asker::Session);
        let first = slots.open(0, KEY);
        assert!(!slots.is_ready(first));
        slots.clear();
        assert!(!slots.finish(first, (8, 1), copy(b"old")), "the session has ended");
        let second = slots.open(0, KEY);
        assert!(!slots.finish(first, (8, 2), copy(b"old")));
        assert!(slots.finish(second, (8, 3), copy(b"new")));
        assert!(slots.is_ready(second) && !slots.is_ready(first));
        assert!(!slots.finish(second, (8, 4), copy(b"twice")));
        assert_eq!(slots.get(0).payload(), b"\0new");
        slots.set_state(0, State::Sent);
        assert!(!slots.is_ready(second));
    }

    #[test]
    fn a_body_over_the_limit_becomes_an_error_the_peer_sees() {
        let mut slots = ReplySlots::new(2, 8, Asker::Session);
        let token = slots.open(0, KEY);
        assert!(slots.finish(token, (4, 1), copy(b"1234")));
        assert_eq!(slots.get(0).payload(), [Status::MsgSize as u8]);
        let token = slots.open(1, KEY);
        assert!(slots.finish(token, (100, 1), copy(b"1234567")));
        assert_eq!(slots.get(1).payload(), b"\x001234567");
    }

    #[test]
    fn a_base_peer_gets_one_of_its_five_statuses() {
        let mut slots = ReplySlots::new(1, 8, Asker::Base(Door::Data));
        let token = slots.open(0, KEY);
        assert!(slots.finish(token, (8, 1), |_| Err(Status::NotDir)));
        assert_eq!(slots.get(0).payload(), [Status::Inval as u8]);
    }

    #[test]
    fn responses_go_in_the_order_in_which_they_became_ready() {
        let mut slots = ReplySlots::new(2, 8, Asker::Session);
        let tokens = [slots.open(0, KEY), slots.open(1, KEY)];
        assert!(slots.finish(tokens[1], (8, 1), copy(b"")));
        assert!(slots.finish(tokens[0], (8, 2), copy(b"")));
        assert_eq!(slots.first_ready(), Some((1, 1)));
        slots.set_state(1, State::Sent);
        assert_eq!(slots.first_ready(), Some((2, 0)));
        slots.again(1, 3);
        slots.again(1, 4);
        slots.set_state(0, State::Sent);
        assert_eq!(slots.first_ready(), Some((3, 1)), "in line again, where it was put first");
        assert_eq!(slots.shift(State::Again, State::Sent), 1);
        assert_eq!(slots.first_ready(), None);
    }
}
