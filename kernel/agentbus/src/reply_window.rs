//! At most once: the requests of a session, and the responses to the last ones of them.

use askr_wire::status::Status;
use askr_wire::{SESSION_HEAD_LEN, SESSION_PAYLOAD_MAX};

use crate::reply_slots::{Asker, Key, ReplySlots, State, Token};
use crate::session::Session;

/// Most requests of a session that may be outstanding, and number of responses that are remembered.
pub const WINDOW_MAX: usize = 8;

/// What to do with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is new: do it.
    New(Token),
    /// It was done, and its response is in line again.
    Replayed,
    /// It is being worked on.
    Running,
    /// Its `seq` was used with other bytes.
    Conflict,
    /// It is so old that what came of it is forgotten.
    Below,
    /// Too many are outstanding; nothing was recorded.
    Busy,
}

/// The last requests of the current session.
///
/// A peer sends a request only while its `seq` is less than `WINDOW_MAX` above the oldest one it has no
/// response for. Then the one that is forgotten for a new one is always one that the peer has the response of:
/// it is the lowest of `WINDOW_MAX` others, and the new one lies above them all.
pub(crate) struct ReplyWindow {
    pub(crate) slots: ReplySlots,
    /// Most bytes of status and body in one frame of this session.
    layout_max: usize,
    /// Most requests that may be outstanding.
    width: usize,
    /// Highest `seq` that was forgotten.
    floor: u32,
}

impl ReplyWindow {
    pub(crate) fn new() -> Self {
        let capacity = SESSION_PAYLOAD_MAX - SESSION_HEAD_LEN;
        Self {
            slots: ReplySlots::new(WINDOW_MAX, capacity, Asker::Session),
            layout_max: capacity,
            width: 0,
            floor: 0,
        }
    }

    /// Begins a new session: nothing is remembered, and results still to come belong to nobody.
    pub(crate) fn begin(&mut self, session: &Session) {
        self.slots.clear();
        self.layout_max = session.payload_limit - SESSION_HEAD_LEN;
        self.width = session.window;
        self.floor = 0;
    }

    /// Most bytes the body of a response may have.
    pub(crate) const fn body_max(&self) -> usize {
        self.layout_max - 1
    }

    /// Stores the response of a request that is being worked on: see [`ReplySlots::finish`].
    pub(crate) fn finish(
        &mut self,
        token: Token,
        now: u64,
        body: impl FnOnce(&mut [u8]) -> Result<usize, Status>,
    ) -> bool {
        self.slots.finish(token, (self.layout_max, now), body)
    }

    /// Takes in a request. `now` is the next place in the order of responses.
    pub(crate) fn admit(&mut self, key: Key, now: u64) -> Admission {
        let known = self.slots.iter().find(|(_, slot)| slot.state != State::Free && slot.key.seq == key.seq);
        if let Some((index, slot)) = known {
            return match slot.state {
                _ if slot.key != key => Admission::Conflict,
                State::Running => Admission::Running,
                State::Free | State::Ready | State::Sent | State::Again => {
                    self.slots.again(index, now);
                    Admission::Replayed
                }
            };
        }
        if key.seq <= self.floor {
            return Admission::Below;
        }
        // One that is only sent again is not: the peer may have had its response before, and have gone on.
        let is_outstanding = |state| matches!(state, State::Running | State::Ready);
        if self.slots.iter().filter(|(_, slot)| is_outstanding(slot.state)).count() >= self.width {
            return Admission::Busy;
        }
        match self.slots.free().or_else(|| self.lowest_answered()) {
            Some(index) => {
                let old = self.slots.get(index);
                if old.state != State::Free {
                    // Not always higher: a lower one that took long may be forgotten after it.
                    self.floor = self.floor.max(old.key.seq);
                }
                Admission::New(self.slots.open(index, key))
            }
            None => Admission::Busy,
        }
    }

