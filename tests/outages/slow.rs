//! A peer that gives and takes ten bytes a second.

use std::time::{Duration, Instant};

use askr::Machine;
use askr_wire::Message;
use askr_wire::code;
use askr_wire::message::{PingRequest, ReadReply, ReadRequest};
use askr_wire::status::Status;

use crate::common::peer::{Peer, bytes, counters};
use crate::common::shell::Askr;
use crate::{SLACK, is_served};

/// Answers that it takes slowly, all outstanding at once.
const READS: u64 = 6;
/// Bytes of each.
const PIECE: u32 = 4000;

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
    peer.read_slowly(true);
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
    peer.read_slowly(false);
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

fn stalls(text: &str) -> u64 {
    counters(text)["link_stalls"]
}
