//! WRITE_AT, many in a row: the file stays open between them, and what goes wrong is told.

use askr::Machine;
use askr_wire::code;
use askr_wire::message::WriteMode;
use askr_wire::status::Status;
use serde_json::json;
use std::time::Instant;

use super::{GUEST, Peer, disk, download, noise, stream, throttle, upload, write, write_at};
use crate::common::PATIENCE;
use crate::common::shell::Askr;

/// Pieces of an upload.
const PIECES: u8 = 200;

fn flushes(askr: &mut Askr) -> u64 {
    let stats = askr.vm().qmp("query-blockstats", &json!({})).unwrap();
    stats[0]["stats"]["flush_operations"].as_u64().unwrap()
}

#[test]
fn an_upload_is_committed_once_and_each_sync_flushes() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let pieces =
        |sync| (0..PIECES).map(move |n| write_at(b"/disk/once", u64::from(n) * 2048, &[n; 2048], sync));
    let before = flushes(&mut askr);
    assert!(stream(&mut peer, code::WRITE_AT, pieces(false)).all(|(status, _)| status == Status::Ok));
    let without = flushes(&mut askr) - before;
    // One commit takes a few; those of the task that writes what is old may come between.
    assert!(without < u64::from(PIECES) / 4, "{without} flushes for {PIECES} writes");
    let before = flushes(&mut askr);
    assert!(stream(&mut peer, code::WRITE_AT, pieces(true)).all(|(status, _)| status == Status::Ok));
    let with = flushes(&mut askr) - before;
    assert!(with >= u64::from(PIECES), "{with} flushes for {PIECES} writes that asked for them");
    assert_eq!(peer.path_status(code::UNLINK, b"/disk/once"), Status::Ok);
}

#[test]
fn writes_go_to_the_file_that_the_path_leads_to_now() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for place in ["/tmp", "/disk"] {
        let path = format!("{place}/target").into_bytes();
        peer.ok(code::WRITE_AT, &write_at(&path, 0, b"first....", false));
        askr.run(&format!("mv {place}/target {place}/moved; echo another > {place}/other"));
        askr.run(&format!("mv {place}/other {place}/target"));
        peer.ok(code::WRITE_AT, &write_at(&path, 0, b"ANOTHER", false));
        assert_eq!(download(&mut peer, &path, 8), b"ANOTHER\n");
        assert_eq!(download(&mut peer, format!("{place}/moved").as_bytes(), 9), b"first....");
        askr.run(&format!("rm {place}/target"));
        peer.ok(code::WRITE_AT, &write_at(&path, 2, b"new", false));
        assert_eq!(download(&mut peer, &path, 5), b"\0\0new", "the removed one is not written to");
        // Others see at once what was written, and what they write is not lost.
        assert_eq!(askr.run(&format!("wc -c < {place}/target")).trim(), "5");
        askr.run(&format!("echo more >> {place}/target"));
        peer.ok(code::WRITE_AT, &write_at(&path, 0, b"xy", true));
        assert_eq!(download(&mut peer, &path, 10), b"xynewmore\n");
        askr.run(&format!("rm {place}/target {place}/moved"));
    }
}

#[test]
fn two_uploads_at_once_do_not_mix() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let (one, other) = (noise(1, 40 << 10), noise(2, 40 << 10));
    let pieces = (0..40).flat_map(|n| {
        let piece = n << 10..(n + 1) << 10;
        let at = (n << 10) as u64;
        [
            write_at(b"/disk/one", at, &one[piece.clone()], false),
            write_at(b"/tmp/other", at, &other[piece], false),
        ]
    });
    assert!(stream(&mut peer, code::WRITE_AT, pieces).all(|(status, _)| status == Status::Ok));
    assert!(download(&mut peer, b"/disk/one", 40 << 10) == one);
    assert!(download(&mut peer, b"/tmp/other", 40 << 10) == other);
    for path in [&b"/disk/one"[..], b"/tmp/other"] {
        assert_eq!(peer.path_status(code::UNLINK, path), Status::Ok);
    }
}

