//! Whatever happens to some bytes of a line, only the frames that they belong to are lost.

use askr_wire::vectors::{OwnedFrame, Verdict, deframe};
use askr_wire::{FRAME_MAX, FrameType, SESSION_PAYLOAD_MAX, SessionId, encode};
use proptest::prelude::*;

fn bytes_of(frame: &OwnedFrame) -> Vec<u8> {
    let mut out = [0; FRAME_MAX];
    let len = encode(&frame.as_frame(), &mut out).expect("a frame within its limits");
    out[..len].to_vec()
}

fn frames_of(verdicts: &[Verdict]) -> Vec<OwnedFrame> {
    verdicts.iter().filter_map(|verdict| verdict.clone().ok()).collect()
}

/// Whether `some` is what is left of `all` when at most `lost` frames are taken out.
fn is_all_but(some: &[OwnedFrame], all: &[OwnedFrame], lost: usize) -> bool {
    let mut rest = all.iter();
    some.iter().all(|frame| rest.any(|other| other == frame)) && some.len() + lost >= all.len()
}

fn any_frame(longest: usize) -> impl Strategy<Value = OwnedFrame> {
    let kind = prop_oneof![
        Just(FrameType::Request),
        Just(FrameType::Response),
        Just(FrameType::Event),
        Just(FrameType::DecisionReq),
        Just(FrameType::DecisionResp),
    ];
    // Zeros are what COBS is about: let there be many, and long runs without any.
    let byte = prop_oneof![Just(0), 1..=255u8];
    let payload =
        prop_oneof![prop::collection::vec(byte, 0..=longest), prop::collection::vec(1..=255u8, 0..=longest),];
    let session = prop::option::of((any::<[u8; 8]>(), prop::collection::vec(any::<u8>(), 0..40)));
    (kind, any::<u32>(), any::<u16>(), session, payload).prop_map(|(kind, seq, code, session, payload)| {
        let session = session.map(|(id, ext)| (SessionId(id), ext));
        OwnedFrame { kind, seq, code, session, payload }
    })
}

fn three_frames() -> Vec<OwnedFrame> {
    let frame = |seq, session| OwnedFrame {
        kind: FrameType::Request,
        seq,
        code: 2,
        session,
        payload: b"\0\0\0\0/a".to_vec(),
    };
    vec![frame(7, None), frame(0x1_0008, Some((SessionId(*b"session!"), Vec::new()))), frame(9, None)]
}

#[test]
fn any_one_broken_byte_costs_at_most_one_frame_and_makes_none_up() {
    let frames = three_frames();
    let line: Vec<u8> = frames.iter().flat_map(bytes_of).collect();
    for place in 0..line.len() {
        for change in 1..=255 {
            let mut broken = line.clone();
            broken[place] ^= change;
            let got = frames_of(&deframe(&broken));
            assert!(is_all_but(&got, &frames, 1), "byte {place} ^ {change:#04x} gave {got:?}");
        }
    }
}

#[test]
fn any_one_lost_or_additional_byte_costs_at_most_one_frame_and_makes_none_up() {
    let frames = three_frames();
    let line: Vec<u8> = frames.iter().flat_map(bytes_of).collect();
    for place in 0..line.len() {
        let mut lost = line.clone();
        lost.remove(place);
        assert!(is_all_but(&frames_of(&deframe(&lost)), &frames, 1), "byte {place} lost");
        for byte in 0..=255 {
            let mut more = line.clone();
            more.insert(place, byte);
            assert!(is_all_but(&frames_of(&deframe(&more)), &frames, 1), "{byte:#04x} before {place}");
        }
    }
}

proptest! {
    #[test]
    fn what_was_sent_is_received(frames in prop::collection::vec(any_frame(600), 0..5)) {
        let line: Vec<u8> = frames.iter().flat_map(bytes_of).collect();
        prop_assert_eq!(deframe(&line), frames.into_iter().map(Ok).collect::<Vec<_>>());
    }

    #[test]
    fn a_cut_costs_only_the_frames_it_touches(
        frames in prop::collection::vec(any_frame(300), 1..6),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let parts: Vec<Vec<u8>> = frames.iter().map(bytes_of).collect();
        let total = parts.iter().map(Vec::len).sum::<usize>();
        let (from, to) = (from.index(total), to.index(total));
        let cut = from.min(to)..from.max(to);
        let mut line = parts.concat();
        line.drain(cut.clone());

        let mut start = 0;
        let mut untouched = Vec::new();
        for (frame, part) in frames.iter().zip(&parts) {
            let end = start + part.len();
            if end <= cut.start || start >= cut.end {
                untouched.push(frame.clone());
            }
            start = end;
        }
        let got = frames_of(&deframe(&line));
        let mut rest = got.iter();
        prop_assert!(untouched.iter().all(|frame| rest.any(|other| other == frame)), "{:?}", got);
    }

    #[test]
    fn one_broken_byte_costs_only_the_frame_it_is_in(
        frames in prop::collection::vec(any_frame(300), 1..5),
        place in any::<prop::sample::Index>(),
        change in 1..=255u8,
    ) {
        let parts: Vec<Vec<u8>> = frames.iter().map(bytes_of).collect();
        let mut line = parts.concat();
        let place = place.index(line.len());
        line[place] ^= change;
        let mut start = 0;
        let mut whole = Vec::new();
        for (frame, part) in frames.iter().zip(&parts) {
            if !(start..start + part.len()).contains(&place) {
                whole.push(frame.clone());
            }
            start += part.len();
        }
        let got = frames_of(&deframe(&line));
        let mut rest = got.iter();
        prop_assert!(whole.iter().all(|frame| rest.any(|other| other == frame)), "{:?}", got);
    }
}

// Thousands of bytes a case: fewer cases do.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn long_session_frames_are_received(
        payload in prop::collection::vec(any::<u8>(), SESSION_PAYLOAD_MAX - 300..=SESSION_PAYLOAD_MAX - 10),
    ) {
        let session = Some((SessionId([0; 8]), Vec::new()));
        let frame = OwnedFrame { kind: FrameType::Response, seq: 1, code: 3, session, payload };
        prop_assert_eq!(deframe(&bytes_of(&frame)), vec![Ok(frame)]);
    }

    #[test]
    fn a_good_frame_after_any_noise_is_received(
        noise in prop::collection::vec(any::<u8>(), 0..6000),
        frame in any_frame(300),
    ) {
        let mut line = noise;
        line.extend(bytes_of(&frame));
        let verdicts = deframe(&line);
        prop_assert_eq!(verdicts.last(), Some(&Ok(frame)));
    }

    #[test]
    fn a_good_frame_after_an_overflow_is_received(
        noise in prop::collection::vec(1..=255u8, 4_200..9_000),
        frame in any_frame(300),
    ) {
        let mut line = noise;
        line.extend(bytes_of(&frame));
        prop_assert_eq!(deframe(&line), vec![Err(askr_wire::FrameError::Oversize), Ok(frame)]);
    }
}
