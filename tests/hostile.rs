//! Bad input over COM2: an answer where the frame was whole, a counter where it was not, and nothing else happens.

mod common;

use std::collections::BTreeMap;
use std::time::Instant;

use askr::Machine;
use askr_wire::message::{PathRequest, PingRequest, PsRequest, ReadRequest, WriteMode, WriteRequest};
use askr_wire::status::Status;
use askr_wire::{FRAME_MAX, Frame, FrameType, SessionHead, SessionId, code, encode};
use common::PATIENCE;
use common::peer::{Peer, bytes};
use common::shell::{Askr, Shared, number_after};
use crc::{CRC_16_IBM_3740, CRC_32_ISCSI, Crc};

static GUEST: Shared = Shared::new(Machine::new);

/// Numbers at which signs and widths change.
const ABSURD: [u64; 7] = [(1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX];
/// Frames that the mutations start from, and mutations of each.
const MUTATIONS: usize = 40;
/// Connections that end while the kernel sends.
const RECONNECTS: usize = 20;

/// A frame between its delimiters, whatever it says: `len` and checksum are those of the bytes, and the type is any.
fn delimited(kind: u8, seq: u32, code: u16, payload: &[u8]) -> Vec<u8> {
    let len = u16::try_from(payload.len()).unwrap();
    let head = [&[kind][..], &seq.to_le_bytes(), &code.to_le_bytes(), &len.to_le_bytes(), payload].concat();
    let checksum = if kind & 0x80 == 0 {
        Crc::<u16>::new(&CRC_16_IBM_3740).checksum(&head).to_le_bytes().to_vec()
    } else {
        Crc::<u32>::new(&CRC_32_ISCSI).checksum(&head).to_le_bytes().to_vec()
    };
    stuffed(&[head, checksum].concat())
}

/// COBS between two delimiters.
fn stuffed(raw: &[u8]) -> Vec<u8> {
    [&[0][..], &cobs::encode_vec(raw), &[0]].concat()
}

/// A good frame.
fn encoded(seq: u32, code: u16, session: Option<SessionId>, payload: &[u8]) -> Vec<u8> {
    let session = session.map(|id| SessionHead { id, ext: &[] });
    let mut out = [0; FRAME_MAX];
    let len = encode(&Frame { kind: FrameType::Request, seq, code, session, payload }, &mut out).unwrap();
    out[..len].to_vec()
}

fn broken(stats: &BTreeMap<String, u64>) -> u64 {
    stats.iter().filter(|(name, _)| name.starts_with("frame_error_")).map(|(_, value)| value).sum()
}

/// What has to hold whatever was sent: the peer and the person are served, by the same boot.
fn is_well(askr: &mut Askr, peer: &mut Peer) {
    peer.ok(code::PING, &bytes(&PingRequest { counter: 1 + fastrand::u32(..1000) }));
    assert_eq!(askr.run("echo well"), "well\r\n");
    assert!(peer.errors.is_empty(), "broken frames from the kernel: {:?}", peer.errors);
}

#[test]
fn broken_frames_are_counted_by_kind_and_cost_only_themselves() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let good = encoded(7, code::STAT, None, b"/proc/version");
    let mut damaged = good.clone();
    damaged[12] ^= 0x20;
    let mut longer = delimited(1, 7, code::STAT, b"/proc/version");
    longer.splice(longer.len() - 1.., [3, b'x', b'y', 0]);
    for (name, input) in [
        ("crc", damaged),
        // Cut in the middle of the last run, and at the end of one.
        ("cobs", [&good[..good.len() - 4], &[0]].concat()),
        ("cobs", b"\0\xff0123456789\0".to_vec()),
        ("short", b"\0\x01\0".to_vec()),
        ("short", stuffed(&[1; 8])),
        ("short", stuffed(&[1, 0, 0, 0, 0, 1, 0, 0, 0, 7])),
        ("length", longer),
        ("length", stuffed(&[0x42; 64])),
        ("type", delimited(0, 7, 1, b"/")),
        ("type", delimited(9, 7, 1, b"/")),
        ("type", delimited(0x80 | 6, 7, 1, &[0; 12])),
        ("oversize", delimited(1, 7, code::STAT, &[b'/'; 1025])),
        ("oversize", delimited(0x81, 7, code::STAT, &[b'/'; 4097])),
        ("oversize", [&[0][..], &[0x41; 20_000], &[0]].concat()),
        // A session frame without room for its head, and one whose ext runs over the end.
        ("length", delimited(0x81, 7, code::STAT, &[0; 9])),
        ("length", delimited(0x81, 7, code::STAT, &[0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1])),
    ] {
        let before = peer.stats();
        peer.send_raw(&input);
        let after = peer.stats();
        let key = format!("frame_error_{name}");
        assert_eq!(after[&key], before[&key] + 1, "{name}: {:x?}", &input[..input.len().min(80)]);
        assert_eq!(broken(&after), broken(&before) + 1, "{name}: counted once");
    }
    is_well(&mut askr, &mut peer);
}

