//! Directories that are larger than what is kept of the disk in memory.

use askr_vfs::{Errno, Vnode};

use crate::device::{HOOKS, Ram};
use crate::files::write;

/// Entries: their names take more than the blocks that the tests keep otherwise.
const ENTRIES: usize = 1200;
/// Entries that are taken at once.
const TAKEN: usize = 20;

/// A disk with so many empty files in its root.
fn crowded() -> Ram {
    let ram = Ram::formatted(16 << 20);
    let fs = ram.mount();
    for number in 0..ENTRIES {
        write(&fs.root(), &format!("file{number:04}"), b"").flush().unwrap();
    }
    ram
}

/// The next names with their sizes from a cursor on, which moves behind them.
fn page(dir: &dyn Vnode, cursor: &mut u64, count: usize) -> Vec<(String, u64)> {
    let mut page = Vec::new();
    dir.read_dir(*cursor, &mut |entry| {
        if page.len() == count {
            return false;
        }
        let size = entry.facts.expect("the disk tells them").size;
        page.push((String::from_utf8(entry.name.to_vec()).unwrap(), size));
        *cursor = entry.next;
        true
    })
    .unwrap();
    page
}

#[test]
fn a_listing_in_pages_reads_the_disk_no_more_often_than_one_at_once() {
    let ram = crowded();
    let reads = || ram.0.lock().unwrap().reads;
    let fs = ram.mount();
    let before = reads();
    assert_eq!(page(&*fs.root(), &mut 0, usize::MAX).len(), ENTRIES);
    let at_once = reads() - before;
    assert!(at_once > 20, "the directory is larger than what is kept: {at_once} reads");

    let (before, mut cursor, mut listed) = (reads(), 0, 0);
    loop {
        let taken = page(&*fs.root(), &mut cursor, TAKEN).len();
        if taken == 0 {
            break;
        }
        listed += taken;
    }
    assert_eq!(listed, ENTRIES);
    let in_pages = reads() - before;
    assert!(in_pages <= 2 * at_once, "{in_pages} reads in pages, {at_once} at once");
}

#[test]
fn looking_at_one_entry_after_the_other_reads_no_more_than_the_listing() {
    let ram = crowded();
    let reads = || ram.0.lock().unwrap().reads;
    let fs = ram.mount();
    let root = fs.root();
    let mut cursor = 0;
    let first = page(&*root, &mut cursor, TAKEN);
    let before = reads();
    for (name, _) in &first {
        assert_eq!(root.lookup(name.as_bytes()).unwrap().metadata().unwrap().size, 0);
    }
    assert_eq!(root.lookup(b"nobody").err(), Some(Errno::ENOENT));
    assert_eq!(reads(), before);
    // After a change it is as the disk says.
    root.unlink(first[0].0.as_bytes()).unwrap();
    write(&root, "nobody", b"somebody").flush().unwrap();
    assert_eq!(root.lookup(first[0].0.as_bytes()).err(), Some(Errno::ENOENT));
    assert_eq!(root.lookup(b"nobody").unwrap().metadata().unwrap().size, 8);
}

#[test]
fn what_changes_behind_a_page_is_in_the_next_one() {
    let fs = crowded().mount();
    let root = fs.root();
    let order = page(&*root, &mut 0, usize::MAX);
    let mut cursor = 0;
    assert_eq!(page(&*root, &mut cursor, TAKEN), order[..TAKEN]);
    // One is written to and closed, one is written to and open, one goes, one is moved to another directory.
    let next = &order[TAKEN..TAKEN + 5];
    let node = root.lookup(next[0].0.as_bytes()).unwrap();
    node.open().unwrap();
    node.write_at(0, b"three").unwrap();
    node.flush().unwrap();
    drop(node);
    let open = root.lookup(next[1].0.as_bytes()).unwrap();
    open.open().unwrap();
    open.write_at(0, b"ten letters").unwrap();
    root.unlink(next[2].0.as_bytes()).unwrap();
    let other = root.mkdir(b"other", 0o755).unwrap();
    root.rename(next[3].0.as_bytes(), &*other, b"moved", true).unwrap();

    let mut rest = page(&*root, &mut cursor, usize::MAX);
    rest.retain(|(name, _)| name != "other");
    let mut expected = vec![(next[0].0.clone(), 5), (next[1].0.clone(), 11), next[4].clone()];
    expected.extend_from_slice(&order[TAKEN + 5..]);
    assert_eq!(rest, expected);
    assert_eq!(page(&*other, &mut 0, usize::MAX), [("moved".to_owned(), 0)]);
}

/// A directory's number is free again when nobody uses it any more.
#[test]
fn a_directory_is_not_taken_for_another_that_had_its_number() {
    let fs = Ram::formatted(16 << 20).mount();
    let root = fs.root();
    let first = root.mkdir(b"a", 0o755).unwrap();
    for number in 0..600 {
        write(&first, &format!("file{number:04}"), b"").flush().unwrap();
    }
    root.rename(b"a", &*root, b"b", true).unwrap();
    let second = root.mkdir(b"a", 0o755).unwrap();
    write(&second, "own", b"").flush().unwrap();
    let number = first.metadata().unwrap().ino;
    drop(second);
    // Not to its end, so that its listing is kept.
    assert_eq!(page(&*first, &mut 0, TAKEN).len(), TAKEN);
    drop(first);
    let again = root.lookup(b"a").unwrap();
    assert_eq!(again.metadata().unwrap().ino, number, "as was meant");
    assert!(again.lookup(b"own").is_ok());
    assert_eq!(page(&*again, &mut 0, usize::MAX), [("own".to_owned(), 0)]);
}

#[test]
fn a_directory_that_is_kept_is_not_read_again() {
    let ram = crowded();
    let reads = || ram.0.lock().unwrap().reads;
    for (cached_blocks, is_kept) in [(64, false), (512, true)] {
        let fs = ram.mount_with(askr_disk::Hooks { cached_blocks, ..HOOKS });
        page(&*fs.root(), &mut 0, usize::MAX);
        let before = reads();
        for number in (0..ENTRIES).step_by(100) {
            fs.root().lookup(format!("file{number:04}").as_bytes()).unwrap();
        }
        assert_eq!(reads() == before, is_kept, "with {cached_blocks} blocks: {} reads", reads() - before);
    }
}
