//! What goes over COM2, from a booted kernel: the base generation byte for byte, sessions, the guard of /bin.

mod common;

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use askr::{ExtraFile, Machine};
use askr_wire::message::{FileType, PingRequest, PsRequest, ReadRequest, StatReply, WriteMode, WriteRequest};
use askr_wire::status::Status;
use askr_wire::{FrameType, Message, SessionId, code};
use common::peer::{Peer, bytes, counters};
use common::shell::{Askr, Shared};

static GUEST: Shared = Shared::new(machine);

fn machine() -> Machine {
    let host = Path::new(env!("CARGO_TARGET_TMPDIR")).join("known");
    fs::write(&host, "known\n").unwrap();
    ["/etc/known", "/listed/a", "/listed/bb"].into_iter().fold(Machine::new(), |machine, guest| {
        machine.with(ExtraFile { host: host.clone(), guest: guest.into() })
    })
}

/// One exchange of `vectors/base.txt`.
#[derive(Default)]
struct Exchange {
    name: &'static str,
    request: Vec<u8>,
    response: Vec<u8>,
}

fn exchanges() -> Vec<Exchange> {
    let mut all: Vec<Exchange> = Vec::new();
    for line in include_str!("vectors/base.txt").lines() {
        let hex = || line[2..].split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap());
        match line.get(..2) {
            Some("= ") => all.push(Exchange { name: &line[2..], ..Exchange::default() }),
            Some("> ") => all.last_mut().unwrap().request.extend(hex()),
            Some("< ") => all.last_mut().unwrap().response.extend(hex()),
            _ => {}
        }
    }
    all
}

#[test]
fn the_base_generation_is_answered_byte_for_byte() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    for Exchange { name, request, response } in exchanges() {
        peer.send_raw(&request);
        // Events of earlier commands may come between.
        let received = peer.expect(name, |frame| frame.kind == FrameType::Response);
        assert_eq!([&[0], &received.wire[..], &[0]].concat(), response, "{name}");
    }
}

#[test]
fn facts_about_a_file_have_its_size_and_times() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let write = WriteRequest { mode: WriteMode::Replace, path: b"/tmp/facts", data: b"seven b" };
    peer.ok(code::WRITE, &bytes(&write));
    let body = peer.ok(code::STAT, b"/tmp/facts");
    let facts = StatReply::decode(&body).unwrap();
    assert_eq!((facts.file_type, facts.mode, facts.size), (FileType::File, 0o644, 7));
    assert_eq!((facts.uid, facts.gid), (0, 0));
    // The guest reads the wall clock once, at boot.
    for time in [facts.mtime, facts.atime, facts.ctime] {
        assert!(time.abs_diff(now) < 120, "{time}, and it is {now}");
    }
    let from_initrd = peer.ok(code::STAT, b"/etc/known");
    let facts = StatReply::decode(&from_initrd).unwrap();
    assert_eq!((facts.file_type, facts.mode, facts.size, facts.mtime), (FileType::File, 0o644, 6, 0));
}

#[test]
fn a_long_directory_and_a_long_file_come_in_pieces() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    assert_eq!(peer.path_status(code::MKDIR, b"/many"), Status::Ok);
    for n in 0..40 {
        let path = format!("/many/{n:02}");
        let data = vec![b'x'; 700];
        for mode in [WriteMode::Replace, WriteMode::Append] {
            peer.ok(code::WRITE, &bytes(&WriteRequest { mode, path: path.as_bytes(), data: &data }));
        }
    }
    let mut counts = Vec::new();
    for start in [0, 16, 32, 40, u32::MAX] {
        let body = peer.ok(code::LIST, &[&start.to_le_bytes()[..], b"/many"].concat());
        counts.push(u16::from_le_bytes([body[0], body[1]]));
    }
    assert_eq!(counts, [16, 16, 8, 0, 0]);
    let read = |peer: &mut Peer, offset, len| {
        let body = peer.ok(code::READ, &bytes(&ReadRequest { offset, len, path: b"/many/07" }));
        body.len() - 4
    };
    // A base frame has room for 1024 bytes, of which the status and the count take five.
    assert_eq!(read(&mut peer, 0, u32::MAX), 1019);
    assert_eq!(read(&mut peer, 1019, u32::MAX), 381);
    assert_eq!(read(&mut peer, 1400, u32::MAX), 0);
    peer.hello();
    assert_eq!(read(&mut peer, 0, u32::MAX), 1400, "a session has larger frames");
}

