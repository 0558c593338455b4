//! Programs for the guest, compiled by the test with the C compiler that Rust links with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use askr::ExtraFile;

/// Where the sources are.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

/// Where what a program in C may include is.
const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/userland/c");

/// How a program is linked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    /// ET_EXEC.
    Static,
    /// ET_DYN without an interpreter.
    StaticPie,
    /// Against the host's C library, with an interpreter.
    Dynamic,
    /// ET_EXEC with one segment that is writable and executable.
    WritableCode,
    /// ET_EXEC at this address.
    At(&'static str),
}

/// Compiles `tests/programs/SOURCE.c` to a file of this name. Tests run side by side, and two may want the same one:
/// it has another name until it is whole, so that neither finds the other's without its end or without its mode.
pub(crate) fn compiled(source: &str, name: &str, link: Link) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.join(format!("{name}.{}.{number}", std::process::id()));
    let mut cc = Command::new("cc");
    // With the names and lines that a fault's places are told by, and the frame pointers that its backtrace follows.
    cc.args([
        "-g",
        "-fno-omit-frame-pointer",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fno-stack-protector",
        "-I",
        SOURCES,
        "-I",
        HEADERS,
    ]);
    // `_start` is called by nobody: the stack is not aligned as vector instructions would have it.
    cc.arg("-mgeneral-regs-only");
    let alone = ["-static", "-nostdlib", "-ffreestanding", "-mno-red-zone"];
    match link {
        Link::Static => cc.args(alone),
        Link::StaticPie => cc.args(["-static-pie", "-fPIE", "-nostdlib", "-ffreestanding"]),
        Link::Dynamic => cc.args(["-DHOSTED", "-pie", "-fPIE"]),
        Link::WritableCode => cc.args(alone).arg("-Wl,-N,--no-warn-rwx-segments"),
        Link::At(address) => cc.args(alone).arg(format!("-Wl,-Ttext-segment={address}")),
    };
    let output = cc
        .arg("-o")
        .arg(&unfinished)
        .arg(format!("{SOURCES}/{source}.c"))
        .output()
        .expect("a C compiler, `cc`");
    assert!(output.status.success(), "{source}.c: {}", String::from_utf8_lossy(&output.stderr));
    let whole = folder.join(name);
    fs::rename(unfinished, &whole).unwrap();
    whole
}

/// `tests/programs/NAME.c` as `/bin/NAME`.
pub(crate) fn program(name: &str) -> ExtraFile {
    ExtraFile { host: compiled(name, name, Link::Static), guest: format!("/bin/{name}") }
}
