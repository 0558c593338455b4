//! Any bytes on the line. What decodes encodes to a frame that decodes the same, and whatever came before, the
//! next good frame is not lost.
#![no_main]

use askr_wire::{Deframer, FRAME_MAX, Frame, FrameError, FrameType, SessionHead, SessionId, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let mut deframer = Deframer::new();
    let mut out = [0; FRAME_MAX];
    // Of the bytes since the last delimiter.
    let (mut bytes, mut results) = (0, 0);
    for &byte in line {
        match deframer.push(byte) {
            None => {}
            Some(Ok(frame)) => {
                assert_eq!(byte, 0, "a frame without its delimiter");
                results += 1;
                let len = encode(&frame, &mut out).expect("a frame that was received can be sent");
                assert_eq!(last(&mut Deframer::new(), &out[..len], &frame), 1);
            }
            Some(Err(error)) => {
                assert!(byte == 0 || error == FrameError::Oversize, "{error} before the delimiter");
                results += 1;
            }
        }
        bytes += 1;
        if byte == 0 {
            assert_eq!(results, usize::from(bytes > 1), "not one result between two delimiters");
            (bytes, results) = (0, 0);
        }
    }

    in_pieces(line);

    let head = SessionHead { id: SessionId(*b"a sessio"), ext: &[] };
    let good =
        Frame { kind: FrameType::Request, seq: 7, code: 1, session: Some(head), payload: b"/proc\0\0/x" };
    let len = encode(&good, &mut out).expect("a short frame");
    assert!(last(&mut deframer, &out[..len], &good) <= 2, "more than the broken frame before it was lost");
});

/// In pieces, as long as the bytes in them say, a line is what it is byte by byte.
fn in_pieces(line: &[u8]) {
    let (mut single, mut slices) = (Deframer::new(), Deframer::new());
    let mut rest = line;
    while let Some(&first) = rest.first() {
        let (mut piece, after) = rest.split_at(rest.len().min(1 + usize::from(first) % 97));
        for &byte in piece {
            let expected = single.push(byte);
            if expected.is_some() {
                assert_eq!(slices.take(&mut piece), expected);
            }
        }
        assert!(slices.take(&mut piece).is_none() && piece.is_empty());
        rest = after;
    }
}

/// Pushes `bytes`, whose last one ends a frame that must be `wanted`. Returns the number of results.
fn last(deframer: &mut Deframer, bytes: &[u8], wanted: &Frame<'_>) -> usize {
    let mut results = 0;
    let (&end, start) = bytes.split_last().expect("a frame has bytes");
    results += start.iter().filter(|&&byte| deframer.push(byte).is_some()).count();
    assert_eq!(deframer.push(end), Some(Ok(*wanted)));
    results + 1
}
