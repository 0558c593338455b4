//! POWER: the answer comes, the disk is written, the machine ends.

use std::fs;
use std::path::Path;

use askr::{Disk, Exit, Machine};
use askr_wire::code;
use askr_wire::message::{PowerAction, PowerRequest};
use askr_wire::status::Status;

use super::{Peer, bytes, disk, download, stream, write_at};
use crate::common::PATIENCE;
use crate::common::peer::nonce;
use crate::common::shell::Askr;

fn power(action: PowerAction) -> Vec<u8> {
    bytes(&PowerRequest { action })
}

#[test]
fn power_off_answers_and_nothing_that_was_written_is_lost() {
    let image = disk("power.img", 4 << 20);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("power.img");
    for action in [PowerAction::Off, PowerAction::Reboot] {
        let mut askr = Askr::boot(&Machine::new().disk(image.clone()));
        let mut peer = Peer::in_session(askr.vm());
        let name = format!("/disk/{action:?}").into_bytes();
        // Without a sync: it is in memory only until the machine goes off.
        let pieces = (0..32_u8).map(|n| write_at(&name, u64::from(n) * 1024, &[n; 1024], false));
        assert!(stream(&mut peer, code::WRITE_AT, pieces).all(|(status, _)| status == Status::Ok));
        peer.ok(code::POWER, &power(action));
        let wanted = if action == PowerAction::Off { Exit::PowerOff } else { Exit::Reset };
        assert_eq!(askr.exit(PATIENCE).unwrap(), wanted);
    }
    drop(image);
    let mut askr = Askr::boot(&Machine::new().disk(Disk::open(&path, false).unwrap()));
    let mut peer = Peer::in_session(askr.vm());
    let expected: Vec<u8> = (0..32).flat_map(|n| [n; 1024]).collect();
    for name in [&b"/disk/Off"[..], b"/disk/Reboot"] {
        assert!(download(&mut peer, name, expected.len()) == expected, "{}", name.escape_ascii());
    }
    askr.power_off();
    fs::remove_file(path).unwrap();
}

/// A base peer has no such verb, and who does not read the answer does not keep the machine on.
#[test]
fn power_off_waits_for_no_host_that_does_not_read() {
    let mut askr = Askr::boot(&Machine::new());
    let session = {
        let mut peer = Peer::connect(askr.vm());
        assert_eq!(peer.call(code::POWER, &power(PowerAction::Off)).0, Status::Inval);
        peer.hello_with(&nonce()).session
    };
    let peer = Peer::connect_without_reading(askr.vm());
    peer.set_session(Some(session));
    // The line stands still after a few hundred bytes.
    for _ in 0..4 {
        peer.send(code::READ, &super::read_at(b"/bin/sh", 0));
    }
    peer.send(code::POWER, &power(PowerAction::Off));
    assert_eq!(askr.exit(PATIENCE).unwrap(), Exit::PowerOff);
}
