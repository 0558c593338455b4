//! The shared vectors: what comes out of the deframer, and what goes back in.

use std::collections::BTreeSet;

use askr_wire::vectors::{FRAMES, Vector, deframe, parse};
use askr_wire::{EncodeError, FRAME_MAX, FrameError, encode};

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
