//! What programs see: files, directories, links, as POSIX has them.

use std::collections::BTreeMap;
use std::sync::Arc;

use askr_abi::types::Timespec;
use askr_vfs::{Change, Errno, Kind, Place, Vnode};

use crate::device::{FULL, Ram};

const SIZE: usize = 1 << 20;

type Node = Arc<dyn Vnode>;

pub(crate) fn read(node: &Node) -> Vec<u8> {
    let mut content = vec![0; node.metadata().unwrap().size as usize + 10];
    let mut done = 0;
    loop {
        match node.read_at(done as u64, &mut content[done..]).unwrap() {
            0 => break,
            count => done += count,
        }
    }
    content.truncate(done);
    content
}

pub(crate) fn write(dir: &Node, name: &str, content: &[u8]) -> Node {
    let node = dir.create(name.as_bytes(), 0o644).unwrap();
    node.open().unwrap();
    let mut done = 0;
    while done < content.len() {
        done += node.write_at(done as u64, &content[done..]).unwrap();
    }
    node
}

pub(crate) fn names(dir: &Node) -> BTreeMap<String, Kind> {
    let mut names = BTreeMap::new();
    dir.read_dir(0, &mut |entry| {
        names.insert(String::from_utf8_lossy(entry.name).into_owned(), entry.kind);
        true
    })
    .unwrap();
    names
}

fn err<T>(result: Result<T, Errno>) -> Errno {
    result.err().expect("an error")
}

#[test]
fn content_of_any_size_is_there_after_a_reboot() {
    let ram = Ram::formatted(SIZE);
    let contents: Vec<Vec<u8>> = [0, 1, 511, 512, 513, 4095, 4096, 4097, 100_000]
        .into_iter()
        .map(|size| (0..size).map(|at: usize| (at * 7 + size) as u8).collect())
        .collect();
    {
        let fs = ram.mount();
        let dir = fs.root().mkdir(b"dir", 0o700).unwrap();
        for content in &contents {
            let node = write(&dir, &content.len().to_string(), content);
            assert_eq!(read(&node), *content);
        }
        fs.root().symlink(b"link", b"dir/../dir").unwrap();
        fs.sync().unwrap();
    }
    let fs = ram.mount();
    let dir = fs.root().lookup(b"dir").unwrap();
    assert_eq!(dir.metadata().unwrap().mode, 0o700);
    assert_eq!(names(&dir).len(), contents.len());
    for content in &contents {
        let node = dir.lookup(content.len().to_string().as_bytes()).unwrap();
        let facts = node.metadata().unwrap();
        assert_eq!((facts.kind, facts.mode, facts.size), (Kind::File, 0o644, content.len() as u64));
        assert_eq!((facts.mtime.sec, facts.mtime.nsec), (1_000_000_000, 5));
        assert_eq!(read(&node), *content);
    }
    let link = fs.root().lookup(b"link").unwrap();
    assert_eq!(link.metadata().unwrap().kind, Kind::Symlink);
    assert_eq!(link.read_link().unwrap(), b"dir/../dir");
    assert_eq!(
        names(&fs.root()),
        BTreeMap::from([("dir".into(), Kind::Directory), ("link".into(), Kind::Symlink)])
    );
}

#[test]
fn two_who_opened_a_file_see_the_same() {
    let ram = Ram::formatted(SIZE);
    let fs = ram.mount();
    let one = write(&fs.root(), "f", b"hello");
    let other = fs.root().lookup(b"f").unwrap();
    other.open().unwrap();
    assert_eq!(one.metadata().unwrap().ino, other.metadata().unwrap().ino);
    assert_eq!(read(&other), b"hello");
    assert_eq!(one.append(b" world").unwrap(), (6, 11));
    assert_eq!(other.append(b"!").unwrap(), (1, 12));
    assert_eq!(one.write_at(0, b"J").unwrap(), 1);
    assert_eq!(read(&other), b"Jello world!");
    other.truncate(5).unwrap();
    assert_eq!(read(&one), b"Jello");
    one.truncate(8).unwrap();
    assert_eq!(read(&other), b"Jello\0\0\0");
    other.write_at(10, b"x").unwrap();
    assert_eq!(read(&one), b"Jello\0\0\0\0\0x");
}

