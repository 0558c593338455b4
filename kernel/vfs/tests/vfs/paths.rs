//! What paths lead to: links, dots, slashes, mounts, limits.

use crate::common::{Tree, clock, refused, tree};
use askr_abi::types::{O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY};
use askr_core::path::{is_within, normalize_lexical};
use askr_vfs::{Errno, FixedDir, Kind, LINKS_MAX, MOUNTS_MAX, Place, RamFs, Vnode};
use proptest::prelude::*;
use std::sync::Arc;

/// `/home/me/file`, `/etc/`, and links to them.
fn home() -> Tree {
    let tree = tree();
    for dir in ["/home", "/home/me", "/etc"] {
        tree.mkdir(dir).unwrap();
    }
    tree.write("/home/me/file", b"mine").unwrap();
    tree.symlink("/home/me", "/h").unwrap();
    tree.symlink("me/../me/file", "/home/f").unwrap();
    tree.symlink("nowhere", "/dangling").unwrap();
    tree
}

#[test]
fn the_canonical_path_has_no_disguise_left() {
    let tree = home();
    for (cwd, path, canonical) in [
        ("/", "/", "/"),
        ("/", "//home//me/", "/home/me"),
        ("/home", "me/./file", "/home/me/file"),
        ("/home/me", "..", "/home"),
        ("/", "../../etc/.", "/etc"),
        ("/", "/h/file", "/home/me/file"),
        ("/", "/h/../f", "/home/me/file"),
        ("/etc", "../home/f", "/home/me/file"),
        ("/", "/h/", "/home/me"),
    ] {
        assert_eq!(tree.canonical(cwd, path, true).unwrap(), canonical, "{path} from {cwd}");
    }
    assert_eq!(tree.canonical("/", "/h", false).unwrap(), "/h");
    assert_eq!(tree.canonical("/", "/h/", false).unwrap(), "/home/me", "a slash follows");
}

#[test]
fn what_is_no_directory_is_not_walked_through() {
    let tree = home();
    for path in ["/home/me/file/", "/home/me/file/.", "/home/me/file/..", "/home/me/file/x", "/home/f/"] {
        refused(tree.canonical("/", path, true), Errno::ENOTDIR);
    }
    for path in ["/none", "/none/x", "/none/..", "/dangling", ""] {
        refused(tree.canonical("/", path, true), Errno::ENOENT);
    }
}

#[test]
fn a_missing_last_name_has_a_place() {
    let tree = home();
    let target = tree.vfs.locate(&tree.node("/home"), b"../h/new", true).unwrap();
    assert!(target.node.is_none());
    assert_eq!((target.name().unwrap(), &target.path[..]), (&b"new"[..], &b"/home/me/new"[..]));
    assert_eq!(target.parent.metadata().unwrap().ino, tree.node("/home/me").metadata().unwrap().ino);
}

#[test]
fn links_end_after_forty() {
    let tree = tree();
    tree.write("/l0", b"end").unwrap();
    for n in 1..=LINKS_MAX + 1 {
        tree.symlink(&format!("l{}", n - 1), &format!("/l{n}")).unwrap();
    }
    assert_eq!(tree.read(&format!("/l{LINKS_MAX}")).unwrap(), b"end");
    refused(tree.read(&format!("/l{}", LINKS_MAX + 1)), Errno::ELOOP);
    tree.symlink("loop/x", "/loop").unwrap();
    refused(tree.read("/loop"), Errno::ELOOP);
}

#[test]
fn lengths_are_limited() {
    let tree = tree();
    let name = "n".repeat(255);
    tree.write(&format!("/{name}"), b"").unwrap();
    refused(tree.write(&format!("/{name}n"), b""), Errno::ENAMETOOLONG);
    let mut path = String::new();
    while path.len() + 256 < 4096 {
        path = format!("{path}/{}", "d".repeat(255));
        tree.mkdir(&path).unwrap();
    }
    refused(tree.canonical("/", &format!("{path}/{name}"), true), Errno::ENAMETOOLONG);
    refused(tree.vfs.locate(&tree.node(&path), name.as_bytes(), true), Errno::ENAMETOOLONG);
    refused(tree.vfs.locate(&tree.vfs.root(), b"/a\0b", true), Errno::EINVAL);
    refused(tree.symlink(&"a".repeat(4096), "/link"), Errno::ENAMETOOLONG);
}

