//! From what was seen on the line to packets of the file. `docs/capture.md` tells their layout to other programs.

use askr_wire::{Door, FrameError};
use host_bridge::json::Captured;
use host_bridge::tap::{Direction, Verdict};

use super::pcapng::{Packet, flag};

/// Layout of the head in front of the bytes.
pub(super) const VERSION: u8 = 1;
pub(super) const HEAD_LEN: usize = 4;

const TO_GUEST: u8 = 1;
const TO_HOST: u8 = 2;

/// Of a marker that is of no door.
const NO_DOOR: u8 = 0;

pub(super) const WHOLE: u8 = 0;
/// And from here on those of [`FrameError::ALL`].
pub(super) const FIRST_BROKEN: u8 = 1;
pub(super) const CUT: u8 = 15;
pub(super) const LINK_UP: u8 = 16;
pub(super) const LINK_DOWN: u8 = 17;
pub(super) const RESUMED: u8 = 18;

/// A packet with its own bytes.
pub(super) struct Owned {
    unix_ns: u64,
    bytes: Vec<u8>,
    length: u64,
    flags: u32,
}

impl Owned {
    /// The packet for something that was seen; `None` for losses.
    pub(super) fn of(captured: &Captured) -> Option<Self> {
        match captured {
            Captured::Lost(_) => None,
            Captured::Link { unix_ns, door, up } => {
                Some(Self::marker(*unix_ns, if *up { LINK_UP } else { LINK_DOWN }, door_number(*door)))
            }
            Captured::Bytes { unix_ns, door, direction, verdict, bytes, length } => {
                let (way, inbound) = match direction {
                    Direction::ToGuest => (TO_GUEST, flag::OUTBOUND),
                    Direction::ToHost => (TO_HOST, flag::INBOUND),
                };
                let (what, error) = kind(*verdict);
                Some(Self {
                    unix_ns: *unix_ns,
                    bytes: [&[VERSION, way, what, door_number(*door)][..], bytes].concat(),
                    length: HEAD_LEN as u64 + length,
                    flags: inbound | error,
                })
            }
        }
    }

    /// Marks that nothing is known of the time before this.
    pub(super) fn resumed(unix_ns: u64) -> Self {
        Self::marker(unix_ns, RESUMED, NO_DOOR)
    }

    fn marker(unix_ns: u64, what: u8, door: u8) -> Self {
        Self { unix_ns, bytes: vec![VERSION, 0, what, door], length: HEAD_LEN as u64, flags: 0 }
    }

    pub(super) fn packet(&self, lost: u64) -> Packet<'_> {
        let Self { unix_ns, bytes, length, flags } = self;
        Packet { unix_ns: *unix_ns, bytes, length: *length, flags: *flags, lost }
    }
}

/// The number of a door.
pub(super) const fn door_number(door: Door) -> u8 {
    match door {
        Door::Com2 => 1,
        Door::Data => 2,
    }
}

/// The number of a verdict, and its flag for programs that do not know our head.
fn kind(verdict: Verdict) -> (u8, u32) {
    match verdict {
        Verdict::Whole => (WHOLE, 0),
        Verdict::Cut => (CUT, flag::TOO_SHORT),
        Verdict::Broken(error) => {
            let flag = match error {
                FrameError::Crc => flag::CRC_ERROR,
                FrameError::Oversize => flag::TOO_LONG,
                FrameError::Short | FrameError::Length => flag::TOO_SHORT,
                FrameError::Cobs | FrameError::Type => flag::SYMBOL_ERROR,
            };
            (FIRST_BROKEN + u8::try_from(error.index()).unwrap_or(CUT), flag)
        }
    }
}

#[cfg(test)]
mod tests {
    use host_bridge::tap::BYTES_MAX;

    use super::*;

    #[test]
    fn the_page_has_the_numbers() {
        let page = include_str!("../../../../docs/capture.md");
        let numbers = page.split_once("- `what` is").unwrap().1.replace('\n', " ");
        let verdicts = FrameError::ALL.map(|error| (kind(Verdict::Broken(error)).0, error.name()));
        let markers =
            [(LINK_UP, "the connection was made"), (LINK_DOWN, "it ended"), (RESUMED, "the capture goes on")];
        for (number, name) in
            verdicts.into_iter().chain([(WHOLE, "for a whole frame"), (CUT, "cut")]).chain(markers)
        {
            assert!(numbers.contains(&format!(" {number} {name}")), "{number} {name}");
        }
        assert!(numbers.contains(&format!("Of more than {BYTES_MAX} ")));
        let doors = Door::ALL.map(|door| format!("{} {door}", door_number(door))).join(", ");
        assert!(numbers.contains(&format!(" `door` is {doors}, {NO_DOOR} for ")), "{doors}");
    }
}
