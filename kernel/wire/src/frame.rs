//! What a frame is, and how one becomes bytes. The way back is [`crate::Deframer`].

use crc::{CRC_16_IBM_3740, CRC_32_ISCSI, Crc, Table};

use crate::cobs::Encoder;

/// Longest payload of a base frame, in bytes.
pub const BASE_PAYLOAD_MAX: usize = 1024;
/// Longest payload of a session frame, in bytes: session head, ext and base layout together. Askr offers this
/// in HELLO.
pub const SESSION_PAYLOAD_MAX: usize = 4096;
/// Fixed part of a session head, in bytes: `[session:8][ext_len:2]`.
pub const SESSION_HEAD_LEN: usize = 10;

/// `[type:1][seq:4][code:2][len:2]`.
pub(crate) const HEAD_LEN: usize = 9;
/// Most bytes of one frame before COBS: head, longest payload, CRC-32C.
pub(crate) const RAW_MAX: usize = HEAD_LEN + SESSION_PAYLOAD_MAX + Trailer::Crc32c.len();
/// Most bytes one frame takes on the wire, both delimiters included: a buffer of this size always suffices
/// for [`encode`].
pub const FRAME_MAX: usize = ::cobs::max_encoding_length(RAW_MAX) + 2;

/// Bit of the type byte that marks a session frame.
pub(crate) const SESSION_BIT: u8 = 0x80;

/// Base frames: CRC-16/CCITT-FALSE, which the catalogue of parametrised CRCs calls CRC-16/IBM-3740.
const CRC16: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_IBM_3740);
/// Session frames: CRC-32C (RFC 3720 section 12.1), which the catalogue calls CRC-32/ISCSI. They are the long ones, so sixteen
/// bytes are taken at once.
static CRC32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FrameType {
    /// Host to kernel: do this.
    Request = 1,
    /// Kernel to host: what came of the request with the same `seq` and `code`.
    Response = 2,
    /// Kernel to host: something happened.
    Event = 3,
    /// Kernel to host: a program asks.
    DecisionReq = 4,
    /// Host to kernel: the answer to the ask with the same `seq` and `code`.
    DecisionResp = 5,
}

impl FrameType {
    /// The type with this number (without the session bit).
    #[must_use]
    pub const fn from_u8(value: u8) -> Option<Self> {
        match value {
            1 => Some(Self::Request),
            2 => Some(Self::Response),
            3 => Some(Self::Event),
            4 => Some(Self::DecisionReq),
            5 => Some(Self::DecisionResp),
            _ => None,
        }
    }
}

/// Names a session: derived by the kernel from its boot id and the peer's nonce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SessionId(pub [u8; 8]);

impl core::fmt::Display for SessionId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What a session frame carries before the base layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionHead<'a> {
    /// The session the frame belongs to.
    pub id: SessionId,
    /// Extension items, not yet taken apart: see [`crate::ext_items`].
    pub ext: &'a [u8],
}

/// One frame, borrowed from the buffer it was decoded from or will be encoded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What the frame is for.
    pub kind: FrameType,
    /// Correlates a response with its request and an answer with its ask.
    pub seq: u32,
    /// Verb, event or intent: see [`crate::code`].
    pub code: u16,
    /// The session head; `None` in a base frame.
    pub session: Option<SessionHead<'a>>,
    /// The base layout: what one of the structs in [`crate::message`] decodes.
    pub payload: &'a [u8],
}

/// Why a frame could not be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The payload is over [`BASE_PAYLOAD_MAX`], or with its session head over [`SESSION_PAYLOAD_MAX`]: send
    /// less at a time.
    TooLong,
    /// The output buffer is too small: [`FRAME_MAX`] bytes always suffice.
    NoRoom,
}

impl core::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::TooLong => "payload over the limit of its frame",
            Self::NoRoom => "output buffer too small for the frame",
        })
    }
}

impl core::error::Error for EncodeError {}

/// The checksum that ends a frame; the session bit says which.
#[derive(Clone, Copy)]
pub(crate) enum Trailer {
    Crc16,
    Crc32c,
}

impl Trailer {
    pub(crate) const fn of_type_byte(byte: u8) -> Self {
        if byte & SESSION_BIT == 0 { Self::Crc16 } else { Self::Crc32c }
    }

    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Crc16 => 2,
            Self::Crc32c => 4,
        }
    }

    /// The checksum over `parts` one after the other, little-endian in the first [`Self::len`] bytes.
    pub(crate) fn checksum(self, parts: &[&[u8]]) -> [u8; 4] {
        match self {
            Self::Crc16 => {
                let mut digest = CRC16.digest();
                parts.iter().for_each(|part| digest.update(part));
                u32::from(digest.finalize()).to_le_bytes()
            }
            Self::Crc32c => {
                let mut digest = CRC32C.digest();
                parts.iter().for_each(|part| digest.update(part));
                digest.finalize().to_le_bytes()
            }
        }
    }
}

/// Writes the bytes of `frame` to `out`: a 0x00, the COBS-encoded frame, a 0x00. Returns how many bytes.
///
/// The delimiter in front ends whatever broken bytes came before, so that they cost no good frame.
///
/// # Errors
/// [`EncodeError::TooLong`] and [`EncodeError::NoRoom`]; what `out` holds is then of no use.
pub fn encode(frame: &Frame<'_>, out: &mut [u8]) -> Result<usize, EncodeError> {
    let (limit, head_len, session_bit) = match frame.session {
        None => (BASE_PAYLOAD_MAX, 0, 0),
        Some(head) => (SESSION_PAYLOAD_MAX, SESSION_HEAD_LEN + head.ext.len(), SESSION_BIT),
    };
    let len = head_len + frame.payload.len();
    if len > limit {
        return Err(EncodeError::TooLong);
    }
    let type_byte = frame.kind as u8 | session_bit;
    let mut head = [0; HEAD_LEN];
    head[0] = type_byte;
    head[1..5].copy_from_slice(&frame.seq.to_le_bytes());
    head[5..7].copy_from_slice(&frame.code.to_le_bytes());
    head[7..9].copy_from_slice(&u16::try_from(len).map_err(|_| EncodeError::TooLong)?.to_le_bytes());

    let mut session_head = [0; SESSION_HEAD_LEN];
    let (session_head, ext): (&[u8], &[u8]) = match frame.session {
        None => (&[], &[]),
        Some(SessionHead { id, ext }) => {
            let ext_len = u16::try_from(ext.len()).map_err(|_| EncodeError::TooLong)?;
            session_head[..8].copy_from_slice(&id.0);
            session_head[8..].copy_from_slice(&ext_len.to_le_bytes());
            (&session_head, ext)
        }
    };
    let parts = [&head, session_head, ext, frame.payload];
    let trailer = Trailer::of_type_byte(type_byte);
    let checksum = trailer.checksum(&parts);
    delimit(&parts, &checksum[..trailer.len()], out)
}

/// Writes `parts` and `checksum` COBS-encoded between two delimiters.
fn delimit(parts: &[&[u8]], checksum: &[u8], out: &mut [u8]) -> Result<usize, EncodeError> {
    let (first, body) = out.split_first_mut().ok_or(EncodeError::NoRoom)?;
    *first = 0;
    let mut encoder = Encoder::new(body).ok_or(EncodeError::NoRoom)?;
    for part in parts.iter().copied().chain([checksum]) {
        encoder.push(part).ok_or(EncodeError::NoRoom)?;
    }
    let len = encoder.finish();
    *body.get_mut(len).ok_or(EncodeError::NoRoom)? = 0;
    Ok(len + 2)
}
