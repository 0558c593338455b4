//! The file system in memory: contents, names, the budget, and a model it must agree with.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::common::{Tree, clock, read_all, refused, tree, tree_of};
use askr_abi::types::{O_CREAT, O_RDWR, Timespec};
use askr_vfs::{Errno, RamFs, Vfs};
use proptest::prelude::*;

#[test]
fn contents_grow_shrink_and_have_holes() {
    let tree = tree();
    let file = tree.open("/f", O_RDWR | O_CREAT).unwrap();
    assert_eq!(file.write_at(5, b"abc"), Ok(3));
    assert_eq!(read_all(&file).unwrap(), b"\0\0\0\0\0abc");
    file.truncate(6).unwrap();
    file.truncate(8).unwrap();
    assert_eq!(tree.read("/f").unwrap(), b"\0\0\0\0\0a\0\0");
    assert_eq!(file.node().append(b"z"), Ok((1, 9)));
    assert_eq!(file.metadata().unwrap().size, 9);
    refused(file.write_at(u64::MAX, b"xy"), Errno::EFBIG);
    refused(file.write_at(1 << 40, b"x"), Errno::ENOSPC);
    assert_eq!(file.write_at(1 << 40, b""), Ok(0));
    assert_eq!(file.read_at(1 << 40, &mut [0; 4]), Ok(0));
}

#[test]
fn borrowed_content_is_free_until_it_is_written_to() {
    static CONTENT: [u8; 5000] = [b'i'; 5000];
    let tree = tree();
    let at = Timespec { sec: 77, nsec: 0 };
    tree.fs.insert_static(&*tree.fs.root(), b"f", &CONTENT, 0o755, at).unwrap();
    let before = tree.fs.usage().used;
    assert!(before < 1000);
    let metadata = tree.node("/f").metadata().unwrap();
    assert_eq!((metadata.mtime, metadata.mode, metadata.size), (at, 0o755, 5000));
    let file = tree.open("/f", O_RDWR).unwrap();
    file.truncate(4000).unwrap();
    assert_eq!(tree.fs.usage().used, before, "cutting copies nothing");
    file.write_at(1, b"x").unwrap();
    assert_eq!(tree.fs.usage().used, before + 4000);
    assert_eq!(tree.read("/f").unwrap()[..3], *b"ixi");
    assert_eq!(CONTENT[1], b'i');
    let foreign = RamFs::new(9, 9999, clock);
    refused(tree.fs.insert_static(&*foreign.root(), b"f", &CONTENT, 0, at), Errno::EXDEV);
}

#[test]
fn that_it_is_full_is_told_once_until_there_was_room() {
    thread_local!(static TOLD: Cell<u32> = const { Cell::new(0) });
    let fs = RamFs::watched(1, 20_000, clock, || TOLD.set(TOLD.get() + 1));
    let vfs = Vfs::new("ramfs", fs.root()).unwrap();
    let tree = Tree { fs, vfs };
    tree.write("/keep", &[1; 10_000]).unwrap();
    assert_eq!(TOLD.get(), 0);
    for _ in 0..3 {
        refused(tree.write("/more", &[1; 15_000]), Errno::ENOSPC);
        refused(tree.node("/keep").append(&[1; 15_000]), Errno::ENOSPC);
        tree.write("/few", b"bytes").unwrap();
    }
    assert_eq!(TOLD.get(), 1);
    tree.unlink("/keep").unwrap();
    tree.write("/more", &[1; 15_000]).unwrap();
    assert_eq!(TOLD.get(), 1);
    refused(
        tree.mkdir(&format!("/{}", "d".repeat(250))).and_then(|()| tree.write("/x", &[1; 9_000])),
        Errno::ENOSPC,
    );
    assert_eq!(TOLD.get(), 2);
}