#[test]
fn programs_are_guarded_however_their_path_is_spelled() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let session = peer.hello().session;
    for origin in [Some(session), None] {
        peer.set_session(origin);
        for path in [
            "/bin/sh",
            "/bin/x",
            "/bin/../bin/x",
            "//bin/x",
            "/bin//x",
            "/./bin/x",
            "/etc/../bin/x",
            "/../bin/x",
            "/bin/./sh",
            "/proc/self/../../bin/x",
            "/dev/../bin/x",
            "/bin/x/",
            "/bin/../../bin/sh",
        ] {
            // `/proc/self` leads nowhere here: the bus is no process.
            let refused = |status| {
                matches!(
                    status,
                    Status::Perm | Status::NoEnt | Status::NotDir | Status::Inval | Status::IsDir
                )
            };
            let write = WriteRequest { mode: WriteMode::Replace, path: path.as_bytes(), data: b"x" };
            let statuses = [
                peer.call(code::WRITE, &bytes(&write)).0,
                peer.path_status(code::MKDIR, path.as_bytes()),
                peer.path_status(code::REMOVE, path.as_bytes()),
            ];
            assert!(statuses.into_iter().all(refused), "{path}: {statuses:?}");
            if !path.contains("self") && !path.ends_with('/') {
                assert_eq!(statuses, [Status::Perm; 3], "{path}");
            }
        }
        for path in ["/bin", "/bin/", "//bin//", "/bin/."] {
            assert_ne!(peer.path_status(code::REMOVE, path.as_bytes()), Status::Ok, "{path}");
            assert_ne!(peer.path_status(code::MKDIR, path.as_bytes()), Status::Ok, "{path}");
        }
    }
    assert!(askr.run("ls /bin").contains("sh\r\n"));
    assert!(!askr.run("ls /bin").contains("\nx\r\n"));
    // What only looks like it is free.
    peer.set_session(Some(session));
    assert_eq!(peer.path_status(code::MKDIR, b"/binary"), Status::Ok);
    assert_eq!(peer.path_status(code::REMOVE, b"/bin/../binary"), Status::Ok);
    assert!(
        askr.transcript().contains("agent may not write /bin/sh: /bin and /disk/etc are protected"),
        "and it is told"
    );
}

#[test]
fn a_session_says_who_we_are_and_what_is_built() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let hello = peer.hello();
    assert_eq!((hello.kernel.as_str(), hello.version.as_str()), ("askr", env!("CARGO_PKG_VERSION")));
    assert_eq!((hello.payload_limit, hello.window), (4096, 8));
    assert!(hello.ping_ms * 2 < hello.lease_ms, "a lost ping does not end the session");
    assert_eq!(hello.verbs, code::VERBS.iter().map(|&(code, _)| code).collect::<Vec<_>>());
    assert_eq!(peer.call(0x7777, b"?").0, Status::NoSys);
    assert_eq!(peer.call(code::STAT, b"relative").0, Status::Inval);

    let first = peer.ping(11);
    let second = peer.ping(12);
    assert_eq!((first.previous_counter, second.previous_counter), (0, 11));
    assert!(second.uptime_ns > first.uptime_ns && first.uptime_ns > 0);
    assert_eq!(second.pending_asks, 0);
}

#[test]
fn statuses_that_the_base_cannot_say_come_in_a_session() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let session = peer.hello().session;
    let long = [&b"/"[..], &[b'n'; 256]].concat();
    for (path, in_session, in_base) in [
        (&b"/etc/known/x"[..], Status::NotDir, Status::Inval),
        (&long, Status::NameTooLong, Status::Inval),
        (b"/nothing", Status::NoEnt, Status::NoEnt),
    ] {
        for (id, wanted) in [(Some(session), in_session), (None, in_base)] {
            peer.set_session(id);
            assert_eq!(peer.path_status(code::STAT, path), wanted, "{}", path.escape_ascii());
        }
    }
    let write = WriteRequest { mode: WriteMode::Replace, path: b"/proc/version", data: b"x" };
    peer.set_session(Some(session));
    assert_eq!(peer.call(code::WRITE, &bytes(&write)).0, Status::RoFs);
    assert_eq!(peer.path_status(code::REMOVE, b"/listed"), Status::NotEmpty);
}

