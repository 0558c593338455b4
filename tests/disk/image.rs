//! A disk image, looked at on the host with the guest's own file system.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use askr_abi::Errno;
use askr_abi::types::Timespec;
use askr_disk::{BlockDevice, DiskFs, Hooks, SECTOR};
use askr_vfs::Kind;

/// Files of the load program.
const FILES: u64 = 6;
/// Bytes of a record of its log.
const RECORD: usize = 32;

/// What the load program has said to be safe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Safe {
    /// Round of each file.
    rounds: BTreeMap<u64, u64>,
    /// Records in the log.
    records: u64,
}

impl Safe {
    /// Takes in what the program printed. A line that was cut off does not count.
    pub(crate) fn note(&mut self, shown: &str) {
        let whole = shown.rfind('\n').map_or("", |end| &shown[..end]);
        for line in whole.lines().map(str::trim) {
            let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok());
            let mut words = line.split(' ');
            match (words.next(), number(words.next()), number(words.next())) {
                (Some("F"), Some(file), Some(round)) => {
                    let known = self.rounds.entry(file).or_default();
                    *known = round.max(*known);
                }
                (Some("L"), Some(record), None) => self.records = self.records.max(record + 1),
                _ => {}
            }
        }
    }

    /// How much it is.
    pub(crate) fn count(&self) -> u64 {
        self.records + self.rounds.len() as u64
    }
}

/// A disk in memory.
struct Ram(Vec<u8>);

impl BlockDevice for Ram {
    fn sectors(&self) -> u64 {
        (self.0.len() / SECTOR) as u64
    }

    fn read(&mut self, sector: u64, into: &mut [u8]) -> Result<(), Errno> {
        let at = usize::try_from(sector).unwrap() * SECTOR;
        into.copy_from_slice(&self.0[at..at + into.len()]);
        Ok(())
    }

    fn write(&mut self, sector: u64, bytes: &[u8]) -> Result<(), Errno> {
        let at = usize::try_from(sector).unwrap() * SECTOR;
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Errno> {
        Ok(())
    }
}

/// The files in the root directory of an image, which has to mount.
pub(crate) fn files(image: Vec<u8>) -> BTreeMap<String, Vec<u8>> {
    let hooks = Hooks {
        clock: || Timespec { sec: 0, nsec: 0 },
        wake: || {},
        lost: |_, _| {},
        full: || {},
        cached_blocks: 64,
    };
    let fs = DiskFs::<spin::mutex::SpinMutex<()>>::mount(Box::new(Ram(image)), 1, hooks).expect("it mounts");
    let mut names = Vec::new();
    let root = fs.root();
    root.read_dir(0, &mut |entry| {
        names.push((entry.name.to_vec(), entry.kind));
        true
    })
    .expect("it can be listed");
    let mut files = BTreeMap::new();
    for (name, kind) in names.into_iter().filter(|(_, kind)| *kind == Kind::File) {
        let node = root.lookup(&name).expect("it is where it is listed");
        assert_eq!(node.kind(), kind);
        let mut content = vec![0; usize::try_from(node.metadata().unwrap().size).unwrap()];
        let mut done = 0;
        while done < content.len() {
            done += node.read_at(done as u64, &mut content[done..]).expect("it can be read");
        }
        files.insert(String::from_utf8(name).unwrap(), content);
    }
    files
}

/// Checks that everything that was safe is there and that every file is as the program wrote it in some round, no byte
/// older or newer. Returns the rounds.
pub(crate) fn check(files: &BTreeMap<String, Vec<u8>>, safe: &Safe) -> BTreeMap<u64, u64> {
    let mut rounds = BTreeMap::new();
    for file in 0..FILES {
        let least = safe.rounds.get(&file).copied();
        match files.get(&format!("file{file}")) {
            Some(content) => {
                let round = round_of(file, content);
                assert!(
                    least.is_none_or(|least| round >= least),
                    "file{file}: round {round}, {least:?} was safe"
                );
                rounds.insert(file, round);
            }
            None => assert_eq!(least, None, "file{file} is gone"),
        }
    }
    let log = files.get("log").map_or(&[][..], Vec::as_slice);
    assert_eq!(log.len() % RECORD, 0, "half a record");
    assert!(
        (log.len() / RECORD) as u64 >= safe.records,
        "{} of {} records",
        log.len() / RECORD,
        safe.records
    );
    for (number, record) in log.chunks(RECORD).enumerate() {
        let expected = format!("record {number:010}..............\n");
        assert_eq!(String::from_utf8_lossy(record), expected);
    }
    rounds
}

/// The round in which this was written, all of it.
fn round_of(file: u64, content: &[u8]) -> u64 {
    let head = String::from_utf8_lossy(&content[..19.min(content.len())]).into_owned();
    let words: Vec<u64> = head.split(' ').map(|word| word.parse().unwrap()).collect();
    let [own, round, size] = words[..] else { panic!("file{file} begins with {head:?}") };
    assert_eq!((own, size), (file, content.len() as u64), "file{file} begins with {head:?}");
    assert_eq!(size, 64 + (round * 7919 + file * 131) % 20_000);
    for (at, &byte) in content.iter().enumerate().skip(head.len()) {
        let expected = b'a' + u8::try_from((at as u64 * 31 + round * 7 + file) % 26).unwrap();
        assert_eq!(byte, expected, "file{file}, round {round}, byte {at}");
    }
    round
}

/// An empty image of this size.
pub(crate) fn empty(folder: &Path, bytes: u64) -> PathBuf {
    let path = folder.join("disk.img");
    fs::File::create(&path).unwrap().set_len(bytes).unwrap();
    path
}
