//! Lines on their way to one client.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Most lines that wait for one client.
const LINES_MAX: usize = 1024;
/// Most bytes that wait for one client, when there is more than one line.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most lines, and most bytes, among those that wait which the client may do without. They take nobody else's place.
const OFFERED_LINES_MAX: usize = 8 * 1024;
const OFFERED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A bounded queue of lines.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct Line {
    text: String,
    offered: bool,
}

/// How many lines wait, and of how many bytes.
#[derive(Debug, Default)]
struct Load {
    lines: usize,
    bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Line>,
    /// Of lines that must arrive.
    owed: Load,
    /// Of lines that the client may do without.
    offered: Load,
    /// No more lines are taken in.
    closed: bool,
    /// No more lines are given out either.
    abandoned: bool,
}

impl State {
    fn has_room(&self, line: &str) -> bool {
        self.owed.lines == 0 || (self.owed.lines < LINES_MAX && self.owed.bytes + line.len() <= BYTES_MAX)
    }

    fn may_offer(&self, line: &str) -> bool {
        self.offered.lines < OFFERED_LINES_MAX && self.offered.bytes + line.len() <= OFFERED_BYTES_MAX
    }

    fn load(&mut self, offered: bool) -> &mut Load {
        if offered { &mut self.offered } else { &mut self.owed }
    }

    fn put(&mut self, text: String, offered: bool) {
        let load = self.load(offered);
        load.lines += 1;
        load.bytes += text.len();
        self.lines.push_back(Line { text, offered });
    }

    fn take(&mut self) -> Option<String> {
        let Line { text, offered } = self.lines.pop_front()?;
        let load = self.load(offered);
        load.lines -= 1;
        load.bytes -= text.len();
        Some(text)
    }
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a line that nobody asked for. `false` when there is no room: the client does not read and is to be
    /// disconnected.
    pub(super) fn push(&self, line: String) -> bool {
        let mut state = self.lock();
        if state.closed {
            return true;
        }
        let has_room = state.has_room(&line);
        if has_room {
            state.put(line, false);
            self.changed.notify_all();
        }
        has_room
    }

    /// Puts a line that the client may do without. `false` when there is no room for more of those: nothing was put.
    pub(super) fn offer(&self, line: String) -> bool {
        let mut state = self.lock();
        let has_room = !state.closed && state.may_offer(&line);
        if has_room {
            state.put(line, true);
            self.changed.notify_all();
        }
        has_room
    }

    /// Puts a reply, and waits for room: who asks faster than it reads holds up only itself. Ends when the queue
    /// is closed, which the writing side does after a time without progress.
    pub(super) fn push_reply(&self, line: String) {
        let mut state = self.lock();
        while !state.closed && !state.has_room(&line) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.closed {
            state.put(line, false);
            self.changed.notify_all();
        }
    }

    /// The next line; `None` when the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<String> {
        let mut state = self.lock();
        loop {
            if state.abandoned {
                return None;
            }
            if let Some(line) = state.take() {
                self.changed.notify_all();
                return Some(line);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes no more lines; those in it still go out.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Takes no more lines and gives none out.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        (state.closed, state.abandoned) = (true, true);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_in_order_and_after_close() {
        let outbox = Outbox::default();
        assert!(outbox.push("a".into()));
        outbox.push_reply("b".into());
        outbox.close();
        outbox.push_reply("c".into());
        assert_eq!(outbox.pop().as_deref(), Some("a"));
        assert_eq!(outbox.pop().as_deref(), Some("b"));
        assert_eq!(outbox.pop(), None);
    }

    #[test]
    fn what_nobody_asked_for_never_waits() {
        let outbox = Outbox::default();
        for _ in 0..LINES_MAX {
            assert!(outbox.push("x".into()));
        }
        assert!(!outbox.push("x".into()));
    }

    #[test]
    fn what_is_offered_takes_no_room_from_what_is_owed_nor_the_other_way_round() {
        let outbox = Outbox::default();
        let mut offered = 0;
        while offered <= OFFERED_LINES_MAX && outbox.offer("o".into()) {
            offered += 1;
        }
        assert_eq!(offered, OFFERED_LINES_MAX);
        for _ in 0..LINES_MAX {
            assert!(outbox.push("p".into()));
        }
        assert!(!outbox.push("p".into()));
        assert_eq!(outbox.pop().as_deref(), Some("o"));
        assert!(outbox.offer("o".into()));
        assert!(!outbox.offer("o".into()));
        let many = Outbox::default();
        assert!(many.offer("x".repeat(OFFERED_BYTES_MAX)));
        assert!(!many.offer("x".into()), "bytes count, too");
        outbox.close();
        assert_eq!(std::iter::from_fn(|| outbox.pop()).count(), OFFERED_LINES_MAX + LINES_MAX);
        assert!(!outbox.offer("o".into()));
    }

    #[test]
    fn a_line_over_the_limit_passes_alone() {
        let outbox = Outbox::default();
        assert!(outbox.push("x".repeat(BYTES_MAX + 1)));
        assert!(!outbox.push("x".into()));
    }

    #[test]
    fn a_reply_waits_for_room_until_abandoned() {
        let outbox = Outbox::default();
        while outbox.push("x".into()) {}
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| outbox.push_reply("y".into()));
            outbox.abandon();
            waiting.join().unwrap();
        });
        assert_eq!(outbox.pop(), None);
    }
}
