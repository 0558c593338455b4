//! More requests than may be outstanding.

use askr_wire::code;
use askr_wire::message::{WriteMode, WriteRequest};
use askr_wire::status::Status;

use crate::GUEST;
use crate::common::jobs::{LONG, Start, wait_bytes};
use crate::common::peer::{Peer, bytes};

#[test]
fn what_was_refused_beyond_the_window_is_done_when_it_comes_again_and_once() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let window = peer.hello().window;
    peer.keep_alive();
    let (job, pid) = peer.spawn(Start::program("/bin/sleep", &["1000"]));
    let waits: Vec<_> = (0..window).map(|_| peer.send(code::WAIT, &wait_bytes(job, LONG))).collect();
    let write = WriteRequest { mode: WriteMode::Append, path: b"/refused", data: b"once\n" };
    let (seq, append) = peer.make(peer.session(), code::WRITE, &bytes(&write));
    for _ in 0..3 {
        peer.send_raw(&append);
        assert_eq!(peer.response(seq, code::WRITE), (Status::Busy, Vec::new()));
    }
    assert!(peer.ping(4711).uptime_ns > 0, "a ping takes no place");
    assert!(askr.run("cat /refused").contains("No such file"));

    // The requests before it end with the job, and there is room.
    askr.run(&format!("kill {pid}"));
    for wait in waits {
        assert_eq!(peer.response(wait, code::WAIT).0, Status::Ok);
    }
    for _ in 0..3 {
        peer.send_raw(&append);
        assert_eq!(peer.response(seq, code::WRITE), (Status::Ok, vec![5, 0, 0, 0]));
    }
    assert_eq!(askr.run("cat /refused; rm /refused"), "once\r\n");
}
