//! The image on the host: read and written by littlefs itself, with its Python package.

use std::process::Command;

use askr::{Disk, Machine};

use crate::common::program::program;
use crate::common::python::{self, output_of};
use crate::common::shell::Askr;
use crate::image::empty;

const REQUIREMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disk/requirements.txt");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/disk/host.py");

#[test]
fn littlefs_on_the_host_reads_and_writes_the_image() {
    let Some(python) = python::environment("littlefs-python", REQUIREMENTS, &[]) else { return };
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
