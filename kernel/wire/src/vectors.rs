//! The shared vectors `docs/vectors/frames.txt`, parsed, for the tests of both sides (feature `vectors`).

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use crate::{Deframer, Frame, FrameError, FrameType, SessionHead, SessionId};

/// The text of the vectors file; its head says what the lines mean.
pub const FRAMES: &str = include_str!("../../../docs/vectors/frames.txt");

/// One vector.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Its name.
    pub name: String,
    /// Whether `wire` is what [`crate::encode`] writes for the one frame of `verdicts`.
    pub exact: bool,
    /// The bytes on the line.
    pub wire: Vec<u8>,
    /// What a receiver makes of them.
    pub verdicts: Vec<Verdict>,
}

/// What a receiver makes of some bytes.
pub type Verdict = Result<OwnedFrame, FrameError>;

/// A [`Frame`] with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedFrame {
    /// As in [`Frame`].
    pub kind: FrameType,
    /// As in [`Frame`].
    pub seq: u32,
    /// As in [`Frame`].
    pub code: u16,
    /// Session id and ext; `None` in a base frame.
    pub session: Option<(SessionId, Vec<u8>)>,
    /// As in [`Frame`].
    pub payload: Vec<u8>,
}

impl OwnedFrame {
    /// The frame, borrowed.
    #[must_use]
    pub fn as_frame(&self) -> Frame<'_> {
        let session = self.session.as_ref().map(|(id, ext)| SessionHead { id: *id, ext });
        Frame { kind: self.kind, seq: self.seq, code: self.code, session, payload: &self.payload }
    }
}

impl From<Frame<'_>> for OwnedFrame {
    fn from(frame: Frame<'_>) -> Self {
        let session = frame.session.map(|head| (head.id, head.ext.to_owned()));
        Self {
            kind: frame.kind,
            seq: frame.seq,
            code: frame.code,
            session,
            payload: frame.payload.to_owned(),
        }
    }
}

/// What a [`Deframer`] at the start of a line makes of `bytes`, all of it, in order.
#[must_use]
pub fn deframe(bytes: &[u8]) -> Vec<Verdict> {
    let mut deframer = Deframer::new();
    let mut verdicts = Vec::new();
    for &byte in bytes {
        if let Some(result) = deframer.push(byte) {
            verdicts.push(result.map(OwnedFrame::from));
        }
    }
    verdicts
}

/// Parses the text of a vectors file.
///
/// # Errors
/// Says which line is not what the head of the file allows.
pub fn parse(text: &str) -> Result<Vec<Vector>, String> {
    let mut vectors = Vec::<Vector>::new();
    for (number, line) in text.lines().enumerate() {
        parse_line(line, &mut vectors).ok_or_else(|| format!("line {}: {line}", number + 1))?;
    }
    Ok(vectors)
}

fn parse_line(line: &str, vectors: &mut Vec<Vector>) -> Option<()> {
    if line.is_empty() || line.starts_with('#') {
        return Some(());
    }
    let (keyword, rest) = line.split_once(' ')?;
    if let "exact" | "stream" = keyword {
        let exact = keyword == "exact";
        vectors.push(Vector { name: rest.to_owned(), exact, wire: Vec::new(), verdicts: Vec::new() });
        return Some(());
    }
    let vector = vectors.last_mut()?;
    match keyword {
        "wire" => vector.wire.extend(hex(rest, ' ')?),
        "frame" => vector.verdicts.push(Ok(frame(rest)?)),
        "error" => {
            let kind = FrameError::ALL.into_iter().find(|kind| kind.name() == rest)?;
            vector.verdicts.push(Err(kind));
        }
        _ => return None,
    }
    Some(())
}

/// `TYPE seq=N code=N [session=HEX ext=HEX] payload=HEX`.
fn frame(text: &str) -> Option<OwnedFrame> {
    let mut words = text.split(' ');
    let kind = match words.next()? {
        "request" => FrameType::Request,
        "response" => FrameType::Response,
        "event" => FrameType::Event,
        "decision_req" => FrameType::DecisionReq,
        "decision_resp" => FrameType::DecisionResp,
        _ => return None,
    };
    let number = |text: &str| u32::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let seq = number(words.next()?.strip_prefix("seq=")?)?;
    let code = u16::try_from(number(words.next()?.strip_prefix("code=")?)?).ok()?;
    let mut word = words.next()?;
    let mut session = None;
    if let Some(id) = word.strip_prefix("session=") {
        let id = u64::from_str_radix(id, 16).ok()?.to_be_bytes();
        session = Some((SessionId(id), hex(words.next()?.strip_prefix("ext=")?, ',')?));
        word = words.next()?;
    }
    let payload = hex(word.strip_prefix("payload=")?, ',')?;
    words.next().is_none().then_some(OwnedFrame { kind, seq, code, session, payload })
}

/// Bytes in hex, `XX*N` for a run of N.
fn hex(text: &str, separator: char) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for token in text.split(separator).filter(|token| !token.is_empty()) {
        let (byte, times) = token.split_once('*').unwrap_or((token, "1"));
        let byte = u8::from_str_radix(byte, 16).ok()?;
        bytes.extend(core::iter::repeat_n(byte, times.parse().ok()?));
    }
    Some(bytes)
}