#[test]
fn open_follows_its_flags() {
    let tree = home();
    refused(tree.open("/none", O_RDONLY), Errno::ENOENT);
    refused(tree.open("/home", O_WRONLY), Errno::EISDIR);
    refused(tree.open("/home", O_RDONLY | O_CREAT), Errno::EISDIR);
    refused(tree.open("/home/f", O_RDONLY | O_DIRECTORY), Errno::ENOTDIR);
    refused(tree.open("/home/f", O_RDONLY | O_NOFOLLOW), Errno::ELOOP);
    refused(tree.open("/home/f", O_RDWR | O_CREAT | O_EXCL), Errno::EEXIST);
    refused(tree.open("/dangling", O_RDWR | O_CREAT | O_EXCL), Errno::EEXIST);
    refused(tree.open("/new/", O_RDWR | O_CREAT), Errno::EISDIR);
    refused(tree.open("/home/f", 3), Errno::EINVAL);
    assert_eq!(tree.open("/home/f", O_RDONLY).unwrap().path(), b"/home/me/file");
    tree.write("/dangling", b"made").unwrap();
    assert_eq!(tree.read("/nowhere").unwrap(), b"made");
    tree.open("/nowhere", O_RDONLY | O_TRUNC).unwrap();
    assert_eq!(tree.read("/nowhere").unwrap(), b"made", "only who may write may cut");
    tree.open("/nowhere", O_WRONLY | O_TRUNC).unwrap();
    assert_eq!(tree.read("/nowhere").unwrap(), b"");
}

#[test]
fn entries_are_made_and_removed_where_it_makes_sense() {
    let tree = home();
    refused(tree.mkdir("/"), Errno::EEXIST);
    refused(tree.mkdir("/home/."), Errno::EEXIST);
    refused(tree.mkdir("/dangling"), Errno::EEXIST);
    tree.mkdir("/slash/").unwrap();
    refused(tree.symlink("", "/empty"), Errno::ENOENT);
    refused(tree.symlink("x", "/new/"), Errno::ENOENT);
    refused(tree.unlink("/home"), Errno::EISDIR);
    refused(tree.unlink("/"), Errno::EISDIR);
    refused(tree.unlink("/h/"), Errno::ENOTDIR);
    refused(tree.unlink("/none"), Errno::ENOENT);
    refused(tree.rmdir("/h"), Errno::ENOTDIR);
    refused(tree.rmdir("/h/"), Errno::ENOTDIR);
    refused(tree.rmdir("/home/f"), Errno::ENOTDIR);
    refused(tree.rmdir("/home"), Errno::ENOTEMPTY);
    refused(tree.rmdir("/etc/."), Errno::EINVAL);
    refused(tree.rmdir("/"), Errno::EBUSY);
    tree.unlink("/h").unwrap();
    assert_eq!(tree.read("/home/me/file").unwrap(), b"mine", "unlink takes the link, not its target");
    tree.rmdir("/slash/").unwrap();
}

#[test]
fn mounts_cover_directories_and_dots_cross_them() {
    let tree = home();
    let other = RamFs::new(2, 1 << 20, clock);
    refused(tree.vfs.mount(b"/home/f", "ramfs", other.root()), Errno::ENOTDIR);
    tree.mkdir("/mnt").unwrap();
    tree.vfs.mount(b"/h/../../mnt", "ramfs", other.root()).unwrap();
    refused(tree.vfs.mount(b"/mnt", "ramfs", other.root()), Errno::EBUSY);
    tree.write("/mnt/inside", b"2").unwrap();
    assert_eq!(other.root().lookup(b"inside").unwrap().metadata().unwrap().dev, 2);
    assert_eq!(tree.canonical("/mnt", "..", true).unwrap(), "/");
    assert_eq!(tree.canonical("/", "/mnt/../etc", true).unwrap(), "/etc");
    tree.symlink("/mnt/inside", "/to").unwrap();
    assert_eq!(tree.read("/to").unwrap(), b"2");
    for busy in [tree.rmdir("/mnt"), tree.rename("/mnt", "/m"), tree.rename("/etc", "/mnt")] {
        refused(busy, Errno::EBUSY);
    }
    refused(tree.rename("/home/me/file", "/mnt/file"), Errno::EXDEV);
    let points: Vec<_> = tree.vfs.mounts().into_iter().map(|(path, mount)| (path, mount.name)).collect();
    assert_eq!(points, [(b"/".to_vec(), "ramfs"), (b"/mnt".to_vec(), "ramfs")]);
}

