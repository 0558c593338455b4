//! A peer at the data door that does not read.

use std::time::Instant;

use askr_wire::code;
use askr_wire::message::{PingRequest, ReadRequest};
use host_bridge::link::Door;

use crate::GUEST;
use crate::common::PATIENCE;
use crate::common::peer::{Peer, bytes, counters, door};

/// Requests that are sent between two looks.
const REQUESTS: usize = 64;

#[test]
fn a_peer_that_does_not_read_there_harms_nobody_and_finds_every_frame_whole() {
    let mut askr = GUEST.take();
    let stalls = counters(&askr.run("cat /proc/bus"))["link_stalls"];
    let mut parked = Peer::over(door(askr.vm(), Door::Data));
    let read = bytes(&ReadRequest { offset: 0, len: u32::MAX, path: b"/bin/sh" });
    let until = Instant::now() + PATIENCE;
    // As much as the socket and the guest's own buffers hold.
    while counters(&askr.run("cat /proc/bus"))["link_stalls"] == stalls {
        assert!(Instant::now() < until, "the door never stood still");
        (0..REQUESTS).for_each(|_| _ = parked.send(code::READ, &read));
    }
    // Nothing of it is in the way of who speaks at the other door.
    let mut peer = Peer::in_session(askr.vm());
    for _ in 0..20 {
        assert!(peer.read("/bin/sh").starts_with(b"\x7fELF"));
    }
    assert!(askr.run("hello").starts_with("hello from pid "));
    assert!(askr.run("cat /proc/bus").contains("stalled true\r\n"));

    parked.begin_to_read();
    parked.hello();
    parked.ok(code::PING, &bytes(&PingRequest { counter: 1 }));
    assert_eq!(parked.errors, [], "the device has what waits, so nothing is cut");
    assert!(askr.run("cat /proc/bus").contains("stalled false\r\n"));
}
