//! How link and session stand, told where that has changed: whether there is a guest, and through which door.

use askr_wire::Door;
use serde_json::Value;

use super::row::Row;
use crate::style::Tone;

#[derive(Clone, PartialEq)]
enum State {
    /// There is no connection.
    Gone,
    /// There is one, and no answer from the guest.
    Silent,
    /// In session with a boot, through a door if the hub says which.
    InSession(String, Option<Door>),
}

impl State {
    fn of(line: &Value) -> Self {
        let state = &line["state"];
        match line["boot"].as_str() {
            Some(boot) if state["ready"] == true => {
                Self::InSession(boot.to_owned(), state["door"].as_str().and_then(Door::named))
            }
            _ if state["connected"] == true => Self::Silent,
            _ => Self::Gone,
        }
    }
}

/// What was told of it last.
#[derive(Default)]
pub(super) struct Session {
    state: Option<State>,
    /// The last boot that was in session, and its door.
    last: Option<(String, Option<Door>)>,
}

impl Session {
    /// The row for a `state` line, if that is news.
    pub(super) fn row(&mut self, line: &Value) -> Option<Row> {
        let now = State::of(line);
        let before = self.state.replace(now.clone());
        if before.as_ref() == Some(&now) {
            return None;
        }
        let (tone, rest) = match now {
            State::Gone => (Tone::Bad, "gone: no door is open, QEMU has ended or not begun".to_owned()),
            State::Silent => match before {
                Some(State::InSession(_, door)) => {
                    (Tone::Bad, format!("no answer{} any more", through(door)))
                }
                _ => (Tone::Notable, "connected; no answer from the guest yet".into()),
            },
            State::InSession(boot, door) => {
                let rest = match &self.last {
                    None => format!("in session: boot {boot}{}", through(door)),
                    Some((last, _)) if *last != boot => format!("restarted: boot {boot}{}", through(door)),
                    Some((_, last)) if *last != door => format!("goes on{}", through(door)),
                    Some(_) => format!("answers again{}", through(door)),
                };
                self.last = Some((boot, door));
                (Tone::Good, rest)
            }
        };
        Some(Row::new("guest", tone, String::new(), rest))
    }

    /// The hub is another one, or none: it tells all of it again.
    pub(super) fn forget(&mut self) {
        self.state = None;
    }

    /// The door that the guest is in session through.
    pub(super) const fn door(&self) -> Option<Door> {
        match self.state {
            Some(State::InSession(_, door)) => door,
            _ => None,
        }
    }
}

/// The end of a sentence; empty if the hub does not say.
fn through(door: Option<Door>) -> String {
    door.map(|door| format!(" through {door}")).unwrap_or_default()
}