#[test]
fn a_directory_with_a_mount_below_stays() {
    let tree = home();
    tree.vfs.mount(b"/home/me", "ramfs", RamFs::new(2, 1 << 20, clock).root()).unwrap();
    refused(tree.rename("/home", "/house"), Errno::EBUSY);
    for n in 0..MOUNTS_MAX - 2 {
        tree.mkdir(&format!("/{n}")).unwrap();
        let root = RamFs::new(10 + n as u64, 0, clock).root();
        tree.vfs.mount(format!("/{n}").as_bytes(), "ramfs", root).unwrap();
    }
    refused(tree.vfs.mount(b"/etc", "ramfs", RamFs::new(9, 0, clock).root()), Errno::EBUSY);
}

#[test]
fn a_fixed_directory_gives_its_entries_and_takes_none() {
    let tree = home();
    let file = tree.node("/home/me/file");
    tree.vfs
        .mount(
            b"/etc",
            "devfs",
            Arc::new(FixedDir::new(4, 1, Place::Root, vec![("a", file.clone()), ("b", file)])),
        )
        .unwrap();
    assert_eq!(tree.list("/etc").unwrap(), ["a", "b"]);
    assert_eq!(tree.read("/etc/b").unwrap(), b"mine");
    refused(tree.read("/etc/c"), Errno::ENOENT);
    refused(tree.write("/etc/c", b""), Errno::EROFS);
    refused(tree.mkdir("/etc/c"), Errno::EROFS);
    refused(tree.unlink("/etc/a"), Errno::EROFS);
    assert_eq!(tree.node("/etc").metadata().unwrap().kind, Kind::Directory);
}

#[test]
fn what_no_rename_can_do_is_refused_whatever_the_file_system_says() {
    let tree = home();
    let above: Arc<dyn Vnode> = Arc::new(FixedDir::new(4, 1, Place::Root, Vec::new()));
    let place = Place::In { parent: above, name: b"inner".to_vec() };
    let inner: Arc<dyn Vnode> = Arc::new(FixedDir::new(4, 2, place, Vec::new()));
    let outer = FixedDir::new(4, 1, Place::Root, vec![("inner", inner)]);
    tree.vfs.mount(b"/etc", "devfs", Arc::new(outer)).unwrap();
    refused(tree.rename("/etc/inner", "/etc/inner/x"), Errno::EINVAL);
    refused(tree.rename("/etc/inner", "/x"), Errno::EXDEV);
    refused(tree.rename("/etc/inner", "/etc/x"), Errno::EROFS);
}

proptest! {
    #[test]
    fn a_canonical_path_leads_to_the_same_node_by_its_letters(
        parts in prop::collection::vec(prop::sample::select(&["..", ".", "", "home", "me", "h", "f", "etc", "file"][..]), 1..8),
        cwd in prop::sample::select(&["/", "/home", "/home/me"][..]),
    ) {
        let tree = home();
        if let Ok(target) = tree.vfs.locate(&tree.node(cwd), parts.join("/").as_bytes(), true) {
            prop_assert_eq!(&normalize_lexical(&target.path), &target.path);
            prop_assert!(!is_within(&target.path, b"/h"), "a link is never part of it");
            let again = tree.vfs.locate(&tree.vfs.root(), &target.path, false).unwrap();
            let ino = |node: Option<Arc<dyn Vnode>>| node.map(|node| node.metadata().unwrap().ino);
            prop_assert_eq!(ino(again.node), ino(target.node));
            prop_assert_eq!(again.path, target.path);
        }
    }
}

#[test]
fn a_path_starts_at_a_directory_wherever_it_has_gone() {
    let tree = home();
    let me = tree.node("/home/me");
    let from = |path: &str| tree.vfs.locate(&me, path.as_bytes(), true).map(|target| target.path);
    tree.mkdir("/new").unwrap();
    tree.rename("/home/me", "/new/me").unwrap();
    assert_eq!(from("file").unwrap(), b"/new/me/file");
    assert_eq!(from("..").unwrap(), b"/new");
    assert_eq!(tree.vfs.path_of(&me).unwrap(), b"/new/me");
    tree.unlink("/new/me/file").unwrap();
    tree.rmdir("/new/me").unwrap();
    assert_eq!(tree.vfs.path_of(&me), Err(Errno::ENOENT));
    assert_eq!(from(".").unwrap(), b"");
    for path in ["file", "..", "./x"] {
        assert_eq!(from(path), Err(Errno::ENOENT), "{path}");
    }
    assert_eq!(from("/").unwrap(), b"/");
}
