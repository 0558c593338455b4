//! READDIR and FSINFO.

use std::time::{Duration, Instant};

use askr_wire::message::{
    FsInfoReply, ListRequest, NodeEntry, NodeType, ReaddirReply, ReaddirRequest, StatReply,
};
use askr_wire::status::Status;
use askr_wire::{Message, code};

use super::{GUEST, Peer, bytes, stream, write, write_at};

/// An entry as the guest tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) node_type: NodeType,
    pub(crate) mode: u16,
    pub(crate) size: u64,
    pub(crate) mtime: u64,
    pub(crate) name: Vec<u8>,
}

/// One page, and the cursor of the next.
fn page(peer: &mut Peer, path: &[u8], cursor: u64) -> (u64, Vec<Entry>) {
    let body = peer.ok(code::READDIR, &bytes(&ReaddirRequest { cursor, path }));
    let reply = ReaddirReply::decode(&body).unwrap();
    let owned = |NodeEntry { node_type, mode, size, mtime, name }| {
        let name: &[u8] = name;
        Entry { node_type, mode, size, mtime, name: name.to_vec() }
    };
    (reply.next, reply.entries.iter().map(owned).collect())
}

/// All entries of a directory.
pub(crate) fn entries(peer: &mut Peer, path: &[u8]) -> Vec<Entry> {
    let (mut next, mut all) = page(peer, path, 0);
    while next != 0 {
        let (after, more) = page(peer, path, next);
        all.extend(more);
        next = after;
    }
    all
}

fn fill(peer: &mut Peer, path: &str, count: usize) {
    peer.ok(code::MKDIR, path.as_bytes());
    let files = (0..count).map(|n| write(format!("{path}/file {n:06}").as_bytes(), b""));
    assert!(stream(peer, code::WRITE, files).all(|(status, _)| status == Status::Ok));
}

fn clear(peer: &mut Peer, path: &str) {
    let names: Vec<_> = entries(peer, path.as_bytes()).into_iter().map(|entry| entry.name).collect();
    let files = names.iter().map(|name| [path.as_bytes(), b"/", name].concat());
    assert!(stream(peer, code::UNLINK, files).all(|(status, _)| status == Status::Ok));
    assert_eq!(peer.path_status(code::RMDIR, path.as_bytes()), Status::Ok);
}

#[test]
fn entries_have_their_type_mode_size_and_time_and_links_are_not_followed() {
    let mut askr = GUEST.take();
    for place in ["/tmp/kinds", "/disk/kinds"] {
        askr.run(&format!("mkdir {place}; ln -s /bin/sh {place}/link; mkdir {place}/directory"));
        let mut peer = Peer::in_session(askr.vm());
        let file = format!("{place}/file").into_bytes();
        peer.ok(code::WRITE, &write(&file, b"twelve bytes"));
        let facts = StatReply::decode(&peer.ok(code::STAT, &file)).unwrap();
        let mut found = entries(&mut peer, place.as_bytes());
        found.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let told: Vec<_> =
            found.iter().map(|entry| (entry.node_type, entry.mode, entry.size, &entry.name[..])).collect();
        let size = found[0].size; // of a directory: what the file system says
        assert_eq!(
            told,
            [
                (NodeType::Directory, 0o755, size, &b"directory"[..]),
                (NodeType::File, 0o644, 12, b"file"),
                (NodeType::Symlink, 0o777, 7, b"link"),
            ]
        );
        assert_eq!(found[1].mtime, facts.mtime);
        drop(peer);
        askr.run(&format!("rm -r {place}"));
    }
    let mut peer = Peer::in_session(askr.vm());
    let devices = entries(&mut peer, b"/dev");
    assert!(devices.iter().any(|entry| entry.name == b"null" && entry.node_type == NodeType::Device));
    let root = entries(&mut peer, b"/");
    let proc = root.iter().find(|entry| entry.name == b"proc").unwrap();
    assert_eq!(
        (proc.node_type, proc.mode),
        (NodeType::Directory, 0o555),
        "what is mounted, not what is below"
    );
    let processes = entries(&mut peer, b"/proc");
    assert!(processes.iter().any(|entry| entry.name == b"1"));
    assert!(processes.iter().any(|entry| entry.name == b"self" && entry.node_type == NodeType::Symlink));
    // A session with small frames gets more pages of the same.
    peer.set_session(None);
    assert_eq!(peer.call(code::READDIR, &bytes(&ReaddirRequest { cursor: 0, path: b"/" })).0, Status::Inval);
}