#[test]
fn an_open_file_survives_the_removal_of_its_name() {
    for size in [10, 50_000] {
        let ram = Ram::formatted(SIZE);
        let fs = ram.mount();
        let content = vec![b'a'; size];
        drop(write(&fs.root(), "f", &content));
        let open = fs.root().lookup(b"f").unwrap();
        open.open().unwrap();
        fs.root().unlink(b"f").unwrap();
        assert_eq!(err(fs.root().lookup(b"f")), Errno::ENOENT);
        // Its blocks are not given to others.
        write(&fs.root(), "f", &vec![b'b'; 300_000]);
        assert_eq!(read(&open), content);
        assert_eq!(open.metadata().unwrap().nlink, 0);
        open.append(b"more").unwrap();
        open.sync().unwrap();
        assert_eq!(read(&open), [&content[..], b"more"].concat());
        assert_eq!(read(&fs.root().lookup(b"f").unwrap()), vec![b'b'; 300_000]);
        let held = fs.root().statfs().unwrap().free;
        drop(open);
        let free = fs.root().statfs().unwrap().free;
        assert_eq!(free > held, size > 10, "a small file has no blocks of its own: {held}, {free}");
        drop(fs);
        let after = ram.mount().root().statfs().unwrap().free;
        assert_eq!(free, after, "the removed file's blocks are free");
    }
}

#[test]
fn an_open_file_survives_being_moved_and_replaced() {
    let ram = Ram::formatted(SIZE);
    let fs = ram.mount();
    let dir = fs.root().mkdir(b"d", 0o755).unwrap();
    let moved = write(&fs.root(), "a", b"moved");
    let replaced = write(&dir, "b", &[b'r'; 5000]);
    fs.root().rename(b"a", &*dir, b"b", true).unwrap();
    assert_eq!(read(&moved), b"moved");
    assert_eq!(read(&replaced), [b'r'; 5000]);
    moved.append(b"!").unwrap();
    replaced.append(b"?").unwrap();
    // Also when a directory further up is moved.
    fs.root().rename(b"d", &*fs.root(), b"e", true).unwrap();
    moved.append(b"!").unwrap();
    moved.sync().unwrap();
    assert_eq!(read(&replaced).len(), 5001);
    assert_eq!(err(fs.root().lookup(b"d")), Errno::ENOENT);
    assert_eq!(read(&fs.root().lookup(b"e").unwrap().lookup(b"b").unwrap()), b"moved!!");
    drop((moved, replaced, dir, fs));
    let fs = ram.mount();
    assert_eq!(read(&fs.root().lookup(b"e").unwrap().lookup(b"b").unwrap()), b"moved!!");
}

#[test]
fn a_moved_file_without_a_handle_can_be_removed_while_open() {
    let ram = Ram::formatted(SIZE);
    let fs = ram.mount();
    let open = write(&fs.root(), "a", b"content");
    fs.root().rename(b"a", &*fs.root(), b"b", true).unwrap();
    fs.root().unlink(b"b").unwrap();
    assert_eq!(read(&open), b"content");
}

#[test]
fn refusals_change_nothing() {
    let ram = Ram::formatted(SIZE);
    let fs = ram.mount();
    let root = fs.root();
    let dir = root.mkdir(b"d", 0o755).unwrap();
    let inner = dir.mkdir(b"inner", 0o755).unwrap();
    let file = write(&root, "f", b"x");
    assert_eq!(err(root.create(b"f", 0o644)), Errno::EEXIST);
    assert_eq!(err(root.create(b"d", 0o644)), Errno::EEXIST);
    assert_eq!(err(root.mkdir(b"f", 0o755)), Errno::EEXIST);
    assert_eq!(err(root.symlink(b"f", b"x")), Errno::EEXIST);
    assert_eq!(err(root.rmdir(b"f")), Errno::ENOTDIR);
    assert_eq!(err(root.unlink(b"d")), Errno::EISDIR);
    assert_eq!(err(root.rmdir(b"d")), Errno::ENOTEMPTY);
    assert_eq!(err(root.unlink(b"none")), Errno::ENOENT);
    assert_eq!(err(root.rename(b"none", &*root, b"x", true)), Errno::ENOENT);
    assert_eq!(err(root.rename(b"d", &*root, b"f", true)), Errno::ENOTDIR);
    assert_eq!(err(root.rename(b"f", &*root, b"d", true)), Errno::EISDIR);
    assert_eq!(err(root.rename(b"d", &*inner, b"x", true)), Errno::EINVAL);
    assert_eq!(err(file.lookup(b"x")), Errno::ENOTDIR);
    assert_eq!(err(dir.read_at(0, &mut [0])), Errno::EISDIR);
    assert_eq!(err(dir.write_at(0, b"x")), Errno::EISDIR);
    assert_eq!(err(file.read_link()), Errno::EINVAL);
    let empty = root.mkdir(b"empty", 0o755).unwrap();
    write(&inner, "x", b"y");
    assert_eq!(err(root.rename(b"empty", &*dir, b"inner", true)), Errno::ENOTEMPTY);
    root.rename(b"f", &*root, b"f", true).unwrap();
    assert_eq!(read(&root.lookup(b"f").unwrap()), b"x");
    // A directory that was removed while somebody is in it.
    root.rmdir(b"empty").unwrap();
    assert_eq!(err(empty.create(b"x", 0o644)), Errno::ENOENT);
    assert!(names(&empty).is_empty());
}

