//! Peers that give and take little at a time.

use std::time::{Duration, Instant};

use askr::Machine;
use askr_wire::message::{PingRequest, ReadReply, ReadRequest};
use askr_wire::status::Status;
use askr_wire::{FrameType, Message, code};
use host_bridge::link::OwnedFrame;

use crate::common::peer::{BYTE_PAUSE, Peer, bytes, counters};
use crate::common::shell::Askr;
use crate::{GUEST, SLACK, is_served, until};

/// Answers that it takes slowly, all outstanding at once.
const READS: u64 = 6;
/// Bytes of each.
const PIECE: u32 = 4000;

/// After how long without progress the guest takes its line for stalled.
const STALL: Duration = Duration::from_secs(1);

#[test]
fn a_peer_of_ten_bytes_a_second_is_served_and_holds_up_nobody() {
    ten_bytes_a_second(Duration::from_secs(5));
}

#[test]
#[ignore = "takes over a minute"]
fn a_peer_of_ten_bytes_a_second_is_served_for_a_minute() {
    ten_bytes_a_second(Duration::from_secs(60));
}

fn piece(index: u64) -> Vec<u8> {
    bytes(&ReadRequest { offset: index * u64::from(PIECE), len: PIECE, path: b"/bin/sh" })
}

fn ten_bytes_a_second(time: Duration) {
    let mut askr = Askr::boot(&Machine::new());
    let mut peer = Peer::connect(askr.vm());
    peer.hello();
    let expected: Vec<_> = (0..READS).map(|index| peer.ok(code::READ, &piece(index))).collect();
    assert!(expected.iter().all(|body| ReadReply::decode(body).unwrap().data.len() == PIECE as usize));
    let (memory, stalls) = (askr.memory(), stalls(&askr.run("cat /proc/bus")));

    // A request and its answer.
    peer.read_slowly(BYTE_PAUSE);
    let (seq, stat) = peer.make(peer.session(), code::STAT, b"/");
    peer.send_slowly(&stat);
    assert_eq!(peer.response(seq, code::STAT).0, Status::Ok);
    // Many answers, of which the guest gets rid of a few bytes at a time.
    let reads: Vec<_> =
        (0..READS).map(|index| peer.make(peer.session(), code::READ, &piece(index))).collect();
    reads.iter().for_each(|(_, read)| peer.send_raw(read));
    let until = Instant::now() + time;
    let mut counter = 0;
    while Instant::now() < until {
        counter += 1;
        let (_, ping) = peer.make(peer.session(), code::PING, &bytes(&PingRequest { counter }));
        peer.send_slowly(&ping);
        is_served(&mut askr);
    }

    // What the line did not take in time was given up, and is had again.
    peer.read_slowly(Duration::ZERO);
    assert_eq!(peer.ping(counter + 1).previous_counter, counter);
    for ((seq, read), wanted) in reads.iter().zip(expected) {
        peer.send_raw(read);
        let answer = peer.response(*seq, code::READ);
        assert!(answer == (Status::Ok, wanted), "request {seq}");
    }
    let given_up = self::stalls(&askr.run("cat /proc/bus")) - stalls;
    assert!(peer.errors.len() as u64 <= given_up, "{given_up} were given up, broken: {:?}", peer.errors);
    is_served(&mut askr);
    askr.expect_memory(memory, SLACK);
}

#[test]
fn an_answer_that_takes_long_on_a_line_that_goes_on_comes_whole() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    peer.hello();
    peer.read_slowly(Duration::from_millis(1));
    // Where others use the processors the peer itself may stand still for too long; then once more.
    until("a whole answer", || {
        let read = ReadRequest { offset: 0, len: PIECE / 2, path: b"/bin/sh" };
        let (begin, seq) = (Instant::now(), peer.send(code::READ, &bytes(&read)));
        let is_answer = |frame: &OwnedFrame| frame.kind == FrameType::Response && frame.seq == seq;
        let answer = peer.find(8 * STALL, is_answer);
        assert!(answer.is_none() || begin.elapsed() > STALL, "that was not slow");
        answer.is_some_and(|answer| answer.frame.payload.len() > PIECE as usize / 2)
    });
}

fn stalls(text: &str) -> u64 {
    counters(text)["link_stalls"]
}
