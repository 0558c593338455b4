//! "Your own programs" in README.md: its commands, as they stand there, make programs that run in the guest. So do
//! programs that were made for Linux and know nothing of Askr.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use askr::{ExtraFile, Machine};
use common::peer::Peer;
use common::shell::{Askr, Shared};

const README: &str = include_str!("../README.md");
const WORKSPACE: &str = env!("CARGO_MANIFEST_DIR");

static GUEST: Shared = Shared::new(|| {
    let elsewhere = [("tour-glibc", with_glibc()), ("std", with_rusts_library())];
    let elsewhere = elsewhere.map(|(name, host)| ExtraFile { host, guest: format!("/bin/{name}") });
    PROGRAMS.iter().cloned().chain(elsewhere).fold(Machine::new(), Machine::with)
});
static PROGRAMS: LazyLock<Vec<ExtraFile>> = LazyLock::new(build_as_the_readme_says);

/// The lines of all shell blocks in the section.
fn commands() -> Vec<&'static str> {
    let section = README.split("\n## ").find(|section| section.starts_with("Your own programs\n")).unwrap();
    let blocks = section.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.flat_map(str::lines).collect()
}

/// A folder that looks like a fresh checkout: nothing that is in the real `target` helps, and nothing there is touched.
fn checkout() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-programs");
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(folder.join("target")).unwrap();
    for entry in fs::read_dir(WORKSPACE).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if name != "target" {
            symlink(&path, folder.join(name)).unwrap();
        }
    }
    folder
}

/// Runs the commands. Instead of `cargo run -- --with FILE`, one guest gets all the files.
fn build_as_the_readme_says() -> Vec<ExtraFile> {
    let checkout = checkout();
    let mut programs = Vec::new();
    for line in commands() {
        if let Some(run) = line.strip_prefix("cargo run -- --with ") {
            let file = ExtraFile::parse(run.split_whitespace().next().unwrap()).unwrap();
            programs.push(ExtraFile { host: checkout.join(&file.host), ..file });
            continue;
        }
        let output = Command::new("sh")
            .args(["-ec", line])
            .current_dir(&checkout)
            // What was compiled for the last test run need not be compiled again.
            .env("CARGO_BUILD_BUILD_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("template-build"))
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_TARGET_DIR")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{said}\nif a compiler is missing: ./qemu/setup.sh");
    }
    programs
}

/// Runs a compiler in the checkout and returns what it made, a file of this name.
fn compile(mut compiler: Command, name: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let output = compiler.arg("-o").arg(&out).current_dir(WORKSPACE).output();
    let output = output.unwrap_or_else(|error| panic!("{compiler:?}: {error}: run ./qemu/setup.sh"));
    assert!(output.status.success(), "{compiler:?}: {}", String::from_utf8_lossy(&output.stderr));
    out
}

/// The tour with the host's own C library.
fn with_glibc() -> PathBuf {
    let mut cc = Command::new("cc");
    cc.args(["-static", "-O2", "-I", "userland/c", "userland/samples/tour.c", "-lm"]);
    compile(cc, "tour-glibc")
}

/// A program for Linux with Rust's standard library.
fn with_rusts_library() -> PathBuf {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args([
        "--edition=2024",
        "-Ctarget-feature=+crt-static",
        "-Cstrip=debuginfo",
        "tests/programs/std.rs",
    ]);
    compile(rustc, "own-std")
}

/// What the tour prints, in its order; the line of the ask is left out.
const TOUR: [&str; 9] = [
    "arguments: 3, the last is 'b c'",
    "numbers: 0.667 1e-07 1.234568e+05 100.0%",
    "memory: 2 MiB taken, used and given back",
    "files: read back 3.1416 and 'second'",
    "processes: the child wrote 'tour, from the parent' and ended with 7",
    "signals: handled 10, and the sum went on to 7.485471",
    "sleep: not shorter than 20 ms",
    "vectors: three programs computed the same as one alone",
    "tour: complete",
];

/// The lines of a tour, without what the kernel says and without that of the ask.
fn tour(askr: &mut Askr, program: &str) -> Vec<String> {
    let shown = askr.run(&format!("{program} a 'b c'"));
    let own = |line: &&str| !line.contains("does not exist here (ENOSYS)") && !line.starts_with("ask: ");
    shown.lines().map(str::trim_end).filter(own).map(str::to_owned).collect()
}

#[test]
fn the_readme_shows_three_ways_and_each_of_them_runs() {
    let mut askr = GUEST.take();
    let guest: Vec<&str> = PROGRAMS.iter().map(|program| program.guest.as_str()).collect();
    assert_eq!(guest, ["/bin/tour", "/bin/alone", "/bin/mine"]);
    assert_eq!(tour(&mut askr, "tour"), TOUR);
    assert_eq!(askr.status(), 0);
    // Nobody is attached, so each says its own default.
    assert_eq!(askr.run("alone 'may I?'"), "alone\r\nmay I?\r\ndefault: nobody knows\r\n");
    assert_eq!(askr.run("mine 'may I?'"), "default: no\r\n");
    assert!(askr.run("tour x").contains("\r\nask: yes, decided by: default\r\n"));
}

#[test]
fn each_of_them_asks_the_agent() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for (line, question, shown) in [
        ("alone 'may I?'", "may I?", "agent: as you like\r\n"),
        ("mine 'may I?'", "may I?", "agent: as you like\r\n"),
        ("tour x", "shall the tour end?", "ask: as you like, decided by: agent\r\ntour: complete\r\n"),
    ] {
        askr.start(line);
        let ask = peer.ask();
        assert_eq!(ask.payload, question.as_bytes());
        peer.answer(ask.seq, "as you like");
        assert!(askr.finish().ends_with(shown), "{line}");
    }
}

#[test]
fn programs_that_were_made_for_linux_run_unchanged() {
    let mut askr = GUEST.take();
    assert_eq!(tour(&mut askr, "tour-glibc"), TOUR);
    assert_eq!(askr.status(), 0);
    let shown = askr.run("std a 'b c'");
    let own: Vec<&str> = shown.lines().filter(|line| !line.contains("(ENOSYS)")).collect();
    let expected = [
        "arguments: [\"std\", \"a\", \"b c\"]",
        "files: 'written', [\"file\"]",
        "child: 'from the child', exit status: 5",
        "sums: {1: 1, 2: 3, 3: 6}",
        "panic: caught",
    ];
    assert_eq!(own, expected, "{shown}");
    assert_eq!(askr.status(), 4);
}
