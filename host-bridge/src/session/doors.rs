//! The doors to the guest: which are connected, where the conversation is, and when HELLO is said through which.
//!
//! HELLO goes through every door that is connected, and the best one that answers is where the conversation goes on: the
//! guest sends what is for us to where our last frame came from.

use std::time::{Duration, Instant};

use crate::link::Door;

/// Pause before HELLO is repeated, at first; doubled each time. What is sent before the guest has set up its
/// UART is lost.
const HELLO_FIRST: Duration = Duration::from_millis(200);
/// Longest pause before HELLO is repeated.
const HELLO_MAX: Duration = Duration::from_secs(2);
/// The same for a better door that the conversation could go on at: behind it there may be a guest that does not know it,
/// and nobody reads what is said there.
const CLIMB_MAX: Duration = Duration::from_secs(60);
/// Pause after a door that took nothing.
const BLOCKED: Duration = Duration::from_secs(2);

/// When HELLO is said through a door.
#[derive(Clone, Copy, Debug)]
struct Greeting {
    at: Instant,
    pause: Duration,
    /// It was said and not answered.
    unanswered: bool,
}

#[derive(Debug)]
pub(super) struct Doors {
    /// Those that are connected.
    greetings: [Option<Greeting>; Door::ALL.len()],
    current: Door,
}

impl Doors {
    pub(super) const fn new() -> Self {
        Self { greetings: [None; Door::ALL.len()], current: Door::Com2 }
    }

    pub(super) fn open(&mut self, now: Instant, door: Door) {
        self.greetings[door.index()] = Some(Greeting { at: now, pause: HELLO_FIRST, unanswered: false });
    }

    pub(super) fn close(&mut self, door: Door) {
        self.greetings[door.index()] = None;
    }

    pub(super) fn is_open(&self, door: Door) -> bool {
        self.greetings[door.index()].is_some()
    }

    pub(super) fn is_any_open(&self) -> bool {
        Door::ALL.into_iter().any(|door| self.is_open(door))
    }

    /// Where the conversation is, or was last.
    pub(super) const fn current(&self) -> Door {
        self.current
    }

    /// Whether there is a worse door to go to when this one is silent.
    pub(super) fn has_other(&self) -> bool {
        Door::ALL.into_iter().any(|door| door < self.current && self.is_open(door))
    }

    /// HELLO was answered through this door, and the conversation goes on there.
    pub(super) fn settle(&mut self, now: Instant, door: Door) {
        self.current = door;
        if self.is_open(door) {
            self.open(now, door);
        }
    }

    /// HELLO is due through all doors.
    pub(super) fn greet(&mut self, now: Instant) {
        for door in Door::ALL {
            if let Some(greeting) = &mut self.greetings[door.index()] {
                greeting.at = now;
                if door == Door::Com2 {
                    greeting.pause = HELLO_FIRST;
                }
            }
        }
    }

    /// This door took nothing: it is left alone for a while, and for longer each time.
    pub(super) fn defer(&mut self, now: Instant, door: Door) {
        if let Some(greeting) = &mut self.greetings[door.index()] {
            let pause = greeting.pause.max(BLOCKED);
            (greeting.at, greeting.pause) = (now + pause, (pause * 2).min(CLIMB_MAX));
        }
    }

    /// Whether HELLO waits unread behind this door, as far as we know.
    pub(super) fn is_unanswered(&self, door: Door) -> bool {
        self.greetings[door.index()].is_some_and(|greeting| greeting.unanswered)
    }

    /// Whether HELLO is of use through this door: without a conversation any, else a better one.
    fn is_wanted(&self, door: Door, is_ready: bool) -> bool {
        !is_ready || door > self.current
    }

    /// The doors that HELLO is due through; the next time is later.
    pub(super) fn due(&mut self, now: Instant, is_ready: bool) -> Vec<Door> {
        let wanted = |door: &Door| {
            self.is_wanted(*door, is_ready)
                && self.greetings[door.index()].is_some_and(|greeting| greeting.at <= now)
        };
        let due: Vec<Door> = Door::ALL.into_iter().filter(wanted).collect();
        for &door in &due {
            let has_other = Door::ALL.into_iter().any(|other| other != door && self.is_open(other));
            let longest = if door == Door::Data && has_other { CLIMB_MAX } else { HELLO_MAX };
            if let Some(greeting) = &mut self.greetings[door.index()] {
                let pause = greeting.pause;
                *greeting = Greeting { at: now + pause, pause: (pause * 2).min(longest), unanswered: true };
            }
        }
        due
    }

    /// When HELLO is due next.
    pub(super) fn next_due(&self, is_ready: bool) -> Option<Instant> {
        let wanted = Door::ALL.into_iter().filter(|&door| self.is_wanted(door, is_ready));
        wanted.filter_map(|door| self.greetings[door.index()].map(|greeting| greeting.at)).min()
    }
}
