//! That the guest flushes, seen from outside: QEMU counts, and writes down every request in its order.

use std::collections::BTreeMap;
use std::fs;

use askr::{Disk, Machine};
use askr_disk::SECTOR;
use serde_json::json;

use crate::common::program::program;
use crate::common::shell::Askr;
use crate::image::{Safe, check, empty, files};

const SIZE: u64 = 1 << 20;
/// Rounds of the load program: each calls `fsync` 18 times.
const ROUNDS: u64 = 2;
const FSYNCS: u64 = ROUNDS * 18;

/// A request of the guest.
enum Request {
    Write { sector: u64, bytes: Vec<u8> },
    Flush,
}

/// Reads a log: a sector that says what it is, then for each request a sector with its head and the data
/// (Linux, Documentation/admin-guide/device-mapper/log-writes.rst; QEMU, block/blklogwrites.c).
fn parse(log: &[u8]) -> Vec<Request> {
    const MAGIC: u64 = 0x006a_7366_7773_6872;
    const FLUSH_FLAG: u64 = 1;
    let word = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap());
    assert_eq!((word(0), word(8)), (MAGIC, 1));
    let (entries, mut at) = (word(16), SECTOR);
    let mut requests = Vec::new();
    for _ in 0..entries {
        let (sector, flags) = (word(at), word(at + 16));
        let size = usize::try_from(word(at + 8)).unwrap() * SECTOR;
        at += SECTOR;
        if size > 0 {
            requests.push(Request::Write { sector, bytes: log[at..at + size].to_vec() });
            at += size;
        }
        if flags & FLUSH_FLAG != 0 {
            requests.push(Request::Flush);
        }
    }
    requests
}

fn flushes(askr: &mut Askr) -> u64 {
    let stats = askr.vm().qmp("query-blockstats", &json!({})).unwrap();
    stats[0]["stats"]["flush_operations"].as_u64().unwrap()
}

#[test]
fn every_fsync_flushes_and_a_cut_after_any_request_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let image = empty(folder.path(), SIZE);
    // The file system is made first: what comes after is whole at any time.
    let log = folder.path().join("log");
    fs::write(&log, []).unwrap();
    let machine = Machine::new().with(program("disk"));
    Askr::boot(&machine.clone().disk(Disk::open(&image, false).unwrap())).power_off();
    let before = fs::read(&image).unwrap();

    let disk = Disk::open(&image, false).unwrap();
    let mut askr = Askr::boot(&machine.disk(disk).log_disk_writes(&log));
    let counted = flushes(&mut askr);
    let shown = askr.run(&format!("disk rounds {ROUNDS}"));
    let counted = flushes(&mut askr) - counted;
    assert!(counted >= FSYNCS, "{counted} flushes for {FSYNCS} calls of fsync");
    askr.power_off();
    drop(askr);

    let mut safe = Safe::default();
    safe.note(&shown);
    check(&files(fs::read(&image).unwrap()), &safe);
    replay(before, &parse(&fs::read(&log).unwrap()));
}

/// Cuts the power after each request.
fn replay(mut image: Vec<u8>, requests: &[Request]) {
    let (mut cuts, mut flushed, mut rounds) = (0, 0, BTreeMap::new());
    for request in requests {
        match request {
            Request::Write { sector, bytes } => {
                let at = usize::try_from(*sector).unwrap() * SECTOR;
                image[at..at + bytes.len()].copy_from_slice(bytes);
            }
            Request::Flush => flushed += 1,
        }
        let found = check(&files(image.clone()), &Safe::default());
        // Nothing goes back to what it was.
        for (file, round) in &rounds {
            assert!(found.get(file) >= Some(round), "file{file} went back from {round}: {found:?}");
        }
        rounds = found;
        cuts += 1;
    }
    assert!(rounds.len() == 6 && rounds.values().all(|&round| round == ROUNDS), "{rounds:?}");
    assert!(flushed >= FSYNCS, "{flushed} flushes in the log");
    eprintln!("{cuts} cuts, {flushed} flushes");
}
