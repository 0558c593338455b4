//! Contents and names: what was written is read, byte for byte.

use askr_wire::message::{StatReply, WriteReply};
use askr_wire::status::Status;
use askr_wire::{Message, code};

use super::{GUEST, Peer, download, noise, rename, truncate, upload, write, write_at};

const PLACES: [&str; 2] = ["/tmp", "/disk"];

fn size(peer: &mut Peer, path: &[u8]) -> u64 {
    StatReply::decode(&peer.ok(code::STAT, path)).unwrap().size
}

fn round_trip(peer: &mut Peer, path: &[u8], len: usize) {
    let data = noise(len as u64, len);
    let statuses = upload(peer, path, &data);
    assert!(
        statuses.iter().all(|&status| status == Status::Ok),
        "{} {len}: {statuses:?}",
        path.escape_ascii()
    );
    assert_eq!(size(peer, path), len as u64, "{}", path.escape_ascii());
    assert!(
        download(peer, path, len) == data,
        "{} of {len} bytes is not what was written",
        path.escape_ascii()
    );
    assert_eq!(peer.path_status(code::UNLINK, path), Status::Ok);
}

#[test]
fn files_of_every_size_class_come_back_as_they_were_written() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for place in PLACES {
        let path = format!("{place}/sizes");
        for len in
            [0, 1, 255, 256, 511, 512, 3071, 3072, 3073, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1 << 20]
        {
            round_trip(&mut peer, path.as_bytes(), len);
        }
    }
}

#[test]
fn a_file_of_four_mebibytes_comes_back_as_it_was_written() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for place in PLACES {
        round_trip(&mut peer, format!("{place}/large").as_bytes(), 4 << 20);
    }
}

/// `cargo test --test verbs 64 -- --ignored`
#[test]
#[ignore = "takes minutes"]
fn a_file_of_64_mebibytes_comes_back_as_it_was_written() {
    let machine = askr::Machine::new().memory_mib(2048).disk(super::disk("large.img", 80 << 20));
    let mut askr = crate::common::shell::Askr::boot(&machine);
    let mut peer = Peer::in_session(askr.vm());
    for place in PLACES {
        round_trip(&mut peer, format!("{place}/huge").as_bytes(), 64 << 20);
    }
    askr.power_off();
}

#[test]
fn names_are_bytes() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for place in PLACES {
        for byte in (1..=u8::MAX).filter(|&byte| byte != b'/') {
            // A name of one dot is the directory, so there is something before it.
            let path = [place.as_bytes(), b"/n", &[byte, b'.']].concat();
            assert_eq!(
                peer.call(code::WRITE_AT, &write_at(&path, 0, &[byte], false)).0,
                Status::Ok,
                "{byte}"
            );
        }
        let listed = super::directories::entries(&mut peer, place.as_bytes());
        for byte in (1..=u8::MAX).filter(|&byte| byte != b'/') {
            let name = [b'n', byte, b'.'];
            assert!(listed.iter().any(|entry| entry.name == name), "{}", name.escape_ascii());
            let path = [place.as_bytes(), b"/", &name].concat();
            assert_eq!(download(&mut peer, &path, 1), [byte]);
            assert_eq!(peer.path_status(code::UNLINK, &path), Status::Ok);
        }
    }
}

#[test]
fn a_rename_replaces_what_is_there_and_moves_directories() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for place in PLACES {
        let path = |name: &str| format!("{place}/{name}").into_bytes();
        peer.ok(code::WRITE, &write(&path("old"), b"the new content"));
        peer.ok(code::WRITE, &write(&path("new"), b"what is replaced"));
        peer.ok(code::RENAME, &rename(&path("old"), &path("new")));
        assert_eq!(download(&mut peer, &path("new"), 0), b"the new content");
        assert_eq!(peer.path_status(code::STAT, &path("old")), Status::NoEnt);

        peer.ok(code::MKDIR, &path("from"));
        peer.ok(code::WRITE, &write(&path("from/file"), b"inside"));
        peer.ok(code::MKDIR, &path("to"));
        peer.ok(code::RENAME, &rename(&path("from"), &path("to")));
        assert_eq!(download(&mut peer, &path("to/file"), 0), b"inside");

        let into_itself = rename(&path("to"), &path("to/deeper"));
        assert_eq!(peer.call(code::RENAME, &into_itself).0, Status::Inval);
        assert_eq!(peer.call(code::RENAME, &rename(&path("to"), &path("new"))).0, Status::NotDir);
        assert_eq!(peer.call(code::RENAME, &rename(&path("new"), &path("to"))).0, Status::IsDir);
        peer.ok(code::MKDIR, &path("empty"));
        assert_eq!(peer.call(code::RENAME, &rename(&path("empty"), &path("to"))).0, Status::NotEmpty);
        assert_eq!(peer.call(code::RENAME, &rename(&path("nothing"), &path("x"))).0, Status::NoEnt);
        assert_eq!(download(&mut peer, &path("to/file"), 0), b"inside", "nothing of that changed anything");

        assert_eq!(peer.path_status(code::RMDIR, &path("to")), Status::NotEmpty);
        assert_eq!(peer.path_status(code::UNLINK, &path("to")), Status::IsDir);
        assert_eq!(peer.path_status(code::RMDIR, &path("new")), Status::NotDir);
        for (verb, name) in
            [(code::UNLINK, "to/file"), (code::RMDIR, "to"), (code::UNLINK, "new"), (code::RMDIR, "empty")]
        {
            assert_eq!(peer.path_status(verb, &path(name)), Status::Ok, "{name}");
            assert_eq!(peer.path_status(verb, &path(name)), Status::NoEnt, "{name} again");
        }
    }
    let across = rename(b"/tmp", b"/disk/tmp");
    assert_eq!(peer.call(code::RENAME, &across).0, Status::Inval, "there is no move between file systems");
}