#[test]
fn garbage_costs_no_good_frame() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..50 {
        let garbage: Vec<u8> = (0..rng.usize(1..200)).map(|_| rng.u8(..)).collect();
        peer.send_raw(&garbage);
        // The next frame brings its own delimiter.
        assert_eq!(peer.path_status(code::STAT, b"/proc/version"), Status::Ok, "after {garbage:x?}");
    }
    // Delimiters alone are nothing.
    let before = broken(&peer.stats());
    peer.send_raw(&[0; 5000]);
    assert_eq!(broken(&peer.stats()), before);
    is_well(&mut askr, &mut peer);
}

#[test]
fn absurd_numbers_get_an_answer() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let session = peer.session();
    for id in [session, None] {
        peer.set_session(id);
        for number in ABSURD {
            for len in [0, 1, 1 << 31, u32::MAX] {
                let read = ReadRequest { offset: number, len, path: b"/etc/motd" };
                let (status, body) = peer.call(code::READ, &bytes(&read));
                // Beyond the end there is nothing; what no offset can be is an error.
                assert!(
                    status == Status::Ok && body == [0; 4] || status == Status::Inval,
                    "{number:#x}: {status:?}"
                );
            }
        }
        for start in [(1 << 31) - 1, 1 << 31, u32::MAX] {
            let list = [&start.to_le_bytes()[..], b"/"].concat();
            assert_eq!(peer.call(code::LIST, &list), (Status::Ok, vec![0, 0]), "{start:#x}");
            let ps = bytes(&PsRequest { start });
            assert_eq!(peer.call(code::PS, &ps), (Status::Ok, vec![0, 0]), "{start:#x}");
        }
        let asks = peer.call(code::ASKS, &u16::MAX.to_le_bytes());
        assert_eq!(asks.0, if id.is_some() { Status::Ok } else { Status::Inval });
    }
    peer.set_session(session);
    is_well(&mut askr, &mut peer);
}

