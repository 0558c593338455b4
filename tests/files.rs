//! Files, directories, descriptors and pipes as a C program sees them.

mod common;

use askr::Machine;
use common::program::program;
use common::shell::{Shared, number_after};

static GUEST: Shared =
    Shared::new(|| ["pipes", "tree"].map(program).into_iter().fold(Machine::new(), Machine::with));

#[test]
fn descriptors_pipes_and_poll_do_what_the_manual_says() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("pipes"), "pipes are well\r\n");
}

#[test]
fn names_directories_and_attributes_do_what_the_manual_says() {
    let mut askr = GUEST.take();
    assert_eq!(askr.run("tree /tmp/tree"), "the tree is well\r\n");
}

#[test]
fn messages_of_the_kernel_are_kept_and_what_is_lost_is_counted() {
    let mut askr = GUEST.take();
    let crash = askr.run("crash null");
    let line = crash.lines().find(|line| line.contains("ended by signal 11")).unwrap().trim_end();
    assert!(askr.run("cat /proc/kmsg").contains(line), "{line}");
    // Each leaves some hundred bytes in a ring of 32 KiB.
    for _ in 0..12 {
        askr.run(&"crash null; ".repeat(12));
    }
    let kept = askr.run("cat /proc/kmsg");
    assert!(number_after(&kept, "[") > 0, "{kept}");
    assert!(kept.lines().next().unwrap().ends_with(" bytes of older messages are lost]"), "{kept}");
    assert!(!kept.contains(line) && kept.len() <= 40 * 1024);
}

#[test]
fn a_file_system_tells_whether_it_can_be_written() {
    let mut askr = GUEST.take();
    let mounts = askr.run("cat /proc/mounts");
    for line in ["none / ramfs rw 0 0\r\n", "none /dev devfs ro 0 0\r\n", "none /proc procfs ro 0 0\r\n"] {
        assert!(mounts.contains(line), "{line:?} in {mounts}");
    }
}