#[test]
fn the_budget_holds_and_everything_removed_comes_back() {
    let tree = tree_of(20_000);
    let empty = tree.fs.usage().used;
    tree.mkdir("/d").unwrap();
    tree.symlink("target", "/d/l").unwrap();
    refused(tree.write("/d/f", &[1; 20_000]), Errno::ENOSPC);
    tree.write("/d/f", &[1; 10_000]).unwrap();
    let file = tree.open("/d/f", O_RDWR).unwrap();
    refused(file.write_at(10_000, &[2; 10_000]), Errno::ENOSPC);
    assert_eq!(tree.read("/d/f").unwrap(), [1; 10_000], "a write that fails changes nothing");
    file.write_at(10_000, &[2; 5_000]).unwrap();
    tree.rename("/d/f", "/d/a-longer-name").unwrap();
    tree.unlink("/d/a-longer-name").unwrap();
    assert!(tree.fs.usage().used > 15_000, "the open file is still there");
    assert_eq!(read_all(&file).unwrap().len(), 15_000);
    assert_eq!(file.metadata().unwrap().nlink, 0);
    drop(file);
    tree.unlink("/d/l").unwrap();
    tree.rmdir("/d").unwrap();
    assert_eq!(tree.fs.usage().used, empty);
    let many = (0..1000).map(|n| tree.mkdir(&format!("/{n}"))).find(Result::is_err);
    assert_eq!(many, Some(Err(Errno::ENOSPC)), "even empty nodes cost");
}

#[test]
fn rename_replaces_as_one_step_or_refuses() {
    let tree = tree();
    for dir in ["/a", "/a/b", "/a/b/c", "/e"] {
        tree.mkdir(dir).unwrap();
    }
    tree.write("/f", b"f").unwrap();
    tree.write("/g", b"g").unwrap();
    let before = tree.fs.usage();
    refused(tree.rename("/a", "/a/b/c/new"), Errno::EINVAL);
    refused(tree.node("/").rename(b"a", &*tree.node("/a/b"), b"x", true), Errno::EINVAL);
    refused(tree.rename("/e", "/f"), Errno::ENOTDIR);
    refused(tree.rename("/f", "/e"), Errno::EISDIR);
    refused(tree.rename("/e", "/a"), Errno::ENOTEMPTY);
    refused(tree.rename("/none", "/x"), Errno::ENOENT);
    refused(tree.rename("/f", "/x/"), Errno::ENOTDIR);
    refused(tree.rename("/e/.", "/x"), Errno::EBUSY);
    for same in ["/f", "/a"] {
        tree.rename(same, same).unwrap();
        assert_eq!(tree.node(same).metadata().unwrap().nlink, 1);
    }
    assert_eq!(tree.fs.usage(), before);
    let old = tree.open("/g", O_RDWR).unwrap();
    tree.rename("/f", "/g").unwrap();
    assert_eq!(tree.read("/g").unwrap(), b"f");
    assert_eq!(read_all(&old).unwrap(), b"g", "who has the old file open keeps it");
    tree.rename("/a/b", "/e").unwrap();
    assert_eq!(tree.list("/e").unwrap(), ["c"]);
    tree.rename("/e", "/a/moved/").unwrap();
    assert_eq!(tree.canonical("/", "/a/moved/c/..", true).unwrap(), "/a/moved");
    refused(tree.rename("/a", "/a/moved/c/a"), Errno::EINVAL);
    refused(tree.node("/").rename(b"a", &*tree.node("/a/moved/c"), b"x", true), Errno::EINVAL);
}

#[test]
fn a_moved_directory_knows_where_it_is() {
    let tree = tree();
    for dir in ["/a", "/a/b", "/c"] {
        tree.mkdir(dir).unwrap();
    }
    tree.rename("/a/b", "/c/b").unwrap();
    tree.rename("/a", "/c/b/a").unwrap();
    refused(tree.node("/").rename(b"c", &*tree.node("/c/b/a"), b"x", true), Errno::EINVAL);
    assert_eq!(tree.list("/c/b").unwrap(), ["a"]);
}

#[test]
fn a_removed_directory_takes_nothing_more() {
    let tree = tree();
    tree.mkdir("/d").unwrap();
    tree.mkdir("/e").unwrap();
    tree.write("/f", b"").unwrap();
    let removed = tree.node("/d");
    let replaced = tree.node("/e");
    tree.rmdir("/d").unwrap();
    tree.mkdir("/new").unwrap();
    tree.rename("/new", "/e").unwrap();
    for dir in [removed, replaced] {
        refused(dir.create(b"x", 0), Errno::ENOENT);
        refused(tree.node("/").rename(b"f", &*dir, b"f", true), Errno::ENOENT);
    }
    assert_eq!(tree.list("/").unwrap(), ["f", "e"]);
}

