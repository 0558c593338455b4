//! Files, directories, descriptors and pipes as a C program sees them.

mod common;

use askr::Machine;
use common::program::program;
use common::shell::Shared;

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