#[test]
fn a_full_disk_is_told_to_the_upload_and_to_no_other_file() {
    let mut askr = Askr::boot(&Machine::new().disk(disk("full.img", 1 << 20)));
    let mut peer = Peer::in_session(askr.vm());
    let append = |path, data| bytes_of(WriteMode::Append, path, data);
    peer.ok(code::WRITE, &append(b"/disk/kept", b"what was there before"));
    // More than fits.
    let data = noise(3, 2 << 20);
    let statuses = upload(&mut peer, b"/disk/large", &data);
    assert!(statuses.iter().all(|status| matches!(status, Status::Ok | Status::NoSpc)), "{statuses:?}");
    assert_eq!(
        *statuses.last().unwrap(),
        Status::NoSpc,
        "the write with sync says whether all of it is there"
    );
    assert_eq!(peer.path_status(code::UNLINK, b"/disk/large"), Status::Ok);
    assert_eq!(download(&mut peer, b"/disk/kept", 21), b"what was there before");
    // There is room again.
    let fits = &data[..512 << 10];
    assert!(upload(&mut peer, b"/disk/large", fits).iter().all(|&status| status == Status::Ok));
    assert!(download(&mut peer, b"/disk/large", fits.len()) == fits);
    // The same in memory, whose limit is the machine's.
    let statuses: Vec<_> = (0..64).map(|n| write_at(b"/tmp/large", n << 30, b"x", true)).collect();
    let statuses: Vec<_> =
        stream(&mut peer, code::WRITE_AT, statuses.into_iter()).map(|(status, _)| status).collect();
    assert_eq!(statuses[0], Status::Ok);
    assert!(statuses[1..].iter().all(|&status| status == Status::NoSpc), "{statuses:?}");
    peer.ok(code::UNLINK, b"/tmp/large");
    peer.ok(code::WRITE, &write(b"/tmp/small", b"there is room"));
    askr.power_off();
}

fn written(askr: &mut Askr) -> u64 {
    let stats = askr.vm().qmp("query-blockstats", &json!({})).unwrap();
    stats[0]["stats"]["wr_operations"].as_u64().unwrap()
}

/// A file is closed when it has been left alone for a second, which takes as long as the disk does.
#[test]
fn what_is_asked_while_a_file_is_closed_is_answered() {
    let mut askr = Askr::boot(&Machine::new().disk(disk("closing.img", 4 << 20)));
    let mut peer = Peer::in_session(askr.vm());
    peer.keep_alive();
    for n in 0..3 {
        let path = format!("/disk/closing {n}").into_bytes();
        peer.ok(code::WRITE_AT, &write_at(&path, 0, &[1; 2048], false));
        let before = written(&mut askr);
        throttle(&mut askr, 2);
        let until = Instant::now() + PATIENCE;
        while written(&mut askr) == before {
            assert!(Instant::now() < until, "the file stays open");
        }
        let asked = peer.send(code::UPTIME, &[]);
        let looked = peer.send(code::STAT, b"/tmp");
        assert_eq!(peer.response(asked, code::UPTIME).0, Status::Ok);
        throttle(&mut askr, 0);
        assert_eq!(peer.response(looked, code::STAT).0, Status::Ok);
    }
    askr.power_off();
}

/// What is wrong shows when the file is closed, and nobody waits for that.
#[test]
fn what_is_lost_after_the_answer_is_told_to_the_next_write() {
    let mut askr = Askr::boot(&Machine::new().disk(disk("late.img", 1 << 20)));
    let mut peer = Peer::in_session(askr.vm());
    // A file so small that it lies in its directory; then no block is free, and the directory is full, too.
    peer.ok(code::WRITE_AT, &write_at(b"/disk/late", 0, b"small", true));
    let mut takes = |path: String, offset, data: &[u8]| {
        peer.call(code::WRITE_AT, &write_at(path.as_bytes(), offset, data, true)).0 == Status::Ok
    };
    assert!(
        (0..1024).any(|n| !takes("/disk/fill".into(), n * 2048, &[2; 2048])),
        "the disk takes more and more"
    );
    assert!(
        (0..16).any(|n| !takes(format!("/disk/fill {n}"), 0, &[2; 2048])),
        "the disk takes more and more"
    );
    assert!(
        (0..256).any(|n| !takes(format!("/disk/tiny {n}"), 0, &[2; 200])),
        "the directory takes more and more"
    );
    peer.ok(code::WRITE_AT, &write_at(b"/disk/late", 0, &[4; 400], false));
    askr.expect("bus: lost what was written to /disk/late: No space left on device");
    let again = write_at(b"/disk/late", 0, &[5; 10], false);
    assert_eq!(peer.call(code::WRITE_AT, &again).0, Status::NoSpc, "what was lost before");
    assert_eq!(peer.call(code::WRITE_AT, &again).0, Status::Ok, "and that once");
    askr.power_off();
}

fn bytes_of(mode: WriteMode, path: &[u8], data: &[u8]) -> Vec<u8> {
    super::bytes(&askr_wire::message::WriteRequest { mode, path, data })
}