#[test]
fn entries_that_stay_come_once_while_others_come_and_go() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for place in ["/tmp/changing", "/disk/changing"] {
        fill(&mut peer, place, 400);
        let (mut next, mut all) = page(&mut peer, place.as_bytes(), 0);
        let mut round = 0;
        while next != 0 {
            let gone = format!("{place}/file {round:06}").into_bytes();
            assert_eq!(peer.path_status(code::UNLINK, &gone), Status::Ok);
            peer.ok(code::WRITE, &write(format!("{place}/more {round}").as_bytes(), b""));
            let (after, more) = page(&mut peer, place.as_bytes(), next);
            all.extend(more);
            (next, round) = (after, round + 1);
        }
        assert!(round > 1, "it was one page");
        let mut names: Vec<_> = all.into_iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "an entry came twice");
        for n in round..400 {
            let name = format!("file {n:06}").into_bytes();
            assert!(names.binary_search(&name).is_ok(), "file {n} is missing");
        }
        clear(&mut peer, place);
    }
}

#[test]
fn any_cursor_gets_an_answer() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for path in [&b"/"[..], b"/bin", b"/proc", b"/proc/1", b"/dev", b"/disk"] {
        for cursor in [1, 2, 1 << 31, 1 << 63, u64::MAX - 2, u64::MAX - 1, u64::MAX] {
            let (next, entries) = page(&mut peer, path, cursor);
            assert!(next == 0 || !entries.is_empty(), "{} from {cursor}", path.escape_ascii());
        }
    }
    let readdir = |path| bytes(&ReaddirRequest { cursor: 0, path });
    assert_eq!(peer.call(code::READDIR, &readdir(b"/bin/sh")).0, Status::NotDir);
    assert_eq!(peer.call(code::READDIR, &readdir(b"/nothing")).0, Status::NoEnt);
}

/// A directory of four times as many entries takes four times as long; where each page or each name would begin at the
/// front it takes sixteen times as long.
#[test]
fn a_directory_of_ten_thousand_entries_is_listed_in_linear_time() {
    const SMALL: usize = 2_500;
    const LARGE: usize = 10_000;
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let mut time = |path: &str, count| {
        fill(&mut peer, path, count);
        let best = (0..5).map(|_| {
            let start = Instant::now();
            assert_eq!(entries(&mut peer, path.as_bytes()).len(), count);
            start.elapsed()
        });
        let best = best.min().unwrap_or(Duration::MAX);
        clear(&mut peer, path);
        best
    };
    let (small, large) = (time("/tmp/small", SMALL), time("/tmp/large", LARGE));
    eprintln!("{SMALL} entries in {small:?}, {LARGE} in {large:?}");
    assert!(large < small * 9, "{SMALL} entries took {small:?}, {LARGE} took {large:?}");
}

/// `cargo test --test verbs on_the_disk_takes -- --ignored --nocapture` prints how long it is.
#[test]
#[ignore = "measures"]
fn a_large_directory_on_the_disk_takes_its_time() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for count in [500, 1_000, 2_000] {
        fill(&mut peer, "/disk/many", count);
        let start = Instant::now();
        assert_eq!(entries(&mut peer, b"/disk/many").len(), count);
        eprintln!("{count} entries of /disk in {:?}", start.elapsed());
        clear(&mut peer, "/disk/many");
    }
}

fn fsinfo(peer: &mut Peer, path: &[u8]) -> (FsInfoReply<'static>, String, String) {
    let body = peer.ok(code::FSINFO, path);
    let reply = FsInfoReply::decode(&body).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let names = (text(reply.kind), text(reply.mount));
    (FsInfoReply { kind: b"", mount: b"", ..reply }, names.0, names.1)
}

