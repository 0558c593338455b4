//! Open files: positions, access, listings; generated content; the initial archive.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{read_all, refused, tree};
use askr_abi::types::{O_APPEND, O_CREAT, O_RDONLY, O_RDWR, O_WRONLY, S_IFREG, SEEK_CUR, SEEK_END, SEEK_SET};
use askr_vfs::{
    Errno, File, FixedDir, Generated, Kind, Metadata, Place, PopulateError, Result, Vnode, populate,
};

#[test]
fn reads_and_writes_move_one_position() {
    let tree = tree();
    let file = tree.open("/f", O_RDWR | O_CREAT).unwrap();
    file.write(b"hello world").unwrap();
    assert_eq!(file.seek(-5, SEEK_END), Ok(6));
    let mut word = [0; 3];
    assert_eq!(file.read(&mut word), Ok(3));
    assert_eq!(&word, b"wor");
    assert_eq!(file.seek(0, SEEK_CUR), Ok(9));
    assert_eq!(file.seek(100, SEEK_SET), Ok(100));
    assert_eq!(file.read(&mut word), Ok(0));
    refused(file.seek(-101, SEEK_CUR), Errno::EINVAL);
    refused(file.seek(0, 9), Errno::EINVAL);
    refused(file.seek(i64::MAX, SEEK_CUR), Errno::EOVERFLOW);
    assert_eq!(file.seek(0, SEEK_CUR), Ok(100), "a refused seek moves nothing");
    assert_eq!(file.read_at(0, &mut word), Ok(3));
    assert_eq!(file.seek(0, SEEK_CUR), Ok(100));
    let stat = file.metadata().unwrap().to_stat();
    assert_eq!((stat.mode, stat.size, stat.blocks), (S_IFREG | 0o644, 11, 1));
}

#[test]
fn appending_ignores_the_position() {
    let tree = tree();
    let one = tree.open("/f", O_WRONLY | O_CREAT | O_APPEND).unwrap();
    let two = tree.open("/f", O_WRONLY | O_APPEND).unwrap();
    for n in 0..3 {
        one.write(format!("one{n} ").as_bytes()).unwrap();
        two.seek(0, SEEK_SET).unwrap();
        two.write(format!("two{n} ").as_bytes()).unwrap();
    }
    assert_eq!(tree.read("/f").unwrap(), b"one0 two0 one1 two1 one2 two2 ");
    assert_eq!(two.seek(0, SEEK_CUR), Ok(30));
}

#[test]
fn the_access_mode_is_kept() {
    let tree = tree();
    let write = tree.open("/f", O_WRONLY | O_CREAT).unwrap();
    let read = tree.open("/f", O_RDONLY).unwrap();
    refused(write.read(&mut [0]), Errno::EBADF);
    refused(write.read_at(0, &mut [0]), Errno::EBADF);
    refused(read.write(b"x"), Errno::EBADF);
    refused(read.write_at(0, b"x"), Errno::EBADF);
    refused(read.truncate(0), Errno::EINVAL);
    refused(read.read_dirents(&mut [0; 100]), Errno::ENOTDIR);
    refused(tree.open("/", O_RDONLY).unwrap().read(&mut [0]), Errno::EISDIR);
}

/// A stream that gives a letter for each read.
struct Letters;

impl Vnode for Letters {
    fn kind(&self) -> Kind {
        Kind::CharDevice
    }

    fn metadata(&self) -> Result<Metadata> {
        Ok(Metadata::bare(Kind::CharDevice, 0o666, 5, 6))
    }
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        assert_eq!(offset, 0, "a stream has no position");
        into[0] = b'x';
        Ok(1)
    }
}

#[test]
fn a_stream_has_no_position() {
    let file = File::new(Arc::new(Letters), Vec::new(), O_RDWR | O_APPEND, 0);
    for _ in 0..3 {
        assert_eq!(file.read(&mut [0; 8]), Ok(1));
    }
    refused(file.seek(0, SEEK_SET), Errno::ESPIPE);
    refused(file.read_at(0, &mut [0]), Errno::ESPIPE);
    refused(file.write(b"x"), Errno::EINVAL);
}

/// The records of `getdents64` as (name, inode, type, offset).
fn records(mut bytes: &[u8]) -> Vec<(String, u64, u8, u64)> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let length = usize::from(u16::from_le_bytes([bytes[16], bytes[17]]));
        assert_eq!(length % 8, 0);
        let name = bytes[19..length].split(|&byte| byte == 0).next().unwrap();
        assert!(name.len() < length - 19, "ends in a NUL");
        records.push((String::from_utf8(name.to_vec()).unwrap(), word(0), bytes[18], word(8)));
        bytes = &bytes[length..];
    }
    records
}

