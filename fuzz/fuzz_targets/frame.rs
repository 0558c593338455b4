//! Frames whose COBS and checksum are right, so that what is checked after those is reached. An independent
//! reading of the same bytes says what must come out.
//!
//! The input is a frame without its checksum: `[type:1][seq:4][code:2][len:2][payload]`.
#![no_main]

use askr_wire::{BASE_PAYLOAD_MAX, Deframer, FrameError, SESSION_PAYLOAD_MAX};
use crc::{CRC_16_IBM_3740, CRC_32_ISCSI, Crc};
use libfuzzer_sys::fuzz_target;

const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_3740);
const CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);
const HEAD: usize = 9;

fuzz_target!(|frame: &[u8]| {
    let in_session = frame.first().is_some_and(|kind| kind & 0x80 != 0);
    let mut raw = frame.to_vec();
    if in_session {
        raw.extend(CRC32C.checksum(frame).to_le_bytes());
    } else {
        raw.extend(CRC16.checksum(frame).to_le_bytes());
    }
    receive(&raw, |result| check(frame, in_session, result));

    // One bit of it wrong, in any place: both checksums see that.
    let place: usize = frame.iter().map(|&byte| usize::from(byte)).sum();
    let bits = raw.len() * 8;
    raw[place % bits / 8] ^= 1 << (place % 8);
    receive(&raw, |result| assert!(result.is_err(), "took a frame with a wrong bit"));
});

/// Sends these bytes with a delimiter and looks at what comes of them, which is one result.
fn receive(raw: &[u8], look: impl Fn(Result<askr_wire::Frame<'_>, FrameError>)) {
    let mut line = vec![0; cobs::max_encoding_length(raw.len())];
    let len = cobs::encode(raw, &mut line);
    let mut deframer = Deframer::new();
    let mut results = 0;
    for &byte in line[..len].iter().chain(&[0]) {
        if let Some(result) = deframer.push(byte) {
            results += 1;
            look(result);
        }
    }
    assert_eq!(results, 1);
}

fn check(raw: &[u8], in_session: bool, result: Result<askr_wire::Frame<'_>, FrameError>) {
    let limit = if in_session { SESSION_PAYLOAD_MAX } else { BASE_PAYLOAD_MAX };
    let expected = if raw.len() < HEAD {
        Some(FrameError::Short)
    } else if raw.len() > HEAD + SESSION_PAYLOAD_MAX + if in_session { 0 } else { 2 } {
        // It does not even fit into the buffer.
        Some(FrameError::Oversize)
    } else if raw.len() - HEAD != usize::from(u16::from_le_bytes([raw[7], raw[8]])) {
        Some(FrameError::Length)
    } else if raw.len() - HEAD > limit {
        Some(FrameError::Oversize)
    } else if !(1..=5).contains(&(raw[0] & 0x7f)) {
        Some(FrameError::Type)
    } else {
        None
    };
    let frame = match (expected, result) {
        (Some(expected), got) => return assert_eq!(got.map(|_| ()), Err(expected)),
        (None, Err(error)) => {
            assert_eq!(error, FrameError::Length);
            return assert!(in_session && session_fields(raw).is_none(), "refused a good frame");
        }
        (None, Ok(frame)) => frame,
    };
    assert_eq!(frame.kind as u8, raw[0] & 0x7f);
    assert_eq!(frame.seq.to_le_bytes(), raw[1..5]);
    assert_eq!(frame.code.to_le_bytes(), raw[5..7]);
    assert_eq!(frame.session.is_some(), in_session);
    match frame.session {
        None => assert_eq!(frame.payload, &raw[HEAD..]),
        Some(head) => {
            let (id, ext, payload) = session_fields(raw).expect("took a frame without a session head");
            assert_eq!((&head.id.0[..], head.ext, frame.payload), (id, ext, payload));
        }
    }
}

/// `[session:8][ext_len:2][ext][payload]` after the head.
fn session_fields(raw: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (id, rest) = raw[HEAD..].split_at_checked(8)?;
    let (len, rest) = rest.split_at_checked(2)?;
    let (ext, payload) = rest.split_at_checked(usize::from(len[0]) + 256 * usize::from(len[1]))?;
    Some((id, ext, payload))
}