#[test]
fn a_repeated_hello_resets_nothing_and_a_new_one_ends_the_session_before() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let nonce = [0xa1; 16];
    let first = peer.hello_with(&nonce);
    assert_eq!(peer.hello_with(&nonce), first);
    peer.set_session(Some(first.session));
    assert_eq!(peer.path_status(code::STAT, b"/"), Status::Ok);

    let second = peer.hello();
    assert_ne!(second.session, first.session);
    assert_eq!(second.boot_id, first.boot_id);
    peer.set_session(Some(first.session));
    assert_eq!(peer.path_status(code::MKDIR, b"/stale"), Status::Stale);
    assert_eq!(peer.path_status(code::STAT, b"/"), Status::Stale, "nor is anything read");
    peer.set_session(Some(SessionId([9; 8])));
    assert_eq!(peer.path_status(code::MKDIR, b"/stale"), Status::Stale, "nor for a session that never was");
    peer.set_session(Some(second.session));
    assert_eq!(peer.path_status(code::STAT, b"/stale"), Status::NoEnt, "nothing was done");
}

#[test]
fn a_repeated_request_is_answered_from_memory_and_done_once() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    peer.hello();
    let append = bytes(&WriteRequest { mode: WriteMode::Append, path: b"/once", data: b"once" });
    let seq = peer.send(code::WRITE, &append);
    let first = peer.response(seq, code::WRITE);
    for _ in 0..3 {
        peer.send_frame(FrameType::Request, seq, code::WRITE, &append);
        assert_eq!(peer.response(seq, code::WRITE), first);
    }
    assert_eq!(peer.read("/once"), b"once");
    let other = bytes(&WriteRequest { mode: WriteMode::Append, path: b"/once", data: b"OTHER" });
    peer.send_frame(FrameType::Request, seq, code::WRITE, &other);
    assert_eq!(peer.response(seq, code::WRITE).0, Status::Inval, "its number was used with other bytes");
    for _ in 0..8 {
        peer.read("/once");
    }
    peer.send_frame(FrameType::Request, seq, code::WRITE, &append);
    assert_eq!(peer.response(seq, code::WRITE).0, Status::Stale, "too old to be known");
    assert_eq!(peer.read("/once"), b"once");
    assert_eq!(peer.path_status(code::REMOVE, b"/once"), Status::Ok);
    assert!(peer.stats()["replayed"] >= 3);
}

#[test]
fn the_window_takes_as_many_requests_as_it_says() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let window = peer.hello().window;
    let seqs: Vec<u32> = (0..window).map(|_| peer.send(code::PS, &bytes(&PsRequest { start: 0 }))).collect();
    for seq in seqs {
        assert_eq!(peer.response(seq, code::PS).0, Status::Ok);
    }
    let stats = peer.stats();
    assert_eq!(stats["rx_overruns"], 0, "{stats:?}");
}

#[test]
fn stats_are_those_of_proc_bus() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    peer.hello();
    let stats = peer.stats();
    let shown = counters(&askr.run("cat /proc/bus"));
    for (name, value) in &stats {
        assert!(shown.get(name).is_some_and(|shown| shown >= value), "{name}: {value}, {shown:?}");
    }
    assert!(stats["frames_in"] > 1 && stats["sessions"] > 0, "{stats:?}");
}

#[test]
fn events_tell_what_programs_do() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let cursor = peer.ping(1).event_cursor;
    askr.run("crash ud");
    let mut kinds = Vec::new();
    for _ in 0..3 {
        let event = peer.expect("event", |frame| frame.kind == FrameType::Event).frame;
        assert!(event.seq >= code::EVENT_SEQ_FIRST);
        let info = u32::from_le_bytes(event.payload[8..12].try_into().unwrap());
        kinds.push((event.code, info, String::from_utf8(event.payload[13..].to_vec()).unwrap()));
    }
    let told = [(1, 0, "crash"), (3, 6, "crash"), (2, 132, "crash")];
    assert_eq!(kinds, told.map(|(code, info, name)| (code, info, name.to_owned())));
    let body = peer.ok(code::PING, &bytes(&PingRequest { counter: 99 }));
    assert!(u64::from_le_bytes(body[6..14].try_into().unwrap()) >= cursor + 3);
}

#[test]
fn every_boot_has_an_id_of_its_own() {
    let hello = |askr: &mut Askr| Peer::connect(askr.vm()).hello_with(&[7; 16]);
    let mut shared = GUEST.take();
    let first = hello(&mut shared);
    assert_eq!(hello(&mut shared), first);
    drop(shared);
    let mut askr = Askr::boot(&machine());
    let second = hello(&mut askr);
    assert_ne!(first.boot_id, second.boot_id);
    assert_ne!(first.session, second.session, "though the nonce was the same");
}