    fn lowest_answered(&self) -> Option<usize> {
        let is_answered = |state| matches!(state, State::Sent | State::Again);
        let answered = self.slots.iter().filter(|(_, slot)| is_answered(slot.state));
        answered.min_by_key(|(_, slot)| slot.key.seq).map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::{Admission, ReplyWindow, WINDOW_MAX};
    use crate::reply_slots::{Key, State, Token, copy};

    fn key(seq: u32) -> Key {
        Key { seq, code: 1, digest: u64::from(seq) }
    }

    fn window(width: usize) -> ReplyWindow {
        ReplyWindow { width, ..ReplyWindow::new() }
    }

    fn start(window: &mut ReplyWindow, seq: u32) -> Token {
        match window.admit(key(seq), 0) {
            Admission::New(token) => token,
            other => panic!("{seq}: {other:?}"),
        }
    }

    fn serve(window: &mut ReplyWindow, seq: u32) {
        let token = start(window, seq);
        assert!(window.finish(token, 0, copy(b"x")));
        window.slots.set_state(token.index, State::Sent);
    }

    #[test]
    fn a_repeated_request_is_done_once() {
        let mut window = window(WINDOW_MAX);
        let token = start(&mut window, 1);
        assert_eq!(window.admit(key(1), 0), Admission::Running);
        assert!(window.finish(token, 0, copy(b"x")));
        assert_eq!(window.admit(key(1), 0), Admission::Replayed);
        window.slots.set_state(token.index, State::Sent);
        assert_eq!(window.slots.first_ready(), None);
        assert_eq!(window.admit(key(1), 5), Admission::Replayed);
        assert_eq!(window.slots.first_ready(), Some((5, token.index)));
    }

    #[test]
    fn a_used_seq_with_other_bytes_is_a_conflict_in_every_state() {
        let mut window = window(WINDOW_MAX);
        let _running = start(&mut window, 1);
        serve(&mut window, 2);
        for seq in [1, 2] {
            assert_eq!(window.admit(Key { digest: 99, ..key(seq) }, 0), Admission::Conflict);
            assert_eq!(window.admit(Key { code: 99, ..key(seq) }, 0), Admission::Conflict);
        }
    }

    #[test]
    fn the_last_responses_are_remembered_and_older_seqs_are_below() {
        let mut window = window(WINDOW_MAX);
        for seq in 1..=20 {
            serve(&mut window, seq);
        }
        for seq in 0..=12 {
            assert_eq!(window.admit(key(seq), 0), Admission::Below, "{seq}");
        }
        for seq in 13..=20 {
            assert_eq!(window.admit(key(seq), 0), Admission::Replayed, "{seq}");
        }
    }

    #[test]
    fn beyond_the_window_nothing_is_recorded() {
        let mut window = window(3);
        let tokens: [_; 3] = core::array::from_fn(|n| start(&mut window, u32::try_from(n).unwrap() + 1));
        assert_eq!(window.admit(key(4), 0), Admission::Busy);
        assert_eq!(window.admit(key(4), 0), Admission::Busy, "the first was not recorded");
        assert!(window.finish(tokens[1], 0, copy(b"x")));
        assert_eq!(window.admit(key(4), 0), Admission::Busy, "a response that is not sent counts");
        window.slots.set_state(tokens[1].index, State::Sent);
        assert!(matches!(window.admit(key(4), 0), Admission::New(_)));
    }

    #[test]
    fn a_response_that_is_sent_again_takes_no_place_of_a_request() {
        let mut window = window(WINDOW_MAX);
        let width = u32::try_from(WINDOW_MAX).unwrap();
        (1..=width).for_each(|seq| serve(&mut window, seq));
        // The peer has them all, but had sent them twice before the first answers came.
        for seq in 1..=width {
            assert_eq!(window.admit(key(seq), u64::from(seq)), Admission::Replayed);
        }
        for seq in width + 1..=2 * width {
            start(&mut window, seq);
        }
        assert_eq!(window.slots.first_ready(), None, "and they have made room");
        assert_eq!(window.admit(key(2 * width + 1), 0), Admission::Busy);
    }

    #[test]
    fn a_long_request_is_kept_while_others_come_and_go() {
        let mut window = window(WINDOW_MAX);
        let _long = start(&mut window, 1);
        for seq in 2..=30 {
            serve(&mut window, seq);
        }
        assert_eq!(window.admit(key(1), 0), Admission::Running);
        assert_eq!(window.admit(key(23), 0), Admission::Below);
        assert_eq!(window.admit(key(24), 0), Admission::Replayed);
    }

    #[test]
    fn what_was_forgotten_stays_forgotten_when_lower_seqs_end_after_it() {
        let mut window = window(WINDOW_MAX);
        let long = [start(&mut window, 1), start(&mut window, 2)];
        for seq in 3..=9 {
            serve(&mut window, seq);
        }
        for token in long {
            assert!(window.finish(token, 0, copy(b"x")));
            window.slots.set_state(token.index, State::Sent);
        }
        assert_eq!(window.admit(key(3), 0), Admission::Below);
        serve(&mut window, 10);
        assert_eq!(window.admit(key(1), 0), Admission::Below);
        assert_eq!(window.admit(key(3), 0), Admission::Below);
    }

    #[test]
    fn a_seq_that_comes_late_is_done_while_there_is_room_below() {
        let mut window = window(WINDOW_MAX);
        for seq in [2, 3, 4, 5, 6, 7, 8] {
            serve(&mut window, seq);
        }
        serve(&mut window, 1);
        serve(&mut window, 11);
        assert_eq!(window.admit(key(1), 0), Admission::Below);
        serve(&mut window, 10);
        assert_eq!(window.admit(key(2), 0), Admission::Below);
        assert_eq!(window.admit(key(3), 0), Admission::Replayed);
    }
}
