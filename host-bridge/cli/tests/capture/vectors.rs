//! The shared vectors, whole and broken, over a real line.

use std::io::Write;

use askr_wire::vectors::{self, OwnedFrame, Vector, Verdict};
use askr_wire::{FRAME_MAX, FrameType, SessionId, encode};

use crate::line::{Capture, Line};
use crate::tshark;

/// What tshark is to say of a packet from the guest: verdict, type, seq, code, session, length of the payload, checksum.
fn expected(vector: &Vector) -> Vec<[String; 7]> {
    let pieces = vector.wire.split(|&byte| byte == 0).filter(|piece| !piece.is_empty()).count();
    let mut packets: Vec<_> = vector.verdicts.iter().map(of_verdict).collect();
    if packets.len() < pieces {
        packets.push(broken("cut"));
    }
    assert_eq!(packets.len(), pieces, "{}", vector.name);
    packets
}

fn broken(verdict: &str) -> [String; 7] {
    [verdict, "", "", "", "", "", ""].map(str::to_owned)
}

/// The last bytes of a frame.
fn checksum(frame: &OwnedFrame) -> u32 {
    let mut wire = vec![0; FRAME_MAX];
    let len = encode(&frame.as_frame(), &mut wire).unwrap();
    let raw = cobs::decode_vec(&wire[1..len - 1]).unwrap();
    let checksum = &raw[raw.len() - if frame.session.is_some() { 4 } else { 2 }..];
    checksum.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

fn of_verdict(verdict: &Verdict) -> [String; 7] {
    let frame = match verdict {
        Ok(frame) => frame,
        Err(error) => return broken(error.name()),
    };
    let kind = match frame.kind {
        FrameType::Request => "REQUEST",
        FrameType::Response => "RESPONSE",
        FrameType::Event => "EVENT",
        FrameType::DecisionReq => "DECISION_REQ",
        FrameType::DecisionResp => "DECISION_RESP",
    };
    let head = frame.session.as_ref().map_or(0, |(_, ext)| 10 + ext.len());
    let session =
        frame.session.as_ref().map(|(SessionId(id), _)| id.map(|byte| format!("{byte:02x}")).concat());
    [
        "whole".into(),
        kind.into(),
        format!("{:#010x}", frame.seq),
        format!("{:#06x}", frame.code),
        session.unwrap_or_default(),
        (head + frame.payload.len()).to_string(),
        format!("{:#010x}", checksum(frame)),
    ]
}

#[test]
fn every_vector_is_in_the_file_with_its_verdict() {
    if tshark::is_missing() {
        return;
    }
    let line = Line::new();
    let capture = Capture::start(&line.socket(), &[]);
    let all = vectors::parse(vectors::FRAMES).unwrap();
    for vector in &all {
        // Each on a connection of its own, since some are not ended.
        line.port().write_all(&vector.wire).unwrap();
    }
    // When the hub connects again it has seen the end of the last one.
    drop(line.port());
    let ended = capture.interrupt();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    tshark::check_script(&ended.file);
    let fields = [
        "askr.verdict",
        "askr.type",
        "askr.seq",
        "askr.code",
        "askr.session",
        "askr.payload_length",
        "askr.checksum",
    ];
    let got = tshark::fields(&ended.file, "askr.direction == \"to host\"", &fields);
    let expected: Vec<_> = all.iter().flat_map(expected).collect();
    assert_eq!(got.len(), expected.len());
    for (number, (got, expected)) in got.iter().zip(&expected).enumerate() {
        if expected[0] == "whole" {
            assert_eq!(got, expected, "packet {number}");
        } else {
            // What the head of a broken frame seems to say is no more than that.
            assert_eq!(got[0], expected[0], "packet {number}");
        }
    }
    let broken = expected.iter().filter(|packet| packet[0] != "whole").count();
    assert_eq!(tshark::fields(&ended.file, "askr.expert.broken", &["frame.number"]).len(), broken);
    // Other programs see what is broken in the flags, and that not all of a long one was kept.
    assert!(!tshark::fields(&ended.file, "frame.packet_flags_crc_error == 1", &["frame.number"]).is_empty());
    let flagged = tshark::fields(
        &ended.file,
        "askr.verdict == \"crc\" && frame.packet_flags_crc_error == 0",
        &["frame.number"],
    );
    assert!(flagged.is_empty(), "{flagged:?}");
    let long = tshark::fields(&ended.file, "frame.cap_len < frame.len", &["askr.verdict"]);
    assert!(!long.is_empty() && long.iter().all(|of| of[0] == "oversize"), "{long:?}");
}
