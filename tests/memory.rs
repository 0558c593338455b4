//! Memory of programs: copies on write, the calls of `mmap`'s family, limits.

mod common;

use askr::Machine;
use common::program::program;
use common::shell::{Shared, number_after};

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
fn memory_that_is_lent_goes_back_to_whom_it_came_from() {
    part("vfork");
}

#[test]
fn limits_hold_and_are_inherited() {
    part("limits");
}

/// What the shell itself may take meanwhile, in KiB: a page. A frame for each of 500 programs would be 2000 KiB, and
/// the smallest block of the heap for each of them 8 KiB.
const OWN: u64 = 4;

/// Starts a program 500 times so often, and compares what the kernel has before and after.
#[track_caller]
fn spawn_500(times: u32) {
    let mut askr = GUEST.take();
    // The first ones leave what later ones use again.
    askr.run("memory n 20 /bin/true");
    let before = askr.run("cat /proc/meminfo");
    for _ in 0..times {
        let shown = askr.run("memory n 500 /bin/true");
        assert!(shown.ends_with("all well\r\n") && !shown.contains("BAD"), "{shown}");
    }
    let after = askr.run("cat /proc/meminfo");
    eprintln!("{before}{after}");
    for counter in ["MemFree:", "KernelHeapUsed:"] {
        let lost = number_after(&before, counter).abs_diff(number_after(&after, counter));
        assert!(lost <= OWN, "{counter} {before}{after}");
    }
}

#[test]
fn five_hundred_programs_leave_nothing_behind() {
    spawn_500(1);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_programs_leave_nothing_behind() {
    spawn_500(20);
}
