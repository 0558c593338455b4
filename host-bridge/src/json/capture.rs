//! What a capturing client is pushed, both ways.

use askr_wire::FrameError;
use serde_json::{Value, json};

use super::{bytes, name};
use crate::link::Door;
use crate::tap::{Direction, Seen, Verdict};

const CAPTURED: &str = "captured";
const LOST: &str = "capture_lost";
const UNIX_NS: &str = "unix_ns";
const STATE: &str = "state";
const DIRECTION: &str = "direction";
const VERDICT: &str = "verdict";
const BYTES: &str = "bytes_base64";
const COUNT: &str = "count";

/// A line that a capturing client was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Captured {
    /// The connection to a door was made, or it ended.
    Link {
        /// When, in nanoseconds since 1970.
        unix_ns: u64,
        /// Which one.
        door: Door,
        /// Made.
        up: bool,
    },
    /// Bytes at a door, see [`Seen::Bytes`].
    Bytes {
        /// When, in nanoseconds since 1970.
        unix_ns: u64,
        /// Which one.
        door: Door,
        /// Which way they go.
        direction: Direction,
        /// What they were.
        verdict: Verdict,
        /// The first of them.
        bytes: Vec<u8>,
        /// How many there were.
        length: u64,
    },
    /// So many lines could not be pushed after the one before.
    Lost(u64),
}

/// The line that tells a capturing client what was seen at a door.
#[must_use]
pub fn captured_pushed(unix_ns: u64, door: Door, seen: &Seen<'_>) -> String {
    let captured = match seen {
        Seen::Up => json!({ UNIX_NS: unix_ns, name::DOOR: door.name(), STATE: "up" }),
        Seen::Down => json!({ UNIX_NS: unix_ns, name::DOOR: door.name(), STATE: "down" }),
        Seen::Bytes { direction, verdict, bytes: seen, length } => json!({
            UNIX_NS: unix_ns,
            name::DOOR: door.name(),
            DIRECTION: direction_name(*direction),
            VERDICT: verdict.name(),
            BYTES: bytes::encode(seen),
            name::LENGTH: length,
        }),
    };
    json!({ CAPTURED: captured }).to_string()
}

/// The line that tells a capturing client how many lines it was too slow for.
#[must_use]
pub fn capture_lost_pushed(count: u64) -> String {
    json!({ LOST: { COUNT: count } }).to_string()
}

/// What the hub says to a capture that begins, goes on or ends.
pub(crate) fn capture(on: bool, captured: u64, dropped: u64) -> Value {
    json!({ name::ON: on, CAPTURED: captured, "dropped": dropped })
}

/// Takes a pushed line apart; `None` for a line of another kind.
#[must_use]
pub fn captured_of(line: &Value) -> Option<Captured> {
    if let Some(lost) = line.get(LOST) {
        return lost[COUNT].as_u64().map(Captured::Lost);
    }
    let captured = line.get(CAPTURED)?;
    let unix_ns = captured[UNIX_NS].as_u64()?;
    let door = Door::named(captured[name::DOOR].as_str()?)?;
    if let Some(state) = captured.get(STATE) {
        return Some(Captured::Link { unix_ns, door, up: state == "up" });
    }
    Some(Captured::Bytes {
        unix_ns,
        door,
        direction: [Direction::ToGuest, Direction::ToHost]
            .into_iter()
            .find(|direction| captured[DIRECTION] == direction_name(*direction))?,
        verdict: verdicts().find(|verdict| captured[VERDICT] == verdict.name())?,
        bytes: bytes::decode(captured[BYTES].as_str()?)?,
        length: captured[name::LENGTH].as_u64()?,
    })
}

/// How many lines the hub had no room for in all, by its last reply to this capture.
#[must_use]
pub fn dropped_of(ok: &Value) -> Option<u64> {
    ok["dropped"].as_u64()
}

const fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::ToGuest => "to_guest",
        Direction::ToHost => "to_host",
    }
}

fn verdicts() -> impl Iterator<Item = Verdict> {
    FrameError::ALL.into_iter().map(Verdict::Broken).chain([Verdict::Whole, Verdict::Cut])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tap::BYTES_MAX;

    #[test]
    fn the_page_says_how_much_is_kept() {
        let page = include_str!("../../../docs/host.md");
        assert!(page.contains(&format!("at most {BYTES_MAX} of them")));
    }

    fn read(line: &str) -> Option<Captured> {
        captured_of(&serde_json::from_str(line).unwrap())
    }

    #[test]
    fn what_is_pushed_can_be_read() {
        let unix_ns = 1_700_000_000_123_456_789;
        let pushed = |door, seen: &Seen<'_>| read(&captured_pushed(unix_ns, door, seen));
        for door in Door::ALL {
            for (direction, verdict) in [Direction::ToGuest, Direction::ToHost]
                .into_iter()
                .flat_map(|direction| verdicts().map(move |verdict| (direction, verdict)))
            {
                let seen = Seen::Bytes { direction, verdict, bytes: b"\x01\xff", length: 9000 };
                let bytes = vec![1, 0xff];
                let expected = Captured::Bytes { unix_ns, door, direction, verdict, bytes, length: 9000 };
                assert_eq!(pushed(door, &seen), Some(expected));
            }
            for (seen, up) in [(Seen::Up, true), (Seen::Down, false)] {
                assert_eq!(pushed(door, &seen), Some(Captured::Link { unix_ns, door, up }));
            }
        }
        assert_eq!(read(&capture_lost_pushed(7)), Some(Captured::Lost(7)));
        assert_eq!(read(r#"{"id":1,"boot":null,"ok":{"on":true,"captured":0,"dropped":0}}"#), None);
    }
}
