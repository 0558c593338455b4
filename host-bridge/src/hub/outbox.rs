//! Lines on their way to one client.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Most lines that wait for one client.
const LINES_MAX: usize = 1024;
/// Most bytes that wait for one client, when there is more than one line.
const BYTES_MAX: usize = 32 * 1024 * 1024;

/// A bounded queue of lines.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    /// No more lines are taken in.
    closed: bool,
    /// No more lines are given out either.
    abandoned: bool,
}

impl State {
    fn has_room(&self, line: &str) -> bool {
        self.lines.is_empty() || (self.lines.len() < LINES_MAX && self.bytes + line.len() <= BYTES_MAX)
    }

    fn put(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
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
            state.put(line);
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
            state.put(line);
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
            if let Some(line) = state.lines.pop_front() {
                state.bytes -= line.len();
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