#[test]
fn times_tell_the_last_change() {
    let tree = tree();
    tree.write("/f", b"1").unwrap();
    let times = || (tree.node("/f").metadata().unwrap().mtime, tree.node("/").metadata().unwrap().mtime);
    let (file, dir) = times();
    tree.open("/f", O_RDWR).unwrap().write(b"2").unwrap();
    let (file_after, dir_after) = times();
    assert!(file_after > file && dir_after == dir);
    tree.rename("/f", "/g").unwrap();
    tree.rename("/g", "/f").unwrap();
    let (file_last, dir_last) = times();
    assert!(file_last == file_after && dir_last > dir);
}

#[test]
fn a_listing_shows_each_entry_that_stays_once() {
    let tree = tree();
    for n in 0..10 {
        tree.write(&format!("/{n}"), b"").unwrap();
    }
    let root = tree.node("/");
    let mut seen = Vec::new();
    let mut cursor = 0;
    for round in 0..5 {
        root.read_dir(cursor, &mut |entry| {
            if seen.len() == (round + 1) * 2 {
                return false;
            }
            seen.push(String::from_utf8(entry.name.to_vec()).unwrap());
            cursor = entry.next;
            true
        })
        .unwrap();
        // One that was seen goes, one comes: neither may shift the rest.
        tree.unlink(&format!("/{round}")).unwrap();
        tree.write(&format!("/new{round}"), b"").unwrap();
    }
    assert_eq!(seen, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

#[derive(Clone, Debug)]
enum Op {
    Write(usize, usize, Vec<u8>),
    Truncate(usize, usize),
    Unlink(usize),
    Rename(usize, usize),
}

fn op() -> impl Strategy<Value = Op> {
    let bytes = prop::collection::vec(any::<u8>(), 0..300);
    prop_oneof![
        4 => (0..5_usize, 0..500_usize, bytes).prop_map(|(f, at, bytes)| Op::Write(f, at, bytes)),
        2 => (0..5_usize, 0..600_usize).prop_map(|(f, size)| Op::Truncate(f, size)),
        1 => (0..5_usize).prop_map(Op::Unlink),
        1 => (0..5_usize, 0..5_usize).prop_map(|(f, g)| Op::Rename(f, g)),
    ]
}

fn apply(tree: &Tree, model: &mut BTreeMap<String, Vec<u8>>, op: Op) {
    let name = |n: usize| format!("/{n}");
    match op {
        Op::Write(f, at, bytes) => {
            let file = tree.open(&name(f), O_RDWR | O_CREAT).unwrap();
            file.write_at(at as u64, &bytes).unwrap();
            let content = model.entry(name(f)).or_default();
            if !bytes.is_empty() {
                content.resize(content.len().max(at + bytes.len()), 0);
                content[at..at + bytes.len()].copy_from_slice(&bytes);
            }
        }
        Op::Truncate(f, size) => {
            tree.open(&name(f), O_RDWR | O_CREAT).unwrap().truncate(size as u64).unwrap();
            model.entry(name(f)).or_default().resize(size, 0);
        }
        Op::Unlink(f) => assert_eq!(tree.unlink(&name(f)).is_ok(), model.remove(&name(f)).is_some()),
        Op::Rename(f, g) => {
            let content = model.remove(&name(f));
            assert_eq!(tree.rename(&name(f), &name(g)).is_ok(), content.is_some());
            model.extend(content.map(|content| (name(g), content)));
        }
    }
}

proptest! {
    #[test]
    fn it_agrees_with_a_map_of_names_to_bytes(ops in prop::collection::vec(op(), 1..60)) {
        let tree = tree();
        let empty = tree.fs.usage().used;
        let mut model = BTreeMap::new();
        for op in ops {
            apply(&tree, &mut model, op);
            for (name, content) in &model {
                prop_assert_eq!(&tree.read(name).unwrap(), content);
            }
            prop_assert_eq!(tree.list("/").unwrap().len(), model.len());
        }
        for name in model.keys() {
            tree.unlink(name).unwrap();
        }
        prop_assert_eq!(tree.fs.usage().used, empty);
    }
}
