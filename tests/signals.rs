//! Signals and process control: the same programs run here, on Linux, and in the guest, and have to say the same.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use askr::{ExtraFile, Machine};
use common::program::{Link, compiled, program};
use common::shell::{Askr, Shared};

static GUEST: Shared = Shared::new(|| {
    let scripts = [
        script("script", "#! /bin/hello -x  y \nnot read"),
        script("nested", "#!/bin/script\n"),
        script("endless", "#!/bin/endless\n"),
    ];
    let programs = ["signals", "children", "front"].map(program);
    programs.into_iter().chain(scripts).fold(Machine::new(), Machine::with)
});

/// What `NAME PART` prints on Linux, with the line ends of a terminal.
fn on_linux(path: &Path, name: &str, part: &str) -> String {
    let output = Command::new(path).arg(part).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{name} {part}: {:?}", output.status);
    String::from_utf8(output.stdout).unwrap().replace('\n', "\r\n")
}

/// What it prints in the guest, without what the kernel reports about it.
fn in_guest(askr: &mut Askr, name: &str, part: &str) -> String {
    let shown = askr.run(&format!("{name} {part}"));
    let of_kernel = [format!("{name}["), "  ".to_owned()];
    let registers = ["rax ", "rdx ", "rbp ", "r9  ", "r12 ", "r15 "];
    let is_report = |line: &str| {
        of_kernel.iter().any(|start| line.starts_with(start.as_str()))
            || registers.iter().any(|start| line.starts_with(start) && line.len() > 25)
    };
    shown.split_inclusive('\n').filter(|line| !is_report(line)).collect()
}

/// Runs the parts of a program on both sides.
fn compare(name: &str, parts: &[&str]) {
    compare_with(&mut GUEST.take(), name, parts);
}

fn compare_with(askr: &mut Askr, name: &str, parts: &[&str]) {
    let path = compiled(name, &format!("{name}-here"), Link::Static);
    for part in parts {
        let expected = on_linux(&path, name, part);
        assert!(expected.ends_with("done\r\n"), "{part}: {expected}");
        assert_eq!(in_guest(askr, name, part), expected, "{name} {part}");
    }
}

#[test]
fn handlers_run_when_and_how_linux_runs_them() {
    compare("signals", &["told", "refused", "blocked", "nesting", "altstack", "queued"]);
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
    compare("signals", &["interrupted", "suspended", "alarms"]);
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
fn every_child_is_reported_right_and_can_be_killed_whatever_it_does() {
    compare("children", &["many", "deaths"]);
}

#[test]
fn programs_start_as_on_linux() {
    compare("children", &["borrowed", "executed"]);
}

#[test]
fn the_terminal_belongs_to_a_session_and_its_foreground() {
    let mut askr = GUEST.take();
    let expected = [
        ("own group", 1),
        ("own session", 1),
        ("no group", -3),
        ("negative", -22),
        ("another session", -1),
        ("has it already", 0),
        ("read", -5),
        ("foreground", -25),
        ("give", -25),
        ("acquire", -1),
        ("give up", -25),
    ];
    let lines: String = expected.iter().map(|(what, value)| format!("{what} {value}\r\n")).collect();
    assert_eq!(askr.run("front rules"), lines + "done\r\n");
}

#[test]
fn keys_stop_and_quit_the_job_in_front_and_the_background_does_not_read() {
    let mut askr = GUEST.take();
    askr.start("front jobs");
    // SIGTTIN
    assert_eq!(askr.expect("type\r\n"), "in the background 0x157f\r\n");
    askr.type_bytes(b"typed and gone\x1a").unwrap();
    assert_eq!(askr.expect("type again\r\n"), "typed and gone^Z\r\nby the key 0x147f\r\n");
    askr.type_bytes(b"a line\r").unwrap();
    assert_eq!(askr.expect("and again\r\n"), "a line\r\na line\r\nend 0x0\r\n");
    askr.type_bytes(b"\x1c").unwrap();
    let rest = "^\\\r\nend 0x3\r\nignored 0x500\r\ntaking 0x167f\r\ntaken 0x0\r\ndone\r\n";
    assert_eq!(askr.finish(), rest);
}

#[test]
fn a_processor_without_xsave_keeps_registers_too() {
    let mut askr = Askr::boot(&Machine::new().cpu("qemu64").with(program("signals")));
    compare_with(&mut askr, "signals", &["told", "vectors", "faults"]);
}

fn script(name: &str, text: &str) -> ExtraFile {
    let host = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&host, text).unwrap();
    fs::set_permissions(&host, fs::Permissions::from_mode(0o755)).unwrap();
    ExtraFile { host, guest: format!("/bin/{name}") }
}

#[test]
fn a_script_is_run_by_the_program_that_its_first_line_names() {
    let mut askr = GUEST.take();
    let shown = askr.run("script a 'b c'");
    let arguments = "argv[0] = /bin/hello\r\nargv[1] = -x  y\r\nargv[2] = /bin/script\r\nargv[3] = a\r\nargv[4] = b c\r\n";
    assert!(shown.ends_with(arguments), "{shown}");
    assert!(
        askr.run("nested").contains("argv[1] = -x  y\r\nargv[2] = /bin/script\r\nargv[3] = /bin/nested\r\n")
    );
    let error = "Too many levels of symbolic links";
    assert_eq!(askr.run("endless"), format!("sh: endless: {error}\r\n"));
}
