//! Signals and process control: the same programs run here, on Linux, and in the guest, and have to say the same.

mod common;

use std::process::{Command, Stdio};

use askr::Machine;
use common::program::{Link, compiled, program};
use common::shell::{Askr, Shared};

static GUEST: Shared = Shared::new(|| Machine::new().with(program("signals")).with(program("children")));

/// What `NAME PART` prints on Linux, with the line ends of a terminal.
fn on_linux(name: &str, part: &str) -> String {
    let path = compiled(name, name, Link::Static);
    let output = Command::new(path).arg(part).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{name} {part}: {:?}", output.status);
    String::from_utf8(output.stdout).unwrap().replace('\n', "\r\n")
}

/// What it prints in the guest, without what the kernel reports about it.
fn in_guest(askr: &mut Askr, name: &str, part: &str) -> String {
    let shown = askr.run(&format!("{name} {part}"));
    let of_kernel = [format!("{name}["), "  ".to_owned()];
    let registers = ["rax ", "rsi ", "r8  ", "r12 "];
    let is_report = |line: &str| {
        of_kernel.iter().any(|start| line.starts_with(start.as_str()))
            || registers.iter().any(|start| line.starts_with(start) && line.len() > 60)
    };
    shown.split_inclusive('\n').filter(|line| !is_report(line)).collect()
}

/// Runs the parts of a program on both sides.
fn compare(name: &str, parts: &[&str]) {
    let mut askr = GUEST.take();
    for part in parts {
        let expected = on_linux(name, part);
        assert!(expected.ends_with("done\r\n"), "{part}: {expected}");
        assert_eq!(in_guest(&mut askr, name, part), expected, "{name} {part}");
    }
}

#[test]
fn handlers_run_when_and_how_linux_runs_them() {
    compare("signals", &["told", "refused", "blocked", "nesting", "altstack"]);
}

#[test]
fn faults_reach_a_handler_with_what_linux_tells() {
    compare("signals", &["faults", "unhandled", "overflow"]);
}

#[test]
fn a_handler_keeps_and_changes_registers_and_nothing_else() {
    compare("signals", &["vectors", "forged"]);
}

#[test]
fn calls_that_wait_are_interrupted_or_go_on() {
    compare("signals", &["interrupted", "suspended"]);
}

#[test]
fn children_stop_go_on_and_end_as_on_linux() {
    compare("children", &["stopped", "stops", "through", "unwaited"]);
}

#[test]
fn groups_and_sessions_have_the_rules_of_linux() {
    compare("children", &["groups", "orphaned", "misuse"]);
}

#[test]
fn every_child_of_many_is_reported_right() {
    compare("children", &["many"]);
}

#[test]
fn programs_start_as_on_linux() {
    compare("children", &["borrowed", "executed"]);
}
