//! Programs that check what system calls do run on Linux and in Askr, the same binaries, and say the same.
//!
//! Each family is a C program in this folder that prints a line `name: value` for each check; `conformance.h` says how.
//! Where Askr differs on purpose, `differences.txt` says so, with the reason.

#[path = "../common/mod.rs"]
mod common;

mod differences;
mod native;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use askr::{ExtraFile, Machine};
use common::shell::{Askr, Shared};
use differences::{compare, lines};

/// Where the programs are.
pub(crate) const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
/// Where what a program in C may include is.
const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/userland/c");

const FAMILIES: [&str; 9] =
    ["files", "names", "pipes", "processes", "signals", "interrupts", "memory", "system", "errors"];
/// The family that types at itself.
const TERMINAL: &str = "terminal";

static GUEST: Shared = Shared::new(|| {
    // The kernel's own lines, such as reports of faults, would come between the programs'.
    FAMILIES.iter().chain([&TERMINAL]).fold(Machine::new().word("log=debugcon"), |machine, family| {
        machine.with(ExtraFile { host: program(family), guest: in_guest(family) })
    })
});

fn in_guest(family: &str) -> String {
    format!("/bin/conformance-{family}")
}

/// The program of a family. All are compiled before the first is used.
fn program(family: &str) -> PathBuf {
    static PROGRAMS: LazyLock<()> =
        LazyLock::new(|| FAMILIES.iter().chain([&TERMINAL]).for_each(|it| compile(it)));
    LazyLock::force(&PROGRAMS);
    path(family)
}

fn path(family: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{family}"))
}

fn compile(family: &str) {
    let mut compiler = Command::new("musl-gcc");
    compiler.args(["-static", "-O1", "-Wall", "-Wextra", "-Werror", "-s", "-I", HEADERS, "-o"]);
    compiler.arg(path(family)).arg(format!("{SOURCES}/{family}.c"));
    let output = compiler.output().expect("musl-gcc, which ./qemu/setup.sh installs");
    assert!(output.status.success(), "{family}.c: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a family on both systems and compares.
fn check(family: &str) {
    let expected = native::run(&program(family));
    let mut askr = GUEST.take();
    askr.run("cd /tmp");
    let shown = askr.run(&in_guest(family));
    compare(family, &lines(family, &expected), &lines(family, &shown));
}

#[test]
fn files() {
    check("files");
}

#[test]
fn names() {
    check("names");
}

#[test]
fn pipes() {
    check("pipes");
}

#[test]
fn processes() {
    check("processes");
}

#[test]
fn signals() {
    check("signals");
}

#[test]
fn interrupts() {
    check("interrupts");
}

#[test]
fn memory() {
    check("memory");
}

#[test]
fn system() {
    check("system");
}

#[test]
fn errors() {
    check("errors");
}

#[test]
fn terminal() {
    let expected = native::run_on_terminal(&program(TERMINAL));
    let mut askr = GUEST.take();
    askr.run("cd /tmp");
    let shown = type_what_it_wants(&mut askr, &in_guest(TERMINAL));
    compare(TERMINAL, &lines(TERMINAL, &expected), &lines(TERMINAL, &shown));
}

/// Runs a program at the shell and types what it asks for; returns what it showed.
fn type_what_it_wants(askr: &mut Askr, command: &str) -> String {
    askr.start(command);
    let mut shown = String::new();
    loop {
        let line = askr.expect("\n");
        if let Some(digits) = line.strip_prefix("type: ") {
            askr.type_bytes(&unhex(digits.trim_end())).unwrap();
        }
        shown.push_str(&line);
        shown.push('\n');
        if line.starts_with("the end:") {
            askr.finish();
            return shown;
        }
    }
}

/// The bytes that a line `type: 0a0b` asks for.
pub(crate) fn unhex(digits: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
    (0..digits.len() / 2 * 2).step_by(2).map(digit).collect()
}
