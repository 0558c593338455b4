//! Wireshark's program for the command line, with the dissector of this repository.

use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPT: &str = "host-bridge/wireshark/askr.lua";

/// Whether there is no tshark, after a line that says that a test is skipped. CI has one.
pub(crate) fn is_missing() -> bool {
    match Command::new("tshark").arg("--version").output() {
        Ok(output) if output.status.success() => false,
        _ if std::env::var_os("CI").is_none() => {
            eprintln!("SKIPPED: there is no tshark here; ./qemu/setup.sh --capture installs it");
            true
        }
        other => panic!("CI has no tshark: {other:?}"),
    }
}

fn script() -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join(SCRIPT)).find(|script| script.exists()).unwrap()
}

/// What it says about a capture; the dissector sees each packet twice, as in Wireshark.
pub(crate) fn run(file: &Path, words: &[&str]) -> String {
    let mut tshark = Command::new("tshark");
    // Nothing of what this machine's user has set up.
    tshark.env("WIRESHARK_CONFIG_DIR", "/nonexistent").env("HOME", "/nonexistent");
    tshark.arg("-X").arg(format!("lua_script:{}", script().display()));
    let output = tshark.args(["-n", "-2", "-r"]).arg(file).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("Lua"), "{words:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// These fields of every packet for which the filter holds; of a field that is there more than once all, with commas.
pub(crate) fn fields(file: &Path, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut words = vec!["-Y", filter, "-T", "fields"];
    fields.iter().for_each(|field| words.extend(["-e", *field]));
    let lines = run(file, &words);
    lines.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// That the dissector itself did not fail anywhere.
pub(crate) fn check_script(file: &Path) {
    assert_eq!(run(file, &["-Y", "_ws.lua"]), "");
    let packets = run(file, &["-T", "fields", "-e", "frame.protocols"]);
    assert!(!packets.is_empty() && packets.lines().all(|of| of == "askr"), "{packets}");
}
