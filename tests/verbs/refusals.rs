//! Every status that a request about files can be refused with.

use askr_wire::code;
use askr_wire::message::ReaddirRequest;
use askr_wire::status::Status;

use super::{GUEST, Peer, bytes, read_at, rename, truncate, write, write_at};

/// What each verb that changes something is refused with at `path`, and READ and STAT besides. RENAME is tried from
/// there and to there.
fn statuses(peer: &mut Peer, path: &[u8]) -> Vec<(&'static str, Status)> {
    let requests = [
        ("WRITE", code::WRITE, write(path, b"x")),
        ("WRITE_AT", code::WRITE_AT, write_at(path, 0, b"x", false)),
        ("WRITE_AT with sync", code::WRITE_AT, write_at(path, 0, b"x", true)),
        ("MKDIR", code::MKDIR, path.to_vec()),
        ("REMOVE", code::REMOVE, path.to_vec()),
        ("UNLINK", code::UNLINK, path.to_vec()),
        ("RMDIR", code::RMDIR, path.to_vec()),
        ("TRUNCATE", code::TRUNCATE, truncate(path, 0)),
        ("RENAME from", code::RENAME, rename(path, b"/tmp/moved")),
        ("RENAME to", code::RENAME, rename(b"/tmp/victim", path)),
    ];
    requests.into_iter().map(|(name, code, payload)| (name, peer.call(code, &payload).0)).collect()
}

#[track_caller]
fn all_are(peer: &mut Peer, path: &[u8], allowed: &[Status]) {
    for (verb, status) in statuses(peer, path) {
        assert!(allowed.contains(&status), "{verb} {}: {status:?}", path.escape_ascii());
    }
}

#[test]
fn nothing_in_bin_is_changed_by_any_verb_however_it_is_spelled() {
    let mut askr = GUEST.take();
    askr.run(
        "ln -s /bin /tmp/to-bin; ln -s /bin/sh /tmp/to-sh; ln -s ../bin /tmp/up; ln -s to-bin /tmp/twice",
    );
    let before = askr.run("ls -l /bin");
    let mut peer = Peer::in_session(askr.vm());
    let session = peer.session();
    peer.ok(code::WRITE, &write(b"/tmp/victim", b"victim"));
    for path in [
        "/bin/sh",
        "/bin/x",
        "//bin/sh",
        "/bin//sh",
        "/./bin/sh",
        "/bin/./sh",
        "/tmp/../bin/sh",
        "/bin/../bin/sh",
        "/../bin/sh",
        "/../../bin/sh",
        "/dev/../bin/sh",
        "/proc/1/../../bin/sh",
        "/tmp/to-bin/sh",
        "/tmp/to-bin/x",
        "/tmp/up/sh",
        "/tmp/up/../bin/x",
        "/tmp/twice/sh",
        "/tmp/../tmp/twice/../bin/sh",
    ] {
        all_are(&mut peer, path.as_bytes(), &[Status::Perm]);
        peer.set_session(None);
        for code in [code::MKDIR, code::REMOVE] {
            assert_eq!(peer.path_status(code, path.as_bytes()), Status::Perm, "{path}");
        }
        peer.set_session(session);
    }
    // The directory itself.
    for path in ["/bin", "//bin", "/bin/", "/bin/.", "/tmp/../bin", "/tmp/to-bin/."] {
        let refused =
            [Status::Perm, Status::IsDir, Status::Inval, Status::Exist, Status::NotDir, Status::Busy];
        all_are(&mut peer, path.as_bytes(), &refused);
    }
    // A link at the end: its file is written to, the link itself is removed and moved.
    for (code, payload) in [
        (code::WRITE, write(b"/tmp/to-sh", b"x")),
        (code::WRITE_AT, write_at(b"/tmp/to-sh", 0, b"x", true)),
        (code::TRUNCATE, truncate(b"/tmp/to-sh", 0)),
    ] {
        assert_eq!(peer.call(code, &payload).0, Status::Perm, "{code:#06x}");
    }
    assert_eq!(peer.path_status(code::UNLINK, b"/tmp/to-sh"), Status::Ok);
    // What is kept open for WRITE_AT is judged by where the path leads to now.
    peer.ok(code::WRITE_AT, &write_at(b"/tmp/kept", 0, b"mine", false));
    askr.run("rm /tmp/kept; ln -s /bin/sh /tmp/kept");
    assert_eq!(peer.call(code::WRITE_AT, &write_at(b"/tmp/kept", 0, b"x", false)).0, Status::Perm);
    peer.ok(code::UNLINK, b"/tmp/victim");
    drop(peer);
    assert_eq!(askr.run("ls -l /bin"), before);
    askr.run("rm /tmp/to-bin /tmp/up /tmp/twice /tmp/kept");
}