#[test]
fn a_listing_comes_in_buffers_of_any_size() {
    let tree = tree();
    tree.mkdir("/d").unwrap();
    tree.write("/d/file", b"").unwrap();
    tree.mkdir("/d/sub").unwrap();
    tree.symlink("file", "/d/a-much-longer-name").unwrap();
    let ino = |path: &str| tree.node(path).metadata().unwrap().ino;
    let expected =
        [(".", ino("/d"), 4), ("..", ino("/"), 4), ("file", ino("/d/file"), 8), ("sub", ino("/d/sub"), 4)];
    for size in [48, 64, 72, 1000] {
        let dir = tree.open("/d", O_RDONLY).unwrap();
        let mut all = Vec::new();
        let mut buffer = vec![0xEE; size];
        loop {
            match dir.read_dirents(&mut buffer).unwrap() {
                0 => break,
                count => all.extend(records(&buffer[..count])),
            }
        }
        assert_eq!(all.len(), 5, "with {size} bytes");
        for (record, (name, ino, kind)) in all.iter().zip(expected) {
            assert_eq!((&*record.0, record.1, record.2), (name, ino, kind));
        }
        assert_eq!((&*all[4].0, all[4].2), ("a-much-longer-name", 10));
        dir.seek(i64::try_from(all[2].3).unwrap(), SEEK_SET).unwrap();
        let count = dir.read_dirents(&mut buffer).unwrap();
        assert_eq!(records(&buffer[..count])[0].0, "sub", "an offset leads back to its place");
    }
    let dir = tree.open("/d", O_RDONLY).unwrap();
    refused(dir.read_dirents(&mut [0; 23]), Errno::EINVAL);
    let mut buffer = [0; 48];
    assert_eq!(dir.read_dirents(&mut buffer), Ok(48));
    assert_eq!(dir.read_dirents(&mut [0; 24]), Ok(24));
    assert_eq!(dir.read_dirents(&mut [0; 24]), Ok(24));
    refused(dir.read_dirents(&mut [0; 24]), Errno::EINVAL);
    assert_eq!(dir.read_dirents(&mut buffer), Ok(40), "what found no room was not lost");
}

#[test]
fn generated_content_stays_the_same_while_it_is_open() {
    let tree = tree();
    let made = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&made);
    let generated = Generated::new(7, 2, move || {
        let n = counter.fetch_add(1, Ordering::Relaxed);
        if n == 9 { Err(Errno::ESRCH) } else { Ok(format!("{n}").repeat(1500).into_bytes()) }
    });
    tree.mkdir("/proc").unwrap();
    tree.vfs
        .mount(
            b"/proc",
            "procfs",
            Arc::new(FixedDir::new(7, 1, Place::Root, vec![("n", Arc::new(generated))])),
        )
        .unwrap();
    let first = tree.open("/proc/n", O_RDONLY).unwrap();
    let second = tree.open("/proc/n", O_RDONLY).unwrap();
    assert_eq!(read_all(&first).unwrap(), [b'0'; 1500]);
    assert_eq!(read_all(&second).unwrap(), [b'1'; 1500]);
    assert_eq!(first.seek(0, SEEK_SET), Ok(0));
    assert_eq!(read_all(&first).unwrap(), [b'0'; 1500]);
    assert_eq!(made.load(Ordering::Relaxed), 2);
    refused(tree.write("/proc/n", b"x"), Errno::EROFS);
    made.store(9, Ordering::Relaxed);
    refused(tree.open("/proc/n", O_RDONLY), Errno::ESRCH);
}

/// A ustar header with its content.
fn entry(path: &str, kind: u8, link: &str, content: &[u8]) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..path.len()].copy_from_slice(path.as_bytes());
    block[100..108].copy_from_slice(b"0000750\0");
    block[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
    block[136..148].copy_from_slice(b"00000000144\0");
    block[148..156].fill(b' ');
    block[156] = kind;
    block[157..157 + link.len()].copy_from_slice(link.as_bytes());
    block[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block.extend_from_slice(content);
    block.resize(block.len().next_multiple_of(512), 0);
    block
}

fn archive(entries: &[Vec<u8>]) -> &'static [u8] {
    entries.concat().leak()
}

#[test]
fn an_archive_becomes_a_tree() {
    let tree = tree();
    let archive = archive(&[
        entry("./", b'5', "", b""),
        entry("./bin/", b'5', "", b""),
        entry("./bin/sh", b'0', "", b"first"),
        entry("bin/ash", b'2', "sh", b""),
        entry("/deep/down/file", b'0', "", b"implied"),
        entry("bin/sh", b'0', "", b"second"),
    ]);
    let done = populate(&tree.fs, archive).unwrap();
    assert_eq!((done.files, done.directories, done.links, done.bytes), (3, 1, 1, 18));
    assert_eq!(tree.read("/bin/ash").unwrap(), b"second");
    assert_eq!(tree.read("/deep/down/file").unwrap(), b"implied");
    let metadata = tree.node("/bin/sh").metadata().unwrap();
    assert_eq!((metadata.mode, metadata.mtime.sec), (0o750, 100));
}

#[test]
fn an_archive_that_makes_no_sense_names_the_entry() {
    for (bad, errno) in [
        (entry("a/../../b", b'0', "", b""), Errno::EINVAL),
        (entry("file/below", b'0', "", b""), Errno::ENOTDIR),
        (entry("dir", b'0', "", b""), Errno::EISDIR),
    ] {
        let tree = tree();
        let archive = archive(&[entry("file", b'0', "", b""), entry("dir/", b'5', "", b""), bad]);
        match populate(&tree.fs, archive) {
            Err(PopulateError::Entry(_, found)) => assert_eq!(found, errno),
            other => panic!("{other:?}"),
        }
    }
    let cut = archive(&[vec![1; 100]]);
    assert!(matches!(populate(&tree().fs, cut), Err(PopulateError::Archive(_))));
}
