//! The link under stress: broken frames among good ones, clients that come and go in the middle of things, and HELLOs
//! that are late, doubled or lost. Whoever speaks properly gets the right answer, and never one meant for another.

#[path = "../common/mod.rs"]
mod common;

mod bridge;
mod clients;
mod hello;
mod storm;

use askr::{Machine, Vm};
use askr_wire::message::{
    HelloReply, HelloRequest, PingReply, PingRequest, ReadRequest, WriteMode, WriteRequest,
};
use askr_wire::status::Status;
use askr_wire::{FrameType, Message, SessionId, code};
use common::peer::{Peer, Received, bytes, frame, nonce};
use common::shell::Shared;

static GUEST: Shared = Shared::new(Machine::new);

/// Most requests outstanding: what the guest takes, of a session or of base peers.
const OUTSTANDING: usize = 8;

pub(crate) fn write(path: &str, data: &[u8]) -> Vec<u8> {
    bytes(&WriteRequest { mode: WriteMode::Append, path: path.as_bytes(), data })
}

pub(crate) fn read(path: &str, offset: usize, len: usize) -> Vec<u8> {
    let (offset, len) = (offset as u64, u32::try_from(len).unwrap());
    bytes(&ReadRequest { offset, len, path: path.as_bytes() })
}

/// A HELLO with a number that no other client has.
pub(crate) fn hello(nonce: &[u8; 16]) -> (u32, Vec<u8>) {
    let seq = fastrand::u32(code::REQUEST_SEQ_FIRST..code::EVENT_SEQ_FIRST);
    let request =
        HelloRequest { generation: 1, payload_limit: 4096, window: 8, nonce: *nonce, client: b"newcomer" };
    (seq, frame(FrameType::Request, seq, code::HELLO, None, &bytes(&request)))
}

/// The session that HELLO number `seq` opened. What came before the answer is of others.
#[track_caller]
pub(crate) fn opened(peer: &mut Peer, seq: u32) -> SessionId {
    loop {
        let Received { frame, .. } = peer.expect("answer to HELLO", |_| true);
        if (frame.kind, frame.seq, frame.code) == (FrameType::Response, seq, code::HELLO) {
            assert_eq!(frame.payload[0], Status::Ok as u8);
            return HelloReply::decode(&frame.payload[1..]).unwrap().session;
        }
    }
}

/// A new client that says HELLO once and gets its session.
#[track_caller]
pub(crate) fn newcomer(vm: &Vm) -> (Peer, SessionId) {
    let mut peer = Peer::connect(vm);
    let (seq, hello) = hello(&nonce());
    peer.send_raw(&hello);
    let session = opened(&mut peer, seq);
    peer.set_session(Some(session));
    (peer, session)
}

/// Reads in its own session with the numbers that each client begins with; all that comes until the last answer is its
/// own, but for answers to a base peer, which bear no session.
#[track_caller]
pub(crate) fn meets_nobody(peer: &mut Peer, session: SessionId) {
    for round in 1..=u32::try_from(OUTSTANDING).unwrap() {
        let seq = peer.send(code::READ, &read("/proc/version", 0, 4));
        loop {
            let Received { frame, .. } = peer.expect("answer", |_| true);
            let Some((id, _)) = &frame.session else {
                assert_eq!(frame.kind, FrameType::Response, "to an earlier base peer: {frame:?}");
                continue;
            };
            assert_eq!(*id, session, "of another session: {frame:?}");
            if frame.kind == FrameType::Response {
                let answer = (frame.seq, frame.code, &frame.payload[..]);
                assert_eq!(answer, (seq, code::READ, &b"\0\x04\0\0\0Askr"[..]));
                break;
            }
        }
        let body = peer.ok(code::PING, &bytes(&PingRequest { counter: round }));
        let previous = PingReply::decode(&body).unwrap().previous_counter;
        assert_eq!(previous, round - 1, "nobody else pinged in this session");
    }
}

/// Reads of a long file, as many as may be outstanding, with the first numbers of every client.
pub(crate) fn reads(session: Option<SessionId>) -> Vec<u8> {
    let read = read("/bin/sh", 0, 4096);
    let first = code::REQUEST_SEQ_FIRST;
    let all = (first..).take(OUTSTANDING);
    all.flat_map(|seq| frame(FrameType::Request, seq, code::READ, session, &read)).collect()
}