#[test]
fn rights_and_times_stay() {
    let ram = Ram::formatted(SIZE);
    let mtime = Some(Timespec { sec: -7, nsec: 999_999_999 });
    {
        let fs = ram.mount();
        let dir = fs.root().mkdir(b"d", 0o755).unwrap();
        let open = write(&dir, "open", b"x");
        drop(write(&dir, "closed", b"y"));
        let closed = dir.lookup(b"closed").unwrap();
        for (node, mode) in [(&dir, 0o1777), (&open, 0o4750), (&closed, 0)] {
            node.change(&Change { mode: Some(mode), mtime }).unwrap();
            assert_eq!(node.metadata().unwrap().mode, mode);
        }
        closed.change(&Change { mode: Some(0o600), mtime: None }).unwrap();
        fs.sync().unwrap();
    }
    let fs = ram.mount();
    let dir = fs.root().lookup(b"d").unwrap();
    for (node, mode) in [
        (dir.clone(), 0o1777),
        (dir.lookup(b"open").unwrap(), 0o4750),
        (dir.lookup(b"closed").unwrap(), 0o600),
    ] {
        let facts = node.metadata().unwrap();
        assert_eq!((facts.mode, Some(facts.mtime)), (mode, mtime));
    }
    assert!(matches!(fs.root().place().unwrap(), Place::Root));
    let Place::In { parent, name } = dir.place().unwrap() else { panic!("not the root") };
    assert_eq!((parent.metadata().unwrap().ino, &name[..]), (fs.root().metadata().unwrap().ino, &b"d"[..]));
}

#[test]
fn names_are_bytes_and_up_to_255_long() {
    let ram = Ram::formatted(SIZE);
    let long = [b'n'; 255];
    let odd = b"\xff\x80 \n'";
    {
        let fs = ram.mount();
        for name in [&long[..], odd] {
            fs.root().create(name, 0o600).unwrap().write_at(0, name).unwrap();
        }
        assert_eq!(err(fs.root().create(&[b'n'; 256], 0o600)), Errno::ENAMETOOLONG);
        fs.sync().unwrap();
    }
    let fs = ram.mount();
    for name in [&long[..], odd] {
        assert_eq!(read(&fs.root().lookup(name).unwrap()), name);
    }
    let mut found = Vec::new();
    fs.root()
        .read_dir(0, &mut |entry| {
            found.push(entry.name.to_vec());
            true
        })
        .unwrap();
    assert_eq!(found.len(), 2);
    assert!(found.contains(&odd.to_vec()));
}

#[test]
fn entries_that_stay_are_given_once_while_others_come_and_go() {
    let ram = Ram::formatted(4 * SIZE);
    let fs = ram.mount();
    for at in 0..200 {
        write(&fs.root(), &format!("stay{at}"), b"");
        write(&fs.root(), &format!("go{at}"), b"");
    }
    let (mut seen, mut cursor, mut round) = (BTreeMap::<String, u32>::new(), 0, 0);
    loop {
        let mut given = 0;
        fs.root()
            .read_dir(cursor, &mut |entry| {
                if given == 7 {
                    return false;
                }
                given += 1;
                cursor = entry.next;
                *seen.entry(String::from_utf8(entry.name.to_vec()).unwrap()).or_default() += 1;
                true
            })
            .unwrap();
        if given == 0 {
            break;
        }
        if round < 200 {
            fs.root().unlink(format!("go{round}").as_bytes()).unwrap();
            write(&fs.root(), &format!("new{round}"), b"");
        }
        round += 1;
    }
    assert!((0..200).all(|at| seen[&format!("stay{at}")] == 1));
    assert!(seen.values().all(|&times| times == 1));
}

