//! Small archives, most of them by the tar library that builds the real one.

use tar::{Builder, EntryType, Header};

use crate::Seed;

fn header(kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(0o755);
    header.set_mtime(1_700_000_000);
    header.set_size(size as u64);
    header
}

type Tar = Builder<Vec<u8>>;

fn file(tar: &mut Tar, path: &str, content: &[u8]) {
    let mut header = header(EntryType::Regular, content.len());
    tar.append_data(&mut header, path, content).expect("memory takes it");
}

fn directory(tar: &mut Tar, path: &str) {
    tar.append_data(&mut header(EntryType::Directory, 0), path, &[][..]).expect("memory takes it");
}

fn link(tar: &mut Tar, path: &str, target: &str) {
    tar.append_link(&mut header(EntryType::Symlink, 0), path, target).expect("memory takes it");
}

/// An entry with its path and kind as they are, whatever the library thinks of them.
fn raw(tar: &mut Tar, path: &[u8], kind: u8, content: &[u8]) {
    let mut header = header(EntryType::new(kind), content.len());
    header.as_mut_bytes()[..path.len()].copy_from_slice(path);
    header.set_cksum();
    tar.append(&header, content).expect("memory takes it");
}

fn archive(name: &str, fill: impl FnOnce(&mut Tar)) -> Seed {
    let mut tar = Builder::new(Vec::new());
    fill(&mut tar);
    (name.to_owned(), tar.into_inner().expect("memory takes it"))
}

fn damaged(name: &str, at: usize, with: &[u8]) -> Seed {
    let (_, mut bytes) = archive(name, |tar| file(tar, "bin/x", b"x"));
    bytes[at..at + with.len()].copy_from_slice(with);
    (name.to_owned(), bytes)
}

pub(crate) fn archives() -> Vec<Seed> {
    let long = "long/".repeat(60) + "name";
    vec![
        ("nothing".to_owned(), Vec::new()),
        ("end-only".to_owned(), vec![0; 1024]),
        ("half-a-block".to_owned(), vec![b'x'; 256]),
        archive("file", |tar| file(tar, "etc/motd", b"welcome\n")),
        archive("empty-file", |tar| file(tar, "empty", b"")),
        archive("over-a-block", |tar| file(tar, "a", &[7; 700])),
        archive("tree", |tar| {
            directory(tar, "./");
            directory(tar, "bin/");
            file(tar, "bin/sh", b"\x7fELF");
            directory(tar, "tmp");
            link(tar, "bin/ash", "sh");
        }),
        archive("implied", |tar| file(tar, "a/b/c/d", b"deep")),
        archive("twice", |tar| {
            file(tar, "x", b"old");
            file(tar, "x", b"new");
            link(tar, "x", "y");
        }),
        archive("through-a-link", |tar| {
            link(tar, "a", "/tmp");
            file(tar, "a/b", b"x");
        }),
        archive("through-a-file", |tar| {
            file(tar, "a", b"");
            file(tar, "a/b", b"x");
        }),
        archive("over-a-directory", |tar| {
            directory(tar, "a");
            file(tar, "a", b"x");
        }),
        archive("gnu-long", |tar| file(tar, &long, b"x")),
        archive("prefix", |tar| {
            let path = "p/".repeat(60) + "name";
            let mut header = header(EntryType::Regular, 1);
            header.set_path(path).expect("fits into prefix and name");
            header.set_cksum();
            tar.append(&header, &b"x"[..]).expect("memory takes it");
        }),
        archive("pax-path", |tar| {
            let records = [("path", &b"from/pax"[..]), ("mtime", b"1700000000.5")];
            tar.append_pax_extensions(records).expect("memory takes it");
            file(tar, "from/header", b"x");
        }),
        archive("pax-link-size", |tar| {
            tar.append_pax_extensions([("linkpath", &b"there"[..])]).expect("memory takes it");
            link(tar, "l", "here");
            tar.append_pax_extensions([("size", &b"3"[..])]).expect("memory takes it");
            raw(tar, b"f", b'0', b"abc");
        }),
        archive("pax-global", |tar| {
            raw(tar, b"pax_global", b'g', b"20 comment=a commit\n");
            file(tar, "x", b"");
        }),
        archive("pax-broken", |tar| raw(tar, b"pax", b'x', b"99 path=x\n")),
        archive("parent", |tar| raw(tar, b"../etc/x", b'0', b"x")),
        archive("absolute", |tar| raw(tar, b"/etc/x", b'0', b"x")),
        archive("slash-file", |tar| raw(tar, b"dir/", b'0', b"")),
        archive("hard-link", |tar| raw(tar, b"x", b'1', b"")),
        archive("device", |tar| raw(tar, b"dev/null", b'3', b"")),
        archive("no-name", |tar| raw(tar, b"", b'0', b"")),
        damaged("checksum", 148, b"000000"),
        damaged("magic", 257, b"UstAr"),
        damaged("number", 124, b"9"),
        damaged("base-256", 124, &[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        damaged("negative", 124, &[0xff; 12]),
        damaged("too-long", 124, b"77777777777"),
    ]
}
