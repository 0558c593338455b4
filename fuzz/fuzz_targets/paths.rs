//! The rules of paths, and what a path leads to in a tree that changes.
//!
//! The input is text, a command a line: a letter and one or two paths with a tab between them. `c`d, `m`kdir,
//! symbolic `l`ink (target, path), `w`rite, `h`ard link, `u`nlink, `r`mdir, re`n`ame, `g`o (follow the last link), mount `o`n.
//! Another letter only looks.
#![no_main]

use askr_abi::types::{O_CREAT, O_RDONLY, O_RDWR, O_TRUNC, Timespec};
use askr_agentbus::policy::{Action, Origin, Reason, decide};
use askr_core::path::{self, PATH_MAX};
use askr_userland::dirent::Entries;
use askr_vfs::{Kind, RamFs, Result, Target, Vfs, Vnode};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// Most commands of one input.
const COMMANDS_MAX: usize = 128;
/// What each of the two file systems holds: enough to be reached.
const LIMIT: u64 = 16 * 1024;

fuzz_target!(|input: &[u8]| {
    let fs = RamFs::new(1, LIMIT, || Timespec { sec: 1, nsec: 0 });
    let other = RamFs::new(2, LIMIT, || Timespec { sec: 1, nsec: 0 });
    let vfs = Vfs::new("ramfs", fs.root()).expect("memory does not fail");
    let mut world = World { vfs, cwd: fs.root(), other: other.clone() };
    for line in input.split(|&byte| byte == b'\n').take(COMMANDS_MAX) {
        let Some((&command, arguments)) = line.split_first() else { continue };
        let mut parts = arguments.splitn(2, |&byte| byte == b'\t');
        let (first, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        check_rules(first);
        check_rules(second);
        // What a command may not do it must refuse by itself.
        let _ = world.run(command, first, second);
    }
    drop(world);
    for fs in [fs, other] {
        assert!(fs.usage().used <= LIMIT);
        check_listing(fs.root());
        empty(&*fs.root());
        assert_eq!(fs.usage().used, 0, "an empty file system holds something");
    }
});

struct World {
    vfs: Vfs,
    cwd: Arc<dyn Vnode>,
    other: RamFs,
}

impl World {
    fn run(&mut self, command: u8, first: &[u8], second: &[u8]) -> Result<()> {
        let target = self.locate(first, command == b'g' || command == b'c')?;
        match command {
            b'c' if target.existing()?.kind() == Kind::Directory => self.cwd = Arc::clone(target.existing()?),
            b'm' => self.vfs.mkdir(&target, 0o755)?,
            b'l' => self.vfs.symlink(&self.locate(second, false)?, first)?,
            b'w' => self.write(first, second)?,
            b'u' => self.vfs.unlink(&target)?,
            b'r' => self.vfs.rmdir(&target)?,
            b'h' => self.vfs.link(&target, &self.locate(second, false)?)?,
            b'n' => self.rename(&target, &self.locate(second, false)?)?,
            b'o' => self.vfs.mount(first, "other", self.other.root())?,
            _ => {}
        }
        Ok(())
    }

    /// What `path` leads to, by a canonical path that leads to the same.
    fn locate(&self, path: &[u8], follow: bool) -> Result<Target> {
        let target = self.vfs.locate(&self.cwd, path, follow)?;
        if target.path.is_empty() {
            assert!(target.name().is_none(), "nothing is in a directory that has been removed");
            return Ok(target);
        }
        assert_eq!(path::normalize_lexical(&target.path), target.path, "not canonical");
        assert!(path::is_absolute(&target.path) && target.path.len() < PATH_MAX);
        let agent = Origin::Agent { session: None };
        let decided = decide(agent, Action::Write(&target.path)).decision;
        assert_ne!(decided, Err(Reason::NotCanonical));
        assert_eq!(decided.is_err(), path::is_within(&target.path, b"/bin"), "protected is what is in /bin");
        if let Some(name) = target.name() {
            assert_eq!(path::check_name(name), Ok(()));
            assert!(target.path.ends_with(name));
        }
        let again = self.vfs.locate(&self.vfs.root(), &target.path, false)?;
        assert_eq!(again.path, target.path);
        assert!(is_same_or_hidden(again.node.as_deref(), identity(target.node.as_deref())));
        Ok(target)
    }

    fn write(&self, path: &[u8], content: &[u8]) -> Result<()> {
        let flags = O_RDWR | O_CREAT | O_TRUNC;
        let target = self.vfs.locate_for_open(&self.cwd, path, flags)?;
        let file = self.vfs.open(&target, flags, 0o644)?;
        let count = file.write(content)?;
        let mut back = vec![0; content.len() + 1];
        let len = file.read_at(0, &mut back)?;
        assert_eq!(back[..len], content[..count]);
        Ok(())
    }

    fn rename(&self, old: &Target, new: &Target) -> Result<()> {
        let moved = identity(old.node.as_deref());
        self.vfs.rename(old, new, true)?;
        let there = self.vfs.locate(&self.vfs.root(), &new.path, false)?;
        assert!(is_same_or_hidden(there.node.as_deref(), moved), "not moved");
        let gone = self.vfs.locate(&self.vfs.root(), &old.path, false).ok().and_then(|target| target.node);
        let same = identity(gone.as_deref()) == moved;
        let hidden = is_same_or_hidden(gone.as_deref(), moved);
        assert!(gone.is_none() || same || hidden, "the old name is still there");
        Ok(())
    }
}

fn identity(node: Option<&dyn Vnode>) -> Option<(u64, u64)> {
    let metadata = node?.metadata().expect("memory does not fail");
    Some((metadata.dev, metadata.ino))
}

/// Whether a path leads to this node. Whoever stands in a directory goes on standing in it when something is mounted over
/// it; its path leads to another file system then, or to nothing.
fn is_same_or_hidden(node: Option<&dyn Vnode>, wanted: Option<(u64, u64)>) -> bool {
    let found = identity(node);
    found == wanted || found.map(|(dev, _)| dev) != wanted.map(|(dev, _)| dev)
}

/// What holds of any bytes, tree or not.
fn check_rules(bytes: &[u8]) {
    let normal = path::normalize_lexical(bytes);
    assert_eq!(path::normalize_lexical(&normal), normal);
    assert!(path::is_within(&normal, b"/") && path::is_within(&normal, &normal));
    assert!(normal.len() <= bytes.len() + 1);
    let joined = path::join(b"/a/b", bytes);
    assert_eq!(path::is_absolute(bytes), joined == bytes);
    if path::check_name(bytes).is_ok() {
        let mut pushed = normal.clone();
        path::push(&mut pushed, b"x");
        assert!(path::is_within(&pushed, &normal) && !path::is_within(&normal, &pushed));
        path::pop(&mut pushed);
        assert_eq!(pushed, normal);
        assert!(!path::must_be_directory(bytes));
    }
    if askr_wire::check_path(bytes).is_ok() && path::check(bytes).is_err() {
        assert!(bytes.split(|&byte| byte == b'/').any(|part| part.len() > path::NAME_MAX));
    }
}

/// The records of the system call, read by the library of the programs, name the same as the node itself.
fn check_listing(root: Arc<dyn Vnode>) {
    let mut wanted = vec![b".".to_vec(), b"..".to_vec()];
    let listed = root.read_dir(0, &mut |entry| {
        wanted.push(entry.name.to_vec());
        true
    });
    listed.expect("a directory");
    let file = askr_vfs::File::new(root, b"/".to_vec(), O_RDONLY, 1);
    let mut found = Vec::new();
    let mut buffer = [0; 512];
    loop {
        let len = file.read_dirents(&mut buffer).expect("room for one entry");
        if len == 0 {
            break;
        }
        found.extend(Entries::new(&buffer[..len]).map(|entry| entry.name.to_vec()));
    }
    assert_eq!(found, wanted);
}

/// Removes everything in a directory.
fn empty(dir: &dyn Vnode) {
    let mut names = Vec::new();
    let listed = dir.read_dir(0, &mut |entry| {
        names.push((entry.name.to_vec(), entry.kind));
        true
    });
    listed.expect("a directory");
    for (name, kind) in names {
        if kind == Kind::Directory {
            empty(&*dir.lookup(&name).expect("what is listed is there"));
            dir.rmdir(&name).expect("an empty directory goes");
        } else {
            dir.unlink(&name).expect("what is listed goes");
        }
    }
}