#[test]
fn absurd_paths_get_an_answer() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let session = peer.session();
    let long = [b'/'; 1024];
    let deep = b"/x".repeat(511);
    let dots = b"/..".repeat(341);
    let name = [&b"/"[..], &[b'n'; 300]].concat();
    for (path, in_session) in [
        (&b""[..], Status::Inval),
        (b"etc/motd", Status::Inval),
        (b"./etc", Status::Inval),
        (b"\0", Status::Inval),
        (b"/etc/motd\0", Status::Inval),
        (b"/etc\0/motd", Status::Inval),
        (&long, Status::NameTooLong),
        (&deep, Status::NoEnt),
        (&name, Status::NameTooLong),
        (b"/etc/motd/x", Status::NotDir),
        (b"/\xff\xfe", Status::NoEnt),
    ] {
        for id in [session, None] {
            // In a base frame the path of WRITE shares the 1024 bytes with its head.
            if id.is_none() && path.len() > 1000 {
                continue;
            }
            peer.set_session(id);
            let wanted = if id.is_some() { in_session } else { in_session.base() };
            assert_eq!(peer.path_status(code::STAT, path), wanted, "STAT {}", path.escape_ascii());
            let read = ReadRequest { offset: 0, len: 1, path };
            assert_eq!(peer.call(code::READ, &bytes(&read)).0, wanted, "READ {}", path.escape_ascii());
            let list = [&[0; 4][..], path].concat();
            assert_eq!(peer.call(code::LIST, &list).0, wanted, "LIST {}", path.escape_ascii());
            assert_eq!(peer.path_status(code::REMOVE, path), wanted, "REMOVE {}", path.escape_ascii());
            if in_session != Status::NoEnt {
                let write = WriteRequest { mode: WriteMode::Append, path, data: b"x" };
                assert_eq!(peer.call(code::WRITE, &bytes(&write)).0, wanted, "WRITE {}", path.escape_ascii());
                assert_eq!(peer.path_status(code::MKDIR, path), wanted, "MKDIR {}", path.escape_ascii());
            }
        }
    }
    peer.set_session(session);
    assert_eq!(peer.path_status(code::STAT, &dots), Status::Ok, "the parent of the root is the root");
    for path in [&b"/"[..], b"/.", b"/..", b"/dev", b"/proc"] {
        let request = bytes(&PathRequest { path });
        assert_ne!(peer.call(code::REMOVE, &request).0, Status::Ok, "{}", path.escape_ascii());
        assert_ne!(peer.call(code::MKDIR, &request).0, Status::Ok, "{}", path.escape_ascii());
    }
    // Reading a terminal would make the bus wait for a person.
    for path in [&b"/dev/console"[..], b"/dev/tty", b"/dev/zero", b"/dev/null"] {
        let (status, _) = peer.call(code::READ, &bytes(&ReadRequest { offset: 0, len: 9, path }));
        assert!(matches!(status, Status::Inval | Status::NoEnt), "{}: {status:?}", path.escape_ascii());
    }
    is_well(&mut askr, &mut peer);
}

#[test]
fn unknown_verbs_and_malformed_payloads_get_an_answer() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let session = peer.session();
    let unknown = [0, 8, 9, 0x00ff, 0x0107, 0x010f, 0x01ff, 0x0200, 0x7fff, 0x8000, 0x8001, 0xffff];
    let malformed: [(u16, &[u8]); 15] = [
        (code::LIST, b""),
        (code::LIST, b"\0\0\0"),
        (code::READ, b"\0\0\0\0\0\0\0\0\0\0\0"),
        (code::WRITE, b""),
        (code::WRITE, b"\x02\x02\0/x"),
        (code::WRITE, b"\0\xff\xff/x"),
        (code::PS, b""),
        (code::PS, b"\0\0\0\0\0"),
        (code::STATS, b"x"),
        (code::ASKS, b"\0"),
        (code::ANSWER, b"\0\0\0\x80\x02"),
        (code::ANSWER, b"\0\0\0\x80\x01but"),
        (code::EVENTS, b"\0\0\0\0\0\0\0"),
        (code::EVENTS, &[0xff; 8]),
        (code::POWER, b"\x02"),
    ];
    for (id, no_verb) in [(session, Status::NoSys), (None, Status::Inval)] {
        peer.set_session(id);
        for code in unknown {
            for payload in [&b""[..], b"/", &[0xff; 600]] {
                assert_eq!(peer.call(code, payload).0, no_verb, "{code:#06x}");
            }
        }
        for (code, payload) in malformed {
            assert_eq!(peer.call(code, payload).0, Status::Inval, "{code:#06x} {}", payload.escape_ascii());
        }
        assert_eq!(peer.call(code::HELLO, b"\x01").0, Status::Inval);
    }
    peer.set_session(session);
    assert_eq!(peer.call(code::PING, b"\0\0\0\0").0, Status::Inval);
    is_well(&mut askr, &mut peer);
}

