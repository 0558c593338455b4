//! `--disk` and `--throwaway`.

use std::fs;
use std::process::{Command, Stdio};

use super::support::{PROMPT, Runner, complaints, file, finish};

/// The runner with this disk and nothing else that it could share.
fn with_disk(path: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askr"));
    command.args(["--accel", "tcg", "--no-agent", "--disk", path]).stdin(Stdio::null());
    command
}

#[test]
fn a_disk_is_made_on_first_use_and_kept() {
    let folder = tempfile::tempdir().expect("temporary folder");
    // QEMU takes a comma for the end of a name, and a colon for the end of a protocol, unless it is told better.
    let path = folder.path().join("nbd: a,b 'c'.img");
    let path = path.to_str().expect("UTF-8");
    for machine in ["q35", "pc", "microvm"] {
        let finished = finish(with_disk(path).args(["--machine", machine, "--run", "exit 5"]));
        assert_eq!(finished.status.code(), Some(5), "{}", complaints(&finished));
        let is_first = machine == "q35";
        assert_eq!(
            complaints(&finished).contains("made the disk image"),
            is_first,
            "{}",
            complaints(&finished)
        );
        assert_eq!(fs::metadata(path).expect("the image").len(), askr::NEW_DISK_SIZE);
    }
}

#[test]
fn a_disk_that_another_run_uses_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = file(folder.path(), "disk.img", &[7; 4096]);
    let mut runner = Runner::start(with_disk(&path).arg("--headless").stdout(Stdio::piped()));
    runner.stdout().wait_for(PROMPT);
    for more in [&["--headless"][..], &["--headless", "--throwaway"]] {
        let finished = finish(with_disk(&path).args(more));
        assert_eq!(finished.status.code(), Some(1));
        assert!(
            complaints(&finished).contains("disk.img: another guest uses it"),
            "{}",
            complaints(&finished)
        );
    }
}

#[test]
fn what_is_no_disk_image_is_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = file(folder.path(), "notes", b"dear diary");
    let finished = finish(with_disk(&path).args(["--run", "true"]));
    assert_eq!(finished.status.code(), Some(125));
    assert!(
        complaints(&finished).contains("notes: its size is not a multiple of 512"),
        "{}",
        complaints(&finished)
    );
    assert_eq!(fs::read(&path).expect("notes"), b"dear diary");
}