#[test]
fn each_kind_of_wrong_path_has_its_status() {
    let mut askr = GUEST.take();
    askr.run("ln -s loop /tmp/loop; mkdir /tmp/full; echo > /tmp/full/file; echo > /tmp/file");
    let mut peer = Peer::in_session(askr.vm());
    peer.ok(code::WRITE, &write(b"/tmp/victim", b"victim"));
    let long = [&b"/tmp/"[..], &[b'n'; 256]].concat();
    let longer = [&b"/"[..], &[b'p'; 1023]].concat();
    for (path, status) in [
        (&b"/tmp/file/x"[..], Status::NotDir),
        (b"/tmp/missing/x", Status::NoEnt),
        (b"/tmp/loop/x", Status::Loop),
        (b"relative", Status::Inval),
        (b"", Status::Inval),
        (b"/tmp/nul\0", Status::Inval),
        (&long, Status::NameTooLong),
        (&longer, Status::NameTooLong),
    ] {
        all_are(&mut peer, path, &[status]);
        for code in [code::STAT, code::FSINFO] {
            assert_eq!(peer.path_status(code, path), status, "{}", path.escape_ascii());
        }
        assert_eq!(peer.call(code::READ, &read_at(path, 0)).0, status);
        assert_eq!(peer.call(code::READDIR, &bytes(&ReaddirRequest { cursor: 0, path })).0, status);
    }
    for (code, payload, status) in [
        (code::STAT, b"/tmp/loop".to_vec(), Status::Loop),
        (code::WRITE_AT, write_at(b"/tmp/loop", 0, b"x", false), Status::Loop),
        (code::MKDIR, b"/tmp/file".to_vec(), Status::Exist),
        (code::MKDIR, b"/tmp/full".to_vec(), Status::Exist),
        (code::WRITE, write(b"/tmp/full", b"x"), Status::IsDir),
        (code::WRITE_AT, write_at(b"/tmp/full", 0, b"x", false), Status::IsDir),
        (code::READ, read_at(b"/tmp/full", 0), Status::IsDir),
        (code::TRUNCATE, truncate(b"/tmp/full", 0), Status::IsDir),
        (code::UNLINK, b"/tmp/full".to_vec(), Status::IsDir),
        (code::RMDIR, b"/tmp/full".to_vec(), Status::NotEmpty),
        (code::REMOVE, b"/tmp/full".to_vec(), Status::NotEmpty),
        (code::RMDIR, b"/tmp/file".to_vec(), Status::NotDir),
        (code::RMDIR, b"/".to_vec(), Status::Busy),
        (code::RMDIR, b"/proc".to_vec(), Status::Busy),
        (code::RENAME, rename(b"/proc", b"/other"), Status::Busy),
        (code::WRITE_AT, write_at(b"/dev/console", 0, b"x", false), Status::Inval),
        (code::WRITE_AT, write_at(b"/dev/null", 0, b"x", false), Status::Inval),
        (code::READ, read_at(b"/dev/zero", 0), Status::Inval),
        (code::TRUNCATE, truncate(b"/dev/null", 0), Status::Inval),
    ] {
        assert_eq!(peer.call(code, &payload).0, status, "{code:#06x} {}", payload.escape_ascii());
    }
    peer.ok(code::UNLINK, b"/tmp/victim");
    drop(peer);
    askr.run("rm -r /tmp/loop /tmp/full /tmp/file");
}

#[test]
fn what_cannot_be_written_says_so() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for (code, payload) in [
        (code::WRITE, write(b"/proc/version", b"x")),
        (code::WRITE_AT, write_at(b"/proc/version", 0, b"x", false)),
        (code::WRITE_AT, write_at(b"/proc/new", 0, b"x", false)),
        (code::TRUNCATE, truncate(b"/proc/version", 0)),
        (code::MKDIR, b"/proc/new".to_vec()),
        (code::UNLINK, b"/proc/version".to_vec()),
        (code::RMDIR, b"/proc/1".to_vec()),
        (code::RENAME, rename(b"/proc/version", b"/proc/other")),
        (code::UNLINK, b"/dev/null".to_vec()),
        (code::MKDIR, b"/dev/new".to_vec()),
    ] {
        assert_eq!(peer.call(code, &payload).0, Status::RoFs, "{code:#06x} {}", payload.escape_ascii());
    }
}

#[test]
fn a_payload_that_is_not_its_message_is_refused() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let flag = {
        let mut payload = write_at(b"/tmp/x", 0, b"x", false);
        payload[8] = 2;
        payload
    };
    for (code, payload) in [
        (code::RENAME, &b"\x09\0/tmp/a"[..]),
        (code::RENAME, b""),
        (code::TRUNCATE, b"\0\0\0"),
        (code::WRITE_AT, b"\0\0\0\0\0\0\0\0\0"),
        (code::WRITE_AT, &flag),
        (code::READDIR, b"/"),
        (code::UPTIME, b"x"),
        (code::TIME, b"x"),
        (code::MEMINFO, b"x"),
        (code::INFO, b"x"),
        (code::POWER, b""),
        (code::POWER, b"\x02"),
        (code::POWER, b"\0\0"),
    ] {
        assert_eq!(peer.call(code, payload).0, Status::Inval, "{code:#06x} {}", payload.escape_ascii());
    }
    // A base peer gets the same answer for all that needs a session.
    peer.set_session(None);
    for code in
        (code::POWER..=code::POWER).chain(code::RENAME..=code::READDIR).chain(code::UPTIME..=code::INFO)
    {
        assert_eq!(peer.path_status(code, b"/tmp"), Status::Inval, "{code:#06x}");
    }
}