#[test]
fn a_file_is_cut_and_extended_and_gaps_are_zeros() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for place in PLACES {
        let path = format!("{place}/cut").into_bytes();
        peer.ok(code::WRITE, &write(&path, b"0123456789"));
        peer.ok(code::TRUNCATE, &truncate(&path, 4));
        peer.ok(code::TRUNCATE, &truncate(&path, 6));
        assert_eq!(download(&mut peer, &path, 6), b"0123\0\0");
        let body = peer.ok(code::WRITE_AT, &write_at(&path, 8, b"gap", true));
        assert_eq!(WriteReply::decode(&body).unwrap().written, 3);
        peer.ok(code::WRITE_AT, &write_at(&path, 1, b"--", false));
        assert_eq!(download(&mut peer, &path, 11), b"0--3\0\0\0\0gap");
        let body = peer.ok(code::WRITE_AT, &write_at(&path, 1 << 40, b"", true));
        assert_eq!(WriteReply::decode(&body).unwrap().written, 0, "no bytes, no gap");
        assert_eq!(size(&mut peer, &path), 11);
        peer.ok(code::TRUNCATE, &truncate(&path, 0));
        assert_eq!(size(&mut peer, &path), 0);
        assert_eq!(peer.path_status(code::UNLINK, &path), Status::Ok);
        assert_eq!(peer.call(code::TRUNCATE, &truncate(&path, 0)).0, Status::NoEnt, "it makes no file");
    }
}

#[test]
fn absurd_offsets_and_sizes_get_an_answer_and_change_nothing() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for place in PLACES {
        let path = format!("{place}/absurd").into_bytes();
        peer.ok(code::WRITE, &write(&path, b"as it was"));
        for offset in [1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX] {
            let refused = |status| matches!(status, Status::FBig | Status::NoSpc);
            let (status, _) = peer.call(code::WRITE_AT, &write_at(&path, offset, b"xx", false));
            assert!(refused(status), "WRITE_AT {offset}: {status:?}");
            let (status, _) = peer.call(code::TRUNCATE, &truncate(&path, offset));
            assert!(refused(status), "TRUNCATE {offset}: {status:?}");
            if offset > i64::MAX as u64 {
                assert_eq!(status, Status::FBig);
            }
            let body = peer.ok(code::READ, &super::read_at(&path, offset));
            assert_eq!(body, [0; 4], "READ {offset}");
        }
        assert_eq!(download(&mut peer, &path, 9), b"as it was");
        assert_eq!(peer.path_status(code::UNLINK, &path), Status::Ok);
    }
}

/// What is made when it is opened is of one piece, also when it is read in many: reading it passes points of its own.
#[test]
fn a_generated_file_is_read_as_it_was_at_its_first_piece() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for round in 0..600 {
        assert_eq!(peer.path_status(code::STAT, b"/proc/version"), Status::Ok, "{round}");
    }
    // Beyond the end, too, as who reads until there is no more: that is of the same content.
    let text = String::from_utf8(download(&mut peer, b"/proc/timeline", 128 << 10)).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines.len() > 1000 && lines[0].starts_with("lost "), "{} lines: {}", lines.len(), lines[0]);
    let times: Vec<i64> = lines[1..]
        .iter()
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [time, _, number] if number.parse::<u64>().is_ok() => time.parse().unwrap(),
            _ => panic!("a torn line: {line}"),
        })
        .collect();
    assert!(times.is_sorted(), "{text}");
}
