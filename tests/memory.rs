//! Memory of programs: copies on write, the calls of `mmap`'s family, limits.

mod common;

use askr::Machine;
use common::program::program;
use common::shell::Shared;

static GUEST: Shared = Shared::new(|| Machine::new().with(program("memory")));

/// Runs one part of `memory.c`, which prints a line for each check that fails. The faults of its children are wanted, and
/// their reports are not looked at.
#[track_caller]
fn part(name: &str) {
    let mut askr = GUEST.take();
    let shown = askr.run(&format!("memory {name}"));
    assert!(shown.ends_with("all well\r\n") && !shown.contains("BAD"), "{shown}");
}

#[test]
fn a_write_after_fork_is_seen_on_its_own_side_only() {
    part("copies");
}

#[test]
fn memory_calls_say_what_is_wrong_as_the_manual_does() {
    part("errors");
}

#[test]
fn memory_is_mapped_protected_and_given_back_where_the_program_says() {
    part("places");
}

#[test]
fn memory_grows_and_moves_with_its_content() {
    part("moves");
}

#[test]
fn shared_memory_is_shared_with_children() {
    part("shared");
}

#[test]
fn limits_hold_and_are_inherited() {
    part("limits");
}
