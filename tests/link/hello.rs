//! HELLOs that are doubled, lost, or late.

use askr_wire::code;
use askr_wire::status::Status;

use crate::common::peer::{Peer, nonce};
use crate::{GUEST, hello, newcomer, opened, write};

#[test]
fn a_doubled_hello_opens_one_session_and_resets_nothing() {
    let mut askr = GUEST.take();
    let before = newcomer(askr.vm()).0.stats();
    let mut peer = Peer::connect(askr.vm());
    let (seq, greeting) = hello(&nonce());
    // Twice in a row, and once more after something was done.
    peer.send_raw(&[&greeting[..], &greeting].concat());
    let session = opened(&mut peer, seq);
    let (number, append) = peer.make(Some(session), code::WRITE, &write("/doubled", b"once"));
    peer.send_raw(&[&append[..], &greeting].concat());
    let first = peer.response(number, code::WRITE);
    // Only now: a copy that comes before the answer has left is served by that one answer.
    peer.send_raw(&append);
    assert_eq!((first.0, peer.response(number, code::WRITE)), (Status::Ok, first.clone()));
    peer.set_session(Some(session));
    assert_eq!(peer.read("/doubled"), b"once");
    let after = peer.stats();
    let grown = ["sessions", "hellos_repeated", "replayed"].map(|name| after[name] - before[name]);
    assert_eq!(grown, [1, 2, 1]);
    assert_eq!(peer.path_status(code::REMOVE, b"/doubled"), Status::Ok);
}

#[test]
fn a_lost_hello_may_be_sent_again_and_so_may_one_whose_answer_was_lost() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let (seq, greeting) = hello(&nonce());
    let mut damaged = greeting.clone();
    damaged[20] ^= 4;
    peer.send_raw(&[&damaged[..], &greeting].concat());
    let session = opened(&mut peer, seq);
    let (number, append) = peer.make(Some(session), code::WRITE, &write("/lost", b"once"));
    peer.send_raw(&append);
    assert_eq!(peer.response(number, code::WRITE).0, Status::Ok);
    drop(peer);

    // To the guest a connection that was lost with all that was on it is silence: the same HELLO finds the same session.
    let mut peer = Peer::connect(askr.vm());
    peer.send_raw(&greeting);
    assert_eq!(opened(&mut peer, seq), session);
    peer.send_raw(&append);
    assert_eq!(peer.response(number, code::WRITE).0, Status::Ok);
    peer.set_session(Some(session));
    // The next number is that of the request before.
    peer.make(None, code::STAT, b"/");
    assert_eq!(peer.read("/lost"), b"once");
    assert_eq!(peer.path_status(code::REMOVE, b"/lost"), Status::Ok);
}

#[test]
fn a_late_copy_of_an_old_hello_is_refused_and_the_session_goes_on() {
    let mut askr = GUEST.take();
    let mut peer = Peer::connect(askr.vm());
    let (old_seq, old) = hello(&nonce());
    peer.send_raw(&old);
    let old_session = opened(&mut peer, old_seq);
    let (seq, new) = hello(&nonce());
    peer.send_raw(&new);
    let session = opened(&mut peer, seq);
    assert_ne!(session, old_session);

    peer.set_session(Some(session));
    let before = peer.stats();
    peer.send_raw(&old);
    // A HELLO and its refusal are base frames, which have no ESTALE.
    assert_eq!(peer.response(old_seq, code::HELLO), (Status::Inval, Vec::new()));
    assert_eq!(peer.path_status(code::STAT, b"/"), Status::Ok, "the newer session is the current one");
    let after = peer.stats();
    assert_eq!(["sessions", "stale"].map(|name| after[name] - before[name]), [0, 1]);
    peer.set_session(Some(old_session));
    assert_eq!(peer.path_status(code::MKDIR, b"/late"), Status::Stale);
}

#[test]
fn a_hello_that_the_guest_hears_of_late_for_the_first_time_ends_the_session_and_its_owner_is_told() {
    let mut askr = GUEST.take();
    let (mut peer, session) = newcomer(askr.vm());
    let (late_seq, late) = hello(&nonce());
    let (number, mkdir) = peer.make(Some(session), code::MKDIR, b"/ended");
    peer.send_raw(&[late, mkdir].concat());
    let late_session = opened(&mut peer, late_seq);
    assert_ne!(late_session, session);
    assert_eq!(peer.response(number, code::MKDIR), (Status::Stale, Vec::new()));
    peer.set_session(Some(late_session));
    assert_eq!(peer.path_status(code::STAT, b"/ended"), Status::NoEnt);
}
