//! QEMU is killed while a program writes. What the program was told to be safe is there afterwards, and all files are whole.
//! The host keeps what QEMU has written, so this shows the order in which things are done; that the guest flushes is
//! shown in `log.rs`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use askr::{Disk, Machine, Model};
use fastrand::Rng;

use crate::common::program::program;
use crate::common::shell::Askr;
use crate::image::{Safe, check, empty, files};

const SIZE: u64 = 4 << 20;
/// Time that a guest has after its first safe line, at most.
const LIFE: Duration = Duration::from_millis(700);

/// Kills guests with one image after the other; the machines take turns.
fn kill(times: u64, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let image = empty(folder.path(), SIZE);
    let (mut safe, mut rng) = (Safe::default(), Rng::with_seed(seed));
    let models = [Model::Q35, Model::Pc, Model::Microvm];
    for (kill, model) in (0..times).zip(models.into_iter().cycle()) {
        let shown = run_until_killed(&image, model, kill, rng.u32(..1000));
        safe.note(&shown);
        let found = check(&files(fs::read(&image).unwrap()), &safe);
        eprintln!("kill {kill}: {} safe, {found:?}", safe.count());
    }
    assert!(safe.count() > times, "the guests did too little: {safe:?}");
}

/// What the program had printed when the guest was killed.
fn run_until_killed(image: &Path, model: Model, kill: u64, part: u32) -> String {
    let disk = Disk::open(image, false).unwrap();
    let mut askr = Askr::boot(&Machine::new().model(model).disk(disk).with(program("disk")));
    askr.start(&format!("disk load {}", (kill + 1) * 100_000));
    askr.expect("F 0");
    std::thread::sleep(LIFE * part / 1000);
    askr.vm().kill();
    askr.transcript()
}

#[test]
fn twenty_killed_guests_lose_nothing_that_was_safe() {
    kill(20, 1);
}

/// `ASKR_KILLS=N` for another number.
#[test]
#[ignore = "takes minutes"]
fn two_hundred_killed_guests_lose_nothing_that_was_safe() {
    let times = std::env::var("ASKR_KILLS").ok().and_then(|text| text.parse().ok());
    kill(times.unwrap_or(200), 2);
}
