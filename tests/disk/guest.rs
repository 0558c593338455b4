//! What a guest does with the images that it finds, and what others notice of a slow disk.

use std::fs;

use askr::{Disk, Machine, Model};
use askr_wire::message::{PingRequest, StatReply, WriteMode, WriteRequest};
use askr_wire::{FrameType, Message, code};
use serde_json::json;

use crate::common::peer::{Peer, bytes};
use crate::common::program::program;
use crate::common::shell::{Askr, number_after};
use crate::image::{empty, files};

const SIZE: u64 = 4 << 20;
/// Requests that the slow disk serves in a second.
const SLOW: u64 = 8;

#[test]
fn a_new_image_gets_a_file_system_once_and_keeps_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let image = empty(folder.path(), SIZE);
    for (boot, model) in [Model::Q35, Model::Pc, Model::Microvm].into_iter().enumerate() {
        let disk = Disk::open(&image, false).unwrap();
        let mut askr = Askr::boot(&Machine::new().model(model).disk(disk).with(program("disk")));
        let made = askr.transcript().contains("disk: made an empty file system, 4 MiB");
        assert_eq!(made, boot == 0);
        assert!(askr.run("cat /proc/mounts").contains("none /disk littlefs rw"));
        let shown = askr.run("disk rounds 1");
        // The log goes on where it ended.
        assert!(shown.contains(&format!("L {}\r\n", boot * 6)) && shown.ends_with("done\r\n"), "{shown}");
        askr.power_off();
    }
    assert_eq!(files(fs::read(&image).unwrap())["log"].len(), 18 * 32);
}

#[test]
fn a_directory_of_many_files_is_whole_after_a_reboot() {
    let folder = tempfile::tempdir().unwrap();
    let image = empty(folder.path(), SIZE);
    let machine = || Machine::new().disk(Disk::open(&image, false).unwrap()).with(program("disk"));
    let mut askr = Askr::boot(&machine());
    assert_eq!(askr.run("disk many 200"), "done\r\n");
    askr.power_off();
    drop(askr);
    let mut askr = Askr::boot(&machine());
    let listed = askr.run("ls /disk/many");
    let expected: Vec<String> =
        (0..200).step_by(2).map(|file| format!("a name of some length {file:06}")).collect();
    let mut found: Vec<&str> = listed.lines().collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    askr.power_off();
}

#[test]
fn what_is_not_ours_is_left_as_it_is_until_the_word_comes() {
    let folder = tempfile::tempdir().unwrap();
    let image = empty(folder.path(), SIZE);
    let mut foreign = vec![0; usize::try_from(SIZE).unwrap()];
    foreign[3_000_000..3_000_004].copy_from_slice(b"mine");
    fs::write(&image, &foreign).unwrap();
    let machine = |word: Option<&str>| {
        let machine = Machine::new().disk(Disk::open(&image, false).unwrap());
        word.into_iter().fold(machine, Machine::word)
    };
    let mut askr = Askr::boot(&machine(None));
    assert!(askr.transcript().contains("disk: neither empty nor a file system of Askr"));
    assert!(askr.run("ls /disk").contains("No such file or directory"));
    askr.power_off();
    drop(askr);
    assert!(fs::read(&image).unwrap() == foreign, "the image was changed");

    let mut askr = Askr::boot(&machine(Some("disk=format")));
    assert!(askr.transcript().contains("disk: made an empty file system"));
    assert_eq!(askr.run("ls /disk"), "");
    askr.power_off();
    drop(askr);
    assert!(files(fs::read(&image).unwrap()).is_empty());
}

#[test]
fn a_file_that_is_still_open_is_whole_after_power_off() {
    let folder = tempfile::tempdir().unwrap();
    let image = empty(folder.path(), SIZE);
    let mut askr = Askr::boot(&Machine::new().disk(Disk::open(&image, false).unwrap()));
    assert_eq!(askr.run("exec 3> /disk/open; echo 'not closed' >&3"), "");
    askr.power_off();
    drop(askr);
    assert_eq!(files(fs::read(&image).unwrap())["open"], b"not closed\n");
}

#[test]
fn a_machine_without_a_disk_says_so() {
    let mut askr = Askr::boot(&Machine::new());
    assert!(askr.transcript().contains("disk: this machine has none; there is no /disk"));
    assert!(askr.run("ls /disk").contains("No such file or directory"));
    askr.power_off();
}

/// Lets the disk serve so many requests a second; 0 is as many as it can.
fn throttle(askr: &mut Askr, iops: u64) {
    let none = json!({ "device": "disk", "bps": 0, "bps_rd": 0, "bps_wr": 0, "iops": iops, "iops_rd": 0, "iops_wr": 0 });
    askr.vm().qmp("block_set_io_throttle", &none).unwrap();
}

#[test]
fn a_program_that_waits_for_the_disk_can_be_killed() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::open(&empty(folder.path(), SIZE), false).unwrap();
    let mut askr = Askr::boot(&Machine::new().disk(disk).with(program("disk")));
    askr.run("disk rounds 1");
    throttle(&mut askr, SLOW);
    let pid = number_after(&askr.run("disk load 100 &"), "] ");
    // It prints what it has done, and only the disk can hold it up.
    let killed = askr.run(&format!("kill -9 {pid}; wait {pid}; echo status=$?"));
    assert_eq!(number_after(&killed, "status="), 128 + 9, "{killed}");
    throttle(&mut askr, 0);
    assert!(askr.run("disk rounds 1").ends_with("done\r\n"));
    askr.power_off();
}

#[test]
fn a_slow_disk_holds_up_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::open(&empty(folder.path(), SIZE), false).unwrap();
    let mut askr = Askr::boot(&Machine::new().disk(disk).with(program("disk")));
    let mut peer = Peer::in_session(askr.vm());
    throttle(&mut askr, SLOW);
    let data = [b'x'; 1500];
    let write = WriteRequest { mode: WriteMode::Replace, path: b"/disk/slow", data: &data };
    // A program that waits for the disk, too, and one that computes.
    askr.start("disk rounds 1 &");
    askr.finish();
    let slow = peer.send(code::WRITE, &bytes(&write));
    let pings: Vec<u32> =
        (1..=5).map(|counter| peer.send(code::PING, &bytes(&PingRequest { counter }))).collect();
    for seq in pings {
        peer.response(seq, code::PING);
    }
    assert_eq!(askr.run("echo alive"), "alive\r\n");
    let answered = |peer: &mut Peer, seq| {
        peer.find(std::time::Duration::ZERO, |frame| frame.kind == FrameType::Response && frame.seq == seq)
            .is_some()
    };
    assert!(!answered(&mut peer, slow), "the disk was not slow");
    throttle(&mut askr, 0);
    assert_eq!(peer.response(slow, code::WRITE).0, askr_wire::status::Status::Ok);
    let stat = peer.ok(code::STAT, &bytes(&askr_wire::message::PathRequest { path: b"/disk/slow" }));
    assert_eq!(StatReply::decode(&stat).unwrap().size, 1500);
    askr.expect("done\r\n");
    askr.power_off();
}

/// `cargo test --test disk speed -- --ignored --nocapture` prints how fast it is here.
#[test]
#[ignore = "measures"]
fn speed() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::open(&empty(folder.path(), 64 << 20), false).unwrap();
    let mut askr = Askr::boot(&Machine::new().disk(disk).with(program("disk")));
    let shown = askr.run("disk speed");
    eprintln!("{shown}");
    assert!(number_after(&shown, "fsync us ") > 0);
}
