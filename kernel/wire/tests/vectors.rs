//! The shared vectors: what comes out of the deframer, and what goes back in.

use std::collections::BTreeSet;

use askr_wire::vectors::{FRAMES, Vector, deframe, parse};
use askr_wire::{
    BASE_PAYLOAD_MAX, EncodeError, FRAME_MAX, Frame, FrameError, FrameType, SESSION_HEAD_LEN,
    SESSION_PAYLOAD_MAX, SessionHead, SessionId, encode,
};

fn vectors() -> Vec<Vector> {
    parse(FRAMES).expect("docs/vectors/frames.txt")
}

#[test]
fn every_vector_gets_its_verdict() {
    for vector in vectors() {
        assert_eq!(deframe(&vector.wire), vector.verdicts, "{}", vector.name);
    }
}

#[test]
fn exact_vectors_are_what_is_sent() {
    for vector in vectors().iter().filter(|vector| vector.exact) {
        let [Ok(frame)] = vector.verdicts.as_slice() else { panic!("{} is not one frame", vector.name) };
        let mut out = [0xEE; FRAME_MAX];
        let len = encode(&frame.as_frame(), &mut out).expect(&vector.name);
        assert_eq!(&out[..len], vector.wire, "{}", vector.name);
    }
}

#[test]
fn a_buffer_that_is_one_byte_too_small_is_an_error_and_never_a_cut_frame() {
    for vector in vectors().iter().filter(|vector| vector.exact) {
        let Ok(frame) = &vector.verdicts[0] else { panic!("{} is not a frame", vector.name) };
        for len in 0..vector.wire.len() {
            let mut out = vec![0xEE; len];
            assert_eq!(encode(&frame.as_frame(), &mut out), Err(EncodeError::NoRoom), "{}", vector.name);
        }
        let mut out = vec![0xEE; vector.wire.len()];
        assert_eq!(encode(&frame.as_frame(), &mut out), Ok(vector.wire.len()), "{}", vector.name);
    }
}

#[test]
fn the_file_covers_every_kind_of_error_and_repeats_no_name() {
    let vectors = vectors();
    let names: BTreeSet<_> = vectors.iter().map(|vector| &vector.name).collect();
    assert_eq!(names.len(), vectors.len());
    for kind in FrameError::ALL {
        assert!(vectors.iter().any(|vector| vector.verdicts.contains(&Err(kind))), "{kind:?}");
    }
    for (index, kind) in FrameError::ALL.into_iter().enumerate() {
        assert_eq!(kind.index(), index);
    }
}

#[test]
fn a_payload_over_its_limit_is_not_sent() {
    let bytes = [0xFF; SESSION_PAYLOAD_MAX];
    let send = |ext: Option<usize>, len: usize| {
        let session = ext.map(|len| SessionHead { id: SessionId([0xFF; 8]), ext: &bytes[..len] });
        let payload = &bytes[..len];
        let frame = Frame { kind: FrameType::Response, seq: u32::MAX, code: u16::MAX, session, payload };
        encode(&frame, &mut [0; FRAME_MAX])
    };
    assert!(send(None, BASE_PAYLOAD_MAX).is_ok());
    assert_eq!(send(None, BASE_PAYLOAD_MAX + 1), Err(EncodeError::TooLong));
    let room = SESSION_PAYLOAD_MAX - SESSION_HEAD_LEN;
    for ext in [0, 1, 100, room] {
        assert!(send(Some(ext), room - ext).is_ok());
        assert_eq!(send(Some(ext), room - ext + 1), Err(EncodeError::TooLong));
    }
}
