//! Clients that come and go in the middle of things.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use askr::Vm;
use askr_wire::message::HelloReply;
use askr_wire::status::Status;
use askr_wire::{Deframer, FrameType, Message, SessionId, code};

use crate::common::PATIENCE;
use crate::common::peer::{Peer, com2, counters, frame, nonce};
use crate::{GUEST, hello, meets_nobody, newcomer, opened, reads};

/// Clients that come and go.
const CLIENTS: usize = 1000;
/// KiB of memory that may be used for what comes and goes.
const SLACK: u64 = 32;
/// How often each way of leaving something behind is tried: when QEMU notices that a client has left is up to it.
const TRIES: usize = 4;

/// Comes, does something of its own, and goes. Returns once it has gone.
fn passer_by(vm: &Vm, way: usize) {
    let mut stream = com2(vm);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (_, hello) = hello(&nonce());
    match way {
        0 => {}
        // Gone in the middle of what it says.
        1 => stream.write_all(&hello[..hello.len() / 2]).unwrap(),
        2 => stream.write_all(b"no frame at all, and no end to it").unwrap(),
        // Gone without hearing the answer, and in the middle of it.
        3 => stream.write_all(&hello).unwrap(),
        4 => {
            stream.write_all(&hello).unwrap();
            stream.read_exact(&mut [0; 7]).unwrap();
        }
        5 => stream.write_all(&reads(None)).unwrap(),
        6 => {
            stream.write_all(&reads(None)).unwrap();
            stream.read_exact(&mut [0; 1500]).unwrap();
        }
        7 => stream.shutdown(Shutdown::Write).unwrap(),
        _ => {
            drop(stream);
            let (peer, session) = newcomer(vm);
            peer.send_raw(&reads(Some(session)));
            peer.send_raw(&frame(FrameType::Request, 9, code::MKDIR, Some(session), b"/half")[..20]);
        }
    }
}

#[test]
fn a_thousand_clients_come_and_go_and_the_next_one_is_served_at_once() {
    let mut askr = GUEST.take();
    let begun = newcomer(askr.vm()).0.stats()["sessions"];
    let memory = askr.memory();
    for client in 0..CLIENTS {
        passer_by(askr.vm(), client % 9);
        // After each way of going, and in between long rows of them.
        if client % 25 == 0 {
            let (mut peer, session) = newcomer(askr.vm());
            meets_nobody(&mut peer, session);
        }
    }
    let (mut peer, session) = newcomer(askr.vm());
    meets_nobody(&mut peer, session);
    let stats = peer.stats();
    assert!(stats["sessions"] - begun >= (CLIENTS / 9 + CLIENTS / 25) as u64, "{stats:?}");
    assert_eq!(stats["rx_overruns"], 0);
    assert!(askr.run("hello").starts_with("hello from pid "));
    assert_eq!(peer.path_status(code::STAT, b"/half"), Status::NoEnt);
    askr.expect_memory(memory, SLACK);
}

#[test]
fn a_new_client_never_meets_the_bytes_of_an_old_one() {
    let mut askr = GUEST.take();
    for _ in 0..TRIES {
        // Half a request in the guest's receiver, of which the other half comes from the next client.
        let (peer, session) = newcomer(askr.vm());
        let halved = frame(FrameType::Request, 1, code::MKDIR, Some(session), b"/halved");
        let (half, rest) = halved.split_at(halved.len() / 2);
        peer.send_raw(half);
        drop(peer);
        let mut peer = Peer::connect(askr.vm());
        let (seq, greeting) = hello(&nonce());
        peer.send_raw(&[&greeting, rest].concat());
        let session = opened(&mut peer, seq);
        peer.set_session(Some(session));
        meets_nobody(&mut peer, session);
        assert_eq!(peer.path_status(code::STAT, b"/halved"), Status::NoEnt);
        drop(peer);

        // Answers that nobody read: on the line, in the guest's ring and in line behind it, until it stands still.
        for in_session in [true, false] {
            let stalls = |text: &str| counters(text)["link_stalls"];
            let (before, until) = (stalls(&askr.run("cat /proc/bus")), Instant::now() + PATIENCE);
            let mut stream = com2(askr.vm());
            let session = in_session.then(|| {
                stream.write_all(&hello(&nonce()).1).unwrap();
                session_in(&mut stream)
            });
            while stalls(&askr.run("cat /proc/bus")) == before {
                assert!(Instant::now() < until, "the line never stood still");
                stream.write_all(&reads(session)).unwrap();
            }
            stream.write_all(&[reads(session), hello(&nonce()).1].concat()).unwrap();
            drop(stream);
            let (mut peer, session) = newcomer(askr.vm());
            meets_nobody(&mut peer, session);
        }
    }
}

/// Reads the answer to HELLO, and not a byte more.
fn session_in(stream: &mut UnixStream) -> SessionId {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut deframer = Box::new(Deframer::new());
    loop {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        if let Some(Ok(frame)) = deframer.push(byte[0])
            && frame.code == code::HELLO
        {
            return HelloReply::decode(&frame.payload[1..]).unwrap().session;
        }
    }
}

#[test]
fn an_ask_goes_over_to_the_new_client_and_an_answer_of_the_old_session_does_not() {
    let mut askr = GUEST.take();
    let (mut old, old_session) = newcomer(askr.vm());
    askr.start("ask who decides");
    let asked = old.ask();
    assert_eq!(asked.session.map(|(id, _)| id), Some(old_session));
    drop(old);
    let (mut peer, session) = newcomer(askr.vm());
    let again = peer.ask();
    assert_eq!((again.seq, &again.payload[..]), (asked.seq, &b"who decides"[..]));
    assert_eq!(again.session.map(|(id, _)| id), Some(session));
    let stale = peer.stats()["stale"];
    peer.send_raw(&frame(FrameType::DecisionResp, asked.seq, asked.code, Some(old_session), b"the old one"));
    assert_eq!(peer.stats()["stale"], stale + 1);
    peer.send_frame(FrameType::DecisionResp, again.seq, again.code, b"the new one");
    assert_eq!(askr.finish(), "answer: the new one\r\ndecided by: agent\r\n");
}
