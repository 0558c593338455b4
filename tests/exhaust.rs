//! A program may take all there is: the rest goes on, the person at the shell can end it, and everything comes back.

mod common;

use std::time::Instant;

use askr::Machine;
use common::PATIENCE;
use common::program::program;
use common::shell::{Askr, Shared, number_after};

/// The smallest machine.
static SMALL: Shared =
    Shared::new(|| Machine::new().memory_mib(32).with(program("bomb")).with(program("take")));

/// Free memory in KiB.
#[track_caller]
fn free(askr: &mut Askr) -> u64 {
    number_after(&askr.run("cat /proc/meminfo"), "MemFree:")
}

/// Page tables of the kernel's that stay for the next time that there are so many processes, and stacks that are kept for the
/// next ones, in KiB.
const KEPT: u64 = 128;

/// Waits until as much is free as before.
#[track_caller]
fn is_back(askr: &mut Askr, before: u64) {
    let until = Instant::now() + PATIENCE;
    loop {
        let now = free(askr);
        if now + KEPT >= before {
            return;
        }
        assert!(Instant::now() < until, "{before} KiB were free, and now {now} KiB");
        askr.run("sleep 0.1");
    }
}

#[test]
fn the_largest_process_ends_when_memory_is_used_up() {
    let mut askr = SMALL.take();
    let before = free(&mut askr);
    // Alone: it is the largest itself.
    let shown = askr.run("hog");
    let told = |line: &&str| line.starts_with("out of memory for process ");
    let killed = shown.lines().find(told).unwrap_or_else(|| panic!("{shown}"));
    assert!(killed.contains("hog[") && killed.contains("] is killed, ") && killed.len() <= 80, "{killed:?}");
    is_back(&mut askr, before);
    // Another one is larger: it ends, and who asked goes on.
    let half = before / 1024 / 2;
    askr.start(&format!("hog {}M &", half + 1));
    askr.expect("taken, as wanted\r\n");
    askr.settle();
    let shown = askr.run(&format!("hog -x {half}M"));
    assert!(shown.contains("taken, as wanted\r\n"), "{shown}");
    assert_eq!(shown.matches("out of memory").count(), 1, "{shown}");
    askr.run("wait");
    is_back(&mut askr, before);
}

#[test]
fn a_fork_bomb_in_the_foreground_ends_with_one_key() {
    let mut askr = SMALL.take();
    let before = free(&mut askr);
    askr.start("bomb");
    askr.expect("refused\r\n");
    askr.settle();
    assert_eq!(askr.run("uname"), "Askr\r\n");
    is_back(&mut askr, before);
}

#[test]
fn a_fork_bomb_in_the_background_can_be_killed_from_the_shell() {
    let mut askr = SMALL.take();
    let before = free(&mut askr);
    askr.start("bomb &");
    let pid = number_after(&askr.expect("refused\r\n"), "] ");
    askr.settle();
    for _ in 0..5 {
        assert_eq!(askr.run("uname"), "Askr\r\n");
    }
    askr.run(&format!("kill -9 -{pid}"));
    askr.run("wait");
    is_back(&mut askr, before);
    assert!(!askr.run("ps").contains("bomb"));
}

/// Seconds, by the guest's clock, that a command takes.
#[track_caller]
fn time_of(askr: &mut Askr, command: &str) -> f64 {
    let begun = askr.uptime();
    askr.run(command);
    askr.uptime() - begun
}

/// How long a command may take among two thousand programs that compute. Each turn is 10 ms, so a command that stood behind
/// all of them once would take 20 s.
const AMONG_MANY: f64 = 8.0;

#[test]
fn as_many_processes_as_there_may_be_do_not_hold_up_the_person() {
    let mut askr = Askr::boot(&Machine::new().memory_mib(512).with(program("bomb")));
    let before = free(&mut askr);
    askr.start("bomb &");
    let pid = number_after(&askr.expect("refused\r\n"), "] ");
    askr.settle();
    for command in ["uname", "uname | cat", "sh -c uname"] {
        let took = time_of(&mut askr, command);
        eprintln!("{command}: {took} s");
        assert!(took < AMONG_MANY, "{command}: {took} s");
    }
    askr.run(&format!("kill -9 -{pid}"));
    askr.run("wait");
    // The stacks of so many need more page tables, which stay.
    is_back(&mut askr, before - KEPT);
}

#[test]
fn the_last_process_numbers_are_for_the_shell() {
    // So much memory that the numbers are used up first.
    let mut askr = Askr::boot(&Machine::new().memory_mib(512).with(program("bomb")));
    askr.start("bomb &");
    let pid = number_after(&askr.expect("refused\r\n"), "] ");
    askr.settle();
    // The shell starts a program, and there is memory.
    assert!(free(&mut askr) > 64 * 1024);
    assert_eq!(askr.run(&format!("kill -9 -{pid}; echo status=$?")), "status=0\r\n");
}

#[test]
fn a_fork_bomb_that_takes_memory_too_ends_as_one_job() {
    let mut askr = SMALL.take();
    let before = free(&mut askr);
    let shown = askr.run("bomb large");
    assert!(shown.contains(": job ") && shown.contains(" is killed, "), "{shown}");
    // Those that were just made have no memory to begin with; that is no fault of theirs.
    assert!(!shown.contains(" ended by signal "), "{shown}");
    assert_eq!(askr.run("uname"), "Askr\r\n");
    is_back(&mut askr, before);
}

/// Kernel memory in use, in KiB.
#[track_caller]
fn heap_used(askr: &mut Askr) -> u64 {
    number_after(&askr.run("cat /proc/meminfo"), "KernelHeapUsed:")
}

/// What stays of the kernel's memory: room in queues that were longer, in KiB.
const KEPT_HEAP: u64 = 64;

/// One program takes so much of one kind as it gets. Then the shell works, and all is back.
#[track_caller]
fn take(kind: &str) {
    let mut askr = SMALL.take();
    askr.run("mkdir /tmp/take");
    let (before, heap) = (free(&mut askr), heap_used(&mut askr));
    let shown = askr.run(&format!("take {kind}"));
    eprintln!("{kind}: {shown}");
    // It was refused, and no panic and no report of a fault came in between; or it was the largest that there was.
    let refused = shown.contains("refused -") && number_after(&shown, "count ") > 2;
    assert!(refused || shown.contains(" is killed, "), "{kind}: {shown}");
    assert_eq!(askr.run("echo well | cat"), "well\r\n", "{kind}");
    askr.run("rm -r /tmp/take");
    is_back(&mut askr, before);
    let now = heap_used(&mut askr);
    assert!(now <= heap + KEPT_HEAP, "{kind}: {heap} KiB were in use, and now {now} KiB");
}

#[test]
fn files_and_directories_without_end_are_refused() {
    for kind in ["files", "directories", "links", "content"] {
        take(kind);
    }
}

#[test]
fn processes_without_end_are_refused_whatever_each_of_them_keeps() {
    for kind in ["nothing", "areas", "pipes", "open", "waits", "environment", "signals"] {
        take(kind);
    }
}