#[test]
fn a_filesystem_tells_what_it_is_and_what_is_free() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    for (path, kind, mount, read_only) in [
        ("/tmp", "ramfs", "/", false),
        ("/bin/sh", "ramfs", "/", false),
        ("/disk", "littlefs", "/disk", false),
        ("/proc/1/status", "procfs", "/proc", true),
        ("/dev/null", "devfs", "/dev", true),
    ] {
        let (facts, told, at) = fsinfo(&mut peer, path.as_bytes());
        assert_eq!((&told[..], &at[..], facts.read_only), (kind, mount, read_only), "{path}");
        assert_eq!(facts.name_max, 255);
        assert!(facts.blocks_free <= facts.blocks);
        assert_eq!(facts.blocks > 0, !read_only, "{path}");
    }
    assert_eq!(peer.path_status(code::FSINFO, b"/nothing"), Status::NoEnt);
    let (disk, ..) = fsinfo(&mut peer, b"/disk");
    assert_eq!(u64::from(disk.block_size) * disk.blocks, 16 << 20);

    // What a file takes is free again as soon as it is removed, though it was just written to.
    for place in ["/tmp", "/disk"] {
        let path = format!("{place}/takes").into_bytes();
        let free = |peer: &mut Peer| fsinfo(peer, place.as_bytes()).0.blocks_free;
        let before = free(&mut peer);
        let pieces = (0..256_u64).map(|n| write_at(&path, n * 2048, &[1; 2048], false));
        assert!(stream(&mut peer, code::WRITE_AT, pieces).all(|(status, _)| status == Status::Ok));
        let with = free(&mut peer);
        assert!(before - with >= 100, "{place}: {before} and then {with}");
        assert_eq!(peer.path_status(code::UNLINK, &path), Status::Ok);
        let after = free(&mut peer);
        assert!(after + 2 >= before, "{place}: {before}, {with}, {after}");
    }
}

/// A page of LIST.
fn old_page(peer: &mut Peer, path: &[u8], start: usize) -> Vec<Vec<u8>> {
    let start = start.try_into().unwrap();
    let body = peer.ok(code::LIST, &bytes(&ListRequest { start, path }));
    let list = askr_wire::List::<askr_wire::message::DirEntry<'_>>::decode(&body).unwrap();
    list.iter().map(|entry| entry.name.to_vec()).collect()
}

#[test]
fn the_old_list_gives_the_same_names() {
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    fill(&mut peer, "/tmp/both", 50);
    let mut names = Vec::new();
    loop {
        let more = old_page(&mut peer, b"/tmp/both", names.len());
        if more.is_empty() {
            break;
        }
        names.extend(more);
    }
    let paged: Vec<_> = entries(&mut peer, b"/tmp/both").into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, paged);
    clear(&mut peer, "/tmp/both");
}

#[test]
fn a_page_of_the_old_list_begins_where_the_last_one_ended() {
    const PATH: &str = "/tmp/turned";
    let mut askr = GUEST.take();
    let mut peer = Peer::in_session(askr.vm());
    let names = |peer: &mut Peer| -> Vec<_> {
        entries(peer, PATH.as_bytes()).into_iter().map(|entry| entry.name).collect()
    };
    let remove = |peer: &mut Peer, name: &[u8]| {
        let path = [PATH.as_bytes(), b"/", name].concat();
        assert_eq!(peer.path_status(code::UNLINK, &path), Status::Ok);
    };
    fill(&mut peer, PATH, 50);
    let before = names(&mut peer);
    assert_eq!(old_page(&mut peer, PATH.as_bytes(), 0), before[..16]);
    remove(&mut peer, &before[3]);
    assert_eq!(old_page(&mut peer, PATH.as_bytes(), 16), before[16..32], "nobody is passed over");
    // Any other number is counted from the front.
    let after = names(&mut peer);
    for start in [20, 7, 7, 48, 0] {
        let end = after.len().min(start + 16);
        assert_eq!(old_page(&mut peer, PATH.as_bytes(), start), after[start..end], "from {start}");
    }
    // So is one of another directory of that name.
    clear(&mut peer, PATH);
    fill(&mut peer, PATH, 50);
    let others = names(&mut peer);
    others[..10].iter().for_each(|name| remove(&mut peer, name));
    assert_eq!(old_page(&mut peer, PATH.as_bytes(), 16), others[26..42]);
    clear(&mut peer, PATH);
}
