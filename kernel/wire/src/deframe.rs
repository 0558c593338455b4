//! From bytes to frames, strictly: what is not exactly one whole frame is an error, and costs only itself.

use ::cobs::{DecodeResult, DecoderState};
use memchr::memchr;

use crate::frame::{
    BASE_PAYLOAD_MAX, Frame, FrameType, HEAD_LEN, RAW_MAX, SESSION_BIT, SESSION_HEAD_LEN,
    SESSION_PAYLOAD_MAX, SessionHead, SessionId, Trailer,
};

/// Why bytes between two delimiters were not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameError {
    /// A delimiter came inside a COBS run: the frame was cut, or a byte of it became 0x00.
    Cobs,
    /// Too few bytes for a head and a checksum.
    Short,
    /// The length in the head is not that of the payload, or the session head does not fit into it.
    Length,
    /// The checksum is wrong.
    Crc,
    /// The checksum is right, but nobody knows this type.
    Type,
    /// Over the payload limit of its kind.
    Oversize,
}

impl FrameError {
    /// Every kind, in the order of [`Self::index`].
    pub const ALL: [Self; 6] = [Self::Cobs, Self::Short, Self::Length, Self::Crc, Self::Type, Self::Oversize];

    /// Place of this kind in [`Self::ALL`], for a table of counters.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Short name, as the counters bear it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cobs => "cobs",
            Self::Short => "short",
            Self::Length => "length",
            Self::Crc => "crc",
            Self::Type => "type",
            Self::Oversize => "oversize",
        }
    }
}

impl core::fmt::Display for FrameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Cobs => "frame cut inside a COBS run",
            Self::Short => "frame too short for a head and a checksum",
            Self::Length => "length in the head is not that of the frame",
            Self::Crc => "checksum wrong",
            Self::Type => "unknown frame type",
            Self::Oversize => "frame over the payload limit",
        })
    }
}

impl core::error::Error for FrameError {}

/// Takes bytes as they come and gives a frame, or what was wrong, at the delimiter that ends it.
///
/// Nothing between two delimiters is no frame and no error. A frame that does not fit is reported once, as
/// soon as that is certain, and discarded up to its delimiter: no part of it is taken for a frame.
pub struct Deframer {
    buffer: [u8; RAW_MAX],
    len: usize,
    discarding: bool,
    cobs: DecoderState,
}

impl Deframer {
    /// A deframer at the start of a line. It holds its buffer of a bit over 4 KiB itself.
    #[must_use]
    pub const fn new() -> Self {
        Self { buffer: [0; RAW_MAX], len: 0, discarding: false, cobs: DecoderState::Idle }
    }

    /// Takes the next byte from the line.
    pub fn push(&mut self, byte: u8) -> Option<Result<Frame<'_>, FrameError>> {
        self.take(&mut &[byte][..])
    }

    /// Takes bytes from the front of `bytes`: up to the first that ends a frame or shows that something is wrong, else all.
    /// Call it until it gives nothing.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Option<Result<Frame<'_>, FrameError>> {
        match self.advance(bytes)? {
            Ok(()) => Some(parse(&self.buffer[..self.len])),
            Err(error) => Some(Err(error)),
        }
    }

    /// As [`Self::take`]; a frame is then in the buffer.
    fn advance(&mut self, bytes: &mut &[u8]) -> Option<Result<(), FrameError>> {
        while !bytes.is_empty() {
            if self.discarding {
                let end = memchr(0, bytes);
                self.discarding = end.is_none();
                *bytes = &bytes[end.map_or(bytes.len(), |end| end + 1)..];
            } else if !self.take_run(bytes)
                && let Some(result) = self.take_byte(bytes)
            {
                return Some(result);
            }
        }
        None
    }

    /// Takes what stands for itself: the rest of a COBS run, as far as it is there. Returns whether that was any.
    fn take_run(&mut self, bytes: &mut &[u8]) -> bool {
        let left = match &mut self.cobs {
            DecoderState::Grab(left) | DecoderState::GrabChain(left) => left,
            DecoderState::Idle => return false,
        };
        let run = &bytes[..bytes.len().min(usize::from(*left))];
        let run = &run[..memchr(0, run).unwrap_or(run.len())];
        let place = &mut self.buffer[self.len..];
        let count = run.len().min(place.len());
        place[..count].copy_from_slice(&run[..count]);
        self.len += count;
        *left -= u8::try_from(count).unwrap_or(u8::MAX);
        *bytes = &bytes[count..];
        count > 0
    }

    fn take_byte(&mut self, bytes: &mut &[u8]) -> Option<Result<(), FrameError>> {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        match self.cobs.feed(byte) {
            Ok(DecodeResult::NoData) => None,
            Ok(DecodeResult::DataStart) => {
                self.len = 0;
                None
            }
            Ok(DecodeResult::DataContinue(decoded)) => {
                if let Some(slot) = self.buffer.get_mut(self.len) {
                    *slot = decoded;
                    self.len += 1;
                    return None;
                }
                // The decoder itself would take the rest for a whole frame: start it afresh at the delimiter.
                self.cobs = DecoderState::Idle;
                self.discarding = true;
                Some(Err(FrameError::Oversize))
            }
            Ok(DecodeResult::DataComplete) => Some(Ok(())),
            Err(_) => Some(Err(FrameError::Cobs)),
        }
    }
}