#[test]
fn frames_that_only_the_kernel_sends_are_counted() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let before = peer.stats()["frames_unexpected"];
    for kind in [FrameType::Response, FrameType::Event, FrameType::DecisionReq] {
        peer.send_frame(kind, 7, code::STAT, b"/");
    }
    assert_eq!(peer.stats()["frames_unexpected"], before + 3);
    is_well(&mut askr, &mut peer);
}

#[test]
fn more_requests_than_there_is_room_for_are_refused_and_the_link_lives() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let session = peer.session();
    let refused = |askr: &mut Askr| number_after(&askr.run("cat /proc/bus"), "\nbusy ");
    for id in [session, None] {
        peer.set_session(id);
        let before = refused(&mut askr);
        let read = bytes(&ReadRequest { offset: 0, len: u32::MAX, path: b"/bin/sh" });
        for _ in 0..200 {
            peer.send(code::READ, &read);
        }
        // Not every one gets an answer: a peer that keeps to its window is owed one.
        let until = Instant::now() + PATIENCE;
        while refused(&mut askr) == before {
            assert!(Instant::now() < until, "{id:?}: nothing was refused");
        }
    }
    peer.set_session(session);
    is_well(&mut askr, &mut peer);
}

#[test]
fn who_connects_within_a_frame_gets_whole_ones() {
    let mut askr = GUEST.take();
    let read = bytes(&ReadRequest { offset: 0, len: u32::MAX, path: b"/bin/sh" });
    for _ in 0..RECONNECTS {
        let mut peer = Peer::in_session(askr.vm());
        let first = peer.send(code::READ, &read);
        // These are on their way when the connection ends.
        for _ in 1..8 {
            peer.send(code::READ, &read);
        }
        assert_eq!(peer.response(first, code::READ).0, Status::Ok);
        drop(peer);
        let mut next = Peer::in_session(askr.vm());
        is_well(&mut askr, &mut next);
    }
}

#[test]
fn hundreds_of_mutations_do_no_harm() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let session = peer.session();
    let write = bytes(&WriteRequest { mode: WriteMode::Append, path: b"/tmp/mutated", data: b"x" });
    let seeds = [
        encoded(50_000, code::STAT, None, b"/proc/version"),
        encoded(50_001, code::LIST, None, b"\0\0\0\0/"),
        encoded(50_002, code::READ, session, &bytes(&ReadRequest { offset: 3, len: 99, path: b"/etc/motd" })),
        encoded(50_003, code::WRITE, session, &write),
        encoded(50_004, code::MKDIR, None, b"/tmp/mutated-folder"),
        encoded(50_005, code::PS, session, &[0; 4]),
        encoded(50_006, code::HELLO, None, &[7; 40]),
        encoded(50_007, code::STATS, session, b""),
        encoded(50_008, code::ANSWER, session, b"\0\0\0\x80\0yes"),
    ];
    let mut rng = fastrand::Rng::with_seed(2);
    for seed in &seeds {
        for _ in 0..MUTATIONS {
            peer.send_raw(&mutated(seed, &mut rng));
        }
        assert_eq!(peer.path_status(code::STAT, b"/"), Status::Ok);
    }
    let stats = peer.stats();
    assert!(broken(&stats) > 100, "{stats:?}");
    is_well(&mut askr, &mut peer);
}

/// The frame with one to three changes: a bit or byte, something cut out, doubled or put in, or its end cut off.
fn mutated(frame: &[u8], rng: &mut fastrand::Rng) -> Vec<u8> {
    let mut out = frame.to_vec();
    for _ in 0..rng.usize(1..=3) {
        let at = rng.usize(..out.len());
        let end = (at + rng.usize(1..8)).min(out.len());
        match rng.u8(..6) {
            0 => out[at] ^= 1 << rng.u8(..8),
            1 => out[at] = rng.u8(..),
            2 => drop(out.drain(at..end)),
            3 => drop(out.splice(at..at, out[at..end].to_vec())),
            4 => out.insert(at, rng.choice([0, 1, 0xff, 0x81]).unwrap()),
            _ => out.truncate(at.max(1)),
        }
        if out.is_empty() {
            out.push(0);
        }
    }
    out
}
