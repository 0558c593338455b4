//! The image on the host: read and written by littlefs itself, with its Python package.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use askr::{Disk, Machine, state_dir};

use crate::common::program::program;
use crate::common::shell::Askr;
use crate::image::empty;

const REQUIREMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disk/requirements.txt");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disk/host.py");

/// Runs a command to its end: what it said on stdout, or all that it said.
fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    Err(format!("{command:?}: {}\n{said}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// The Python of an environment in the target folder that has the package. Made on first use, and again when the
/// requirements change.
fn python() -> Result<PathBuf, String> {
    let folder = state_dir().join("littlefs-python");
    let (python, complete) = (folder.join("bin/python"), folder.join("requirements.txt"));
    let wanted = fs::read_to_string(REQUIREMENTS).unwrap();
    if fs::read_to_string(&complete).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    output_of(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
    output_of(Command::new(&python).args(pip))?;
    fs::write(complete, wanted).unwrap();
    Ok(python)
}

#[test]
fn littlefs_on_the_host_reads_and_writes_the_image() {
    let python = match python() {
        Ok(python) => python,
        // CI has what it takes; somebody's own machine may have no network.
        Err(error) if std::env::var_os("CI").is_none() => {
            eprintln!("SKIPPED: littlefs-python cannot be installed: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let image = empty(folder.path(), 4 << 20);
    let machine = || {
        let disk = Disk::open(&image, false).unwrap();
        Machine::new().disk(disk).with(program("disk"))
    };
    let mut askr = Askr::boot(&machine());
    askr.run("disk rounds 1");
    askr.power_off();
    drop(askr);
    let said = output_of(Command::new(&python).arg(SCRIPT).arg(&image).arg(program("disk").host)).unwrap();
    let names = "file0 file1 file2 file3 file4 file5 log";
    assert_eq!(said, format!("{names}\nlog 192\n"));

    let mut askr = Askr::boot(&machine());
    assert_eq!(askr.run("cat /disk/from/host.txt"), "hello, guest\r\n");
    // What the host made can be run.
    assert_eq!(askr.run("/disk/from/program rounds 0"), "done\r\n");
    askr.power_off();
}