impl Default for Deframer {
    fn default() -> Self {
        Self::new()
    }
}

/// Takes the decoded bytes of one frame apart.
fn parse(raw: &[u8]) -> Result<Frame<'_>, FrameError> {
    let &[type_byte, s0, s1, s2, s3, c0, c1, l0, l1, ref rest @ ..] = raw else {
        return Err(FrameError::Short);
    };
    let trailer = Trailer::of_type_byte(type_byte);
    let (payload, checksum) = rest.split_at(rest.len().checked_sub(trailer.len()).ok_or(FrameError::Short)?);
    if payload.len() != usize::from(u16::from_le_bytes([l0, l1])) {
        return Err(FrameError::Length);
    }
    let in_session = type_byte & SESSION_BIT != 0;
    if payload.len() > if in_session { SESSION_PAYLOAD_MAX } else { BASE_PAYLOAD_MAX } {
        return Err(FrameError::Oversize);
    }
    let covered = &raw[..HEAD_LEN + payload.len()];
    if checksum != &trailer.checksum(&[covered])[..trailer.len()] {
        return Err(FrameError::Crc);
    }
    let kind = FrameType::from_u8(type_byte & !SESSION_BIT).ok_or(FrameError::Type)?;
    let (session, payload) = if in_session {
        let (head, payload) = split_session(payload).ok_or(FrameError::Length)?;
        (Some(head), payload)
    } else {
        (None, payload)
    };
    let seq = u32::from_le_bytes([s0, s1, s2, s3]);
    Ok(Frame { kind, seq, code: u16::from_le_bytes([c0, c1]), session, payload })
}

/// Splits `[session:8][ext_len:2][ext]` off the front of a payload.
fn split_session(payload: &[u8]) -> Option<(SessionHead<'_>, &[u8])> {
    let (head, rest) = payload.split_first_chunk::<SESSION_HEAD_LEN>()?;
    let (id, ext_len) = head.split_first_chunk::<8>()?;
    let ext_len = usize::from(u16::from_le_bytes(ext_len.try_into().ok()?));
    let (ext, payload) = rest.split_at_checked(ext_len)?;
    Some((SessionHead { id: SessionId(*id), ext }, payload))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::{Deframer, FrameError};
    use crate::frame::{FRAME_MAX, Frame, FrameType, SESSION_PAYLOAD_MAX, SessionHead, SessionId, encode};

    /// What a frame was, or what was wrong.
    type Verdict = Result<(FrameType, u32, Vec<u8>), FrameError>;

    fn verdict(result: Result<Frame<'_>, FrameError>) -> Verdict {
        result.map(|frame| (frame.kind, frame.seq, frame.payload.to_vec()))
    }

    /// By the state machine alone, one byte after the other.
    fn byte_by_byte(line: &[u8]) -> Vec<Verdict> {
        let mut deframer = Deframer::new();
        let mut verdicts = Vec::new();
        for &byte in line {
            if deframer.discarding {
                deframer.discarding = byte != 0;
            } else if let Some(result) = deframer.take_byte(&mut &[byte][..]) {
                let whole = super::parse(&deframer.buffer[..deframer.len]);
                verdicts.push(result.map_err(Err).map_or_else(|error: Verdict| error, |()| verdict(whole)));
            }
        }
        verdicts
    }

    fn in_pieces(line: &[u8], cuts: &[prop::sample::Index]) -> Vec<Verdict> {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(line.len() + 1)).collect();
        ends.push(line.len());
        ends.sort_unstable();
        let mut deframer = Deframer::new();
        let (mut verdicts, mut from) = (Vec::new(), 0);
        for to in ends {
            let mut piece = &line[from..to];
            while let Some(result) = deframer.take(&mut piece) {
                verdicts.push(verdict(result));
            }
            assert!(piece.is_empty(), "bytes were left");
            from = to;
        }
        verdicts
    }

    /// A good frame, noise, or far more than a frame.
    fn stretch() -> impl Strategy<Value = Vec<u8>> {
        let payload = prop_oneof![
            prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => any::<u8>()], 0..700),
            prop::collection::vec(1u8.., 0..SESSION_PAYLOAD_MAX - 10),
        ];
        let frame = payload.prop_map(|payload| {
            let session = Some(SessionHead { id: SessionId([1; 8]), ext: &[] });
            let frame = Frame { kind: FrameType::Request, seq: 1, code: 2, session, payload: &payload };
            let mut out = std::vec![0; FRAME_MAX];
            let len = encode(&frame, &mut out).unwrap();
            out.truncate(len);
            out
        });
        prop_oneof![
            4 => frame,
            2 => prop::collection::vec(any::<u8>(), 0..600),
            1 => (1u8.., FRAME_MAX - 300..FRAME_MAX + 600).prop_map(|(byte, len)| std::vec![byte; len]),
            1 => Just(std::vec![0; 3]),
        ]
    }

    proptest! {
        #[test]
        fn slices_give_what_single_bytes_give(
            stretches in prop::collection::vec(stretch(), 0..6),
            broken in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let mut line = stretches.concat();
            for (place, byte) in broken {
                if !line.is_empty() {
                    let place = place.index(line.len());
                    line[place] = byte;
                }
            }
            prop_assert_eq!(in_pieces(&line, &cuts), byte_by_byte(&line));
        }
    }
}
