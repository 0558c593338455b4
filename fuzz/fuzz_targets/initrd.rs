//! Any archive as the initial one. What is read lies inside it, and what was unpacked is what `tar` would have
//! made of the same entries.
//!
//! Mutated archives get right header checksums most of the time, else nothing would get past those.
#![no_main]

use std::collections::BTreeMap;

use askr_abi::types::Timespec;
use askr_core::initrd::{BLOCK, Entry, EntryKind, entries};
use askr_core::path::{Component, components, normalize_lexical, pop};
use askr_vfs::{Kind, RamFs, Vfs, Vnode, populate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// What a path is to become.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    File(Vec<u8>),
    Directory,
    Symlink(Vec<u8>),
}

fuzz_mutator!(|archive: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let size = fuzzer_mutate(archive, size, max_size);
    if !seed.is_multiple_of(16) {
        archive[..size].chunks_exact_mut(BLOCK).filter(|block| &block[257..262] == b"ustar").for_each(seal);
    }
    size
});

/// Puts the right checksum into a header (POSIX.1-2017, `pax`, "ustar Interchange Format").
fn seal(block: &mut [u8]) {
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

fuzz_target!(|archive: &[u8]| {
    // SAFETY: `populate` keeps pieces of the archive in the file system, which is dropped, with every node
    // taken from it, when `unpack` returns; until then the caller's bytes stay.
    unpack(unsafe { std::mem::transmute::<&[u8], &'static [u8]>(archive) });
});

fn unpack(archive: &'static [u8]) {
    let mut wanted = BTreeMap::from([(b"/".to_vec(), Wanted::Directory)]);
    let (mut broken, mut outside) = (false, false);
    for entry in entries(archive) {
        match entry {
            Ok(entry) => {
                outside |= components(&entry.path).any(|component| component == Component::Parent);
                expect(&mut wanted, archive, &entry);
            }
            Err(error) => broken = !error.to_string().is_empty(),
        }
    }
    let fs = RamFs::new(1, 1 << 20, || Timespec { sec: 1, nsec: 0 });
    let Ok(done) = populate(&fs, archive) else { return };
    assert!(!broken, "unpacked a broken archive");
    assert!(!outside, "followed `..` out of the archive");
    assert!(fs.usage().used <= fs.usage().limit);
    assert!(done.files + done.links + done.directories <= archive.len() / BLOCK);
    let vfs = Vfs::new("ramfs", fs.root()).expect("the root is a directory");
    let mut nodes = 0;
    for (path, wanted) in &wanted {
        let target = vfs.locate(&vfs.root(), path, false).expect("an entry has come to nothing");
        assert_eq!(&target.path, path);
        assert_eq!(&read(&**target.existing().expect("an entry is missing")), wanted);
        nodes += 1;
    }
    assert_eq!(count(&*fs.root()), nodes, "something that no entry says");
}

/// Takes one entry into what is to come out.
fn expect(wanted: &mut BTreeMap<Vec<u8>, Wanted>, archive: &[u8], entry: &Entry<'_>) {
    let path = normalize_lexical(&entry.path);
    let mut parent = path.clone();
    // Each round takes a name off the path.
    while parent != b"/" {
        pop(&mut parent);
        wanted.entry(parent.clone()).or_insert(Wanted::Directory);
    }
    let it = match &entry.kind {
        EntryKind::File(range) => {
            assert!(range.start.is_multiple_of(BLOCK), "content begins inside a block");
            Wanted::File(archive[range.clone()].to_vec())
        }
        EntryKind::Directory => Wanted::Directory,
        EntryKind::Symlink(target) => Wanted::Symlink(target.to_vec()),
    };
    wanted.insert(path, it);
}

fn read(node: &dyn Vnode) -> Wanted {
    let metadata = node.metadata().expect("memory does not fail");
    match metadata.kind {
        Kind::Directory => Wanted::Directory,
        Kind::Symlink => Wanted::Symlink(node.read_link().expect("a link")),
        _ => {
            let mut content = vec![0; usize::try_from(metadata.size).expect("a size in memory") + 1];
            let len = node.read_at(0, &mut content).expect("a file");
            content.truncate(len);
            Wanted::File(content)
        }
    }
}

/// Number of nodes from `node` on.
fn count(node: &dyn Vnode) -> usize {
    let mut names = Vec::new();
    let listed = node.read_dir(0, &mut |entry| {
        names.push(entry.name.to_vec());
        true
    });
    let below = |name: &Vec<u8>| count(&*node.lookup(name).expect("what is listed is there"));
    listed.map_or(1, |()| 1 + names.iter().map(below).sum::<usize>())
}
