//! Damaged programs and random system calls: they end with an error, a signal or an exit, and the rest lives and has all
//! it had.

mod common;

use askr::{ExtraFile, Machine};
use common::program::{Link, compiled, program};
use common::shell::{Askr, Shared, number_after};

static GUEST: Shared = Shared::new(|| {
    let own = ["storm", "mutants"].map(program);
    let bases = [("base", Link::Static), ("base-pie", Link::StaticPie)]
        .map(|(name, link)| ExtraFile { host: compiled("greet", name, link), guest: format!("/bin/{name}") });
    // The kernel's reports of hundreds of faults would hide what the programs say.
    own.into_iter().chain(bases).fold(Machine::new().word("log=debugcon"), Machine::with)
});

/// Damaged programs that are started.
const MUTANTS: u64 = 500;
/// Seconds of random system calls.
const STORM_SECONDS: u64 = 60;
/// What may be used more after than before, in KiB: the kernel's tables grow once, and the memory of a page table or
/// of an open file is given back in larger pieces.
const SLACK_KIB: u64 = 512;

/// What the kernel has in use: frames and heap in KiB, and processes.
#[derive(Debug)]
struct InUse {
    free: u64,
    heap: u64,
    processes: usize,
}

fn in_use(askr: &mut Askr) -> InUse {
    let memory = askr.run("cat /proc/meminfo");
    let processes = askr.run("ps").lines().count();
    InUse {
        free: number_after(&memory, "MemFree:"),
        heap: number_after(&memory, "KernelHeapUsed:"),
        processes,
    }
}

/// The shell works, and nothing is missing that was there before.
fn is_as_before(askr: &mut Askr, before: &InUse) {
    assert_eq!(askr.run("echo well"), "well\r\n");
    assert!(askr.run("hello").starts_with("hello from pid "));
    let after = in_use(askr);
    assert!(after.free + SLACK_KIB >= before.free, "frames: {before:?}, then {after:?}");
    assert!(after.heap <= before.heap + SLACK_KIB, "heap: {before:?}, then {after:?}");
    assert_eq!(after.processes, before.processes, "processes: {before:?}, then {after:?}");
}

#[test]
fn five_hundred_damaged_programs_harm_nobody() {
    let mut askr = GUEST.take();
    askr.run("mutants 8 /bin/base /bin/base-pie");
    let before = in_use(&mut askr);
    let shown = askr.run(&format!("mutants {MUTANTS} /bin/base /bin/base-pie"));
    let ends = ["exited ", "signalled ", "refused ", "ended "].map(|end| number_after(&shown, end));
    eprintln!("{shown}");
    assert_eq!(ends.iter().sum::<u64>(), MUTANTS, "{shown}");
    // Mutations that all end in the same way would reach only one check.
    assert!(ends[..3].iter().all(|&count| count > MUTANTS / 100), "{shown}");
    is_as_before(&mut askr, &before);
}

#[test]
fn a_minute_of_random_system_calls_harms_nobody() {
    let mut askr = GUEST.take();
    askr.run("storm 2");
    let before = in_use(&mut askr);
    let shown = askr.run(&format!("storm {STORM_SECONDS}"));
    eprintln!("{shown}");
    assert!(number_after(&shown, "children ") > 20 && number_after(&shown, "calls ") > 2_000, "{shown}");
    assert!(number_after(&shown, "succeeded ") > 500, "{shown}");
    is_as_before(&mut askr, &before);
}