#[test]
fn a_full_disk_says_so_and_loses_nothing() {
    let ram = Ram::formatted(256 * 1024);
    let fs = ram.mount();
    let keep = write(&fs.root(), "keep", &[b'k'; 10_000]);
    keep.sync().unwrap();
    let big = fs.root().create(b"big", 0o644).unwrap();
    big.open().unwrap();
    let piece = [b'x'; 1000];
    let mut written = 0;
    let errno = loop {
        match big.write_at(written, &piece) {
            Ok(count) => written += count as u64,
            Err(errno) => break errno,
        }
    };
    assert_eq!(errno, Errno::ENOSPC);
    assert!(written > 100_000, "{written}");
    assert_eq!(big.metadata().unwrap().size, written);
    assert_eq!(read(&big), vec![b'x'; written as usize]);
    big.sync().unwrap();
    assert_eq!(err(big.truncate(10 << 20)), Errno::ENOSPC);
    assert_eq!(big.metadata().unwrap().size, written);
    drop((big, keep, fs));
    let fs = ram.mount();
    assert_eq!(read(&fs.root().lookup(b"big").unwrap()), vec![b'x'; written as usize]);
    assert_eq!(read(&fs.root().lookup(b"keep").unwrap()), vec![b'k'; 10_000]);
    // Room can be made.
    fs.root().unlink(b"big").unwrap();
    drop(write(&fs.root(), "again", &[b'y'; 100_000]));
    assert_eq!(read(&fs.root().lookup(b"again").unwrap()).len(), 100_000);
}

#[test]
fn that_a_disk_is_full_is_told_once_until_there_was_room() {
    let fs = Ram::formatted(256 * 1024).mount();
    let fill = |name: &str| {
        let file = fs.root().create(name.as_bytes(), 0o644).unwrap();
        file.open().unwrap();
        let mut at = 0;
        let errno = loop {
            match file.write_at(at, &[b'x'; 4096]) {
                Ok(count) => at += count as u64,
                Err(errno) => break errno,
            }
        };
        assert_eq!(errno, Errno::ENOSPC);
        file.flush().unwrap();
    };
    let before = FULL.get();
    drop(write(&fs.root(), "keep", &[b'k'; 50_000]));
    assert_eq!(FULL.get(), before);
    fill("one");
    assert_eq!(FULL.get(), before + 1);
    let file = fs.root().lookup(b"one").unwrap();
    assert_eq!(err(file.append(&[b'x'; 4096])), Errno::ENOSPC);
    assert_eq!(err(file.append(&[b'x'; 4096])), Errno::ENOSPC);
    assert_eq!(FULL.get(), before + 1, "it is full still");
    fs.root().unlink(b"keep").unwrap();
    fill("two");
    assert_eq!(FULL.get(), before + 2);
}

#[test]
fn a_disk_that_fails_gives_eio_and_what_was_synced_is_there_afterwards() {
    // Fails after each number of operations in turn.
    for good in 0..120 {
        let ram = Ram::formatted(SIZE);
        let fs = ram.mount();
        write(&fs.root(), "old", &[b'o'; 6000]).sync().unwrap();
        ram.0.lock().unwrap().good = Some(good);
        let mut failed = false;
        let mut note = |result: Result<(), Errno>| {
            failed |= result.is_err();
            if let Err(errno) = result {
                assert_eq!(errno, Errno::EIO);
            }
        };
        note(fs.root().create(b"new", 0o644).and_then(|node| {
            node.write_at(0, &[b'n'; 9000])?;
            node.sync()
        }));
        note(fs.root().lookup(b"old").and_then(|node| node.write_at(3000, &[b'z'; 100]).map(drop)));
        note(fs.root().rename(b"new", &*fs.root(), b"newer", true));
        note(fs.root().mkdir(b"dir", 0o755).map(drop));
        note(fs.root().unlink(b"old"));
        note(fs.sync());
        ram.0.lock().unwrap().good = None;
        // The file system goes on where it can.
        let _ = fs.root().create(b"later", 0o644).and_then(|node| node.sync());
        drop(fs);
        let fs = ram.mount();
        for name in names(&fs.root()).into_keys() {
            let node = fs.root().lookup(name.as_bytes()).unwrap();
            match &name[..] {
                "old" => assert_eq!(read(&node).len(), 6000, "after {good}"),
                "new" | "newer" => assert!([0, 9000].contains(&read(&node).len()), "after {good}"),
                _ => {}
            }
        }
        if !failed {
            return;
        }
    }
}
