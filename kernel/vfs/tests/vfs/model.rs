//! The file system in memory against a model of it: maps in maps, whose files are numbers of contents.

use std::collections::BTreeMap;

use askr_abi::types::{O_CREAT, O_RDWR, O_TRUNC};
use askr_vfs::{Errno, File, Kind, Result, Vnode};
use proptest::prelude::*;

use crate::common::{Tree, tree};

#[derive(Clone, Debug)]
enum Entry {
    File(usize),
    Directory(Names),
}

type Names = BTreeMap<String, Entry>;

#[derive(Default)]
struct Model {
    root: Names,
    contents: Vec<Vec<u8>>,
}

#[derive(Clone, Debug)]
enum Step {
    Mkdir(String),
    Write(String, Vec<u8>),
    /// Opens a file that is there and keeps it open.
    Open(String),
    /// Writes to one of the open files.
    WriteOpen(usize, usize, Vec<u8>),
    TruncateOpen(usize, usize),
    Unlink(String),
    Rmdir(String),
    Rename(String, String, bool),
    Link(String, String),
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&["a", "b", "c"][..]), 1..4)
        .prop_map(|names| names.iter().fold(String::new(), |path, name| path + "/" + name))
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..50);
    prop_oneof![
        3 => path().prop_map(Step::Mkdir),
        3 => (path(), bytes()).prop_map(|(path, bytes)| Step::Write(path, bytes)),
        1 => path().prop_map(Step::Open),
        1 => (0..4_usize, 0..200_usize, bytes()).prop_map(|(file, at, bytes)| Step::WriteOpen(file, at, bytes)),
        1 => (0..4_usize, 0..200_usize).prop_map(|(file, size)| Step::TruncateOpen(file, size)),
        2 => path().prop_map(Step::Unlink),
        1 => path().prop_map(Step::Rmdir),
        4 => (path(), path(), any::<bool>()).prop_map(|(old, new, replace)| Step::Rename(old, new, replace)),
        2 => (path(), path()).prop_map(|(old, new)| Step::Link(old, new)),
    ]
}

/// The names before the last, and the last.
fn split(path: &str) -> (Vec<&str>, &str) {
    let mut names: Vec<&str> = path[1..].split('/').collect();
    let last = names.pop().unwrap();
    (names, last)
}

impl Model {
    /// The directory that holds the entry.
    fn parent(&mut self, path: &str) -> Result<&mut Names> {
        let mut names = &mut self.root;
        for name in split(path).0 {
            names = match names.get_mut(name).ok_or(Errno::ENOENT)? {
                Entry::Directory(names) => names,
                Entry::File(_) => return Err(Errno::ENOTDIR),
            };
        }
        Ok(names)
    }

    fn get(&mut self, path: &str) -> Result<Option<Entry>> {
        Ok(self.parent(path)?.get(split(path).1).cloned())
    }

    fn put(&mut self, path: &str, entry: Entry) -> Result<()> {
        self.parent(path)?.insert(split(path).1.to_owned(), entry);
        Ok(())
    }

    fn take(&mut self, path: &str) -> Result<()> {
        self.parent(path)?.remove(split(path).1);
        Ok(())
    }

    fn write(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        match self.get(path)? {
            Some(Entry::Directory(_)) => Err(Errno::EISDIR),
            Some(Entry::File(file)) => {
                self.contents[file] = bytes.to_vec();
                Ok(())
            }
            None => {
                self.contents.push(bytes.to_vec());
                self.put(path, Entry::File(self.contents.len() - 1))
            }
        }
    }

    fn rename(&mut self, old: &str, new: &str, replace: bool) -> Result<()> {
        let (source, target) = (self.get(old)?, self.get(new)?);
        let source = source.ok_or(Errno::ENOENT)?;
        if target.is_some() && !replace {
            return Err(Errno::EEXIST);
        }
        let below =
            |path: &str, above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
        if below(new, old) {
            return Err(Errno::EINVAL);
        }
        if below(old, new) {
            return Err(Errno::ENOTEMPTY);
        }
        match (&source, &target) {
            _ if old == new => return Ok(()),
            (Entry::File(one), Some(Entry::File(other))) if one == other => return Ok(()),
            (Entry::Directory(_), Some(Entry::File(_))) => return Err(Errno::ENOTDIR),
            (Entry::File(_), Some(Entry::Directory(_))) => return Err(Errno::EISDIR),
            (_, Some(Entry::Directory(names))) if !names.is_empty() => return Err(Errno::ENOTEMPTY),
            _ => {}
        }
        self.take(old)?;
        self.put(new, source)
    }

    fn link(&mut self, old: &str, new: &str) -> Result<()> {
        let (source, target) = (self.get(old)?, self.get(new)?);
        match (source.ok_or(Errno::ENOENT)?, target) {
            (_, Some(_)) => Err(Errno::EEXIST),
            (Entry::Directory(_), None) => Err(Errno::EPERM),
            (file, None) => self.put(new, file),
        }
    }

    fn names_of(names: &Names, file: usize) -> u32 {
        let count = |entry: &Entry| match entry {
            Entry::File(other) => u32::from(*other == file),
            Entry::Directory(names) => Self::names_of(names, file),
        };
        names.values().map(count).sum()
    }
}

/// Both sides, and the files that are open: what the tree says and which content of the model that is.
struct Both {
    tree: Tree,
    model: Model,
    open: Vec<(File, usize)>,
}

impl Both {
    /// Does the step on both sides and gives both results.
    fn run(&mut self, step: &Step) -> (Result<()>, Result<()>) {
        let (tree, model) = (&self.tree, &mut self.model);
        match step {
            Step::Mkdir(path) => {
                let made = model.get(path).and_then(|found| match found {
                    Some(_) => Err(Errno::EEXIST),
                    None => model.put(path, Entry::Directory(Names::new())),
                });
                (tree.mkdir(path), made)
            }
            Step::Write(path, bytes) => {
                let written = tree.open(path, O_RDWR | O_CREAT | O_TRUNC).and_then(|file| file.write(bytes));
                (written.map(drop), model.write(path, bytes))
            }
            Step::Open(path) => {
                let opened = tree.open(path, O_RDWR);
                let found = match model.get(path) {
                    Ok(Some(Entry::File(file))) => Ok(file),
                    Ok(Some(Entry::Directory(_))) => Err(Errno::EISDIR),
                    Ok(None) => Err(Errno::ENOENT),
                    Err(errno) => Err(errno),
                };
                let results = (opened.as_ref().map(drop).map_err(|errno| *errno), found.map(drop));
                self.open.extend(opened.ok().zip(found.ok()));
                results
            }
            Step::WriteOpen(index, at, bytes) => {
                let Some((file, number)) = self.open.get(*index) else { return (Ok(()), Ok(())) };
                let content = &mut model.contents[*number];
                let end = at + bytes.len();
                if !bytes.is_empty() {
                    content.resize(content.len().max(end), 0);
                    content[*at..end].copy_from_slice(bytes);
                }
                (file.write_at(*at as u64, bytes).map(drop), Ok(()))
            }
            Step::TruncateOpen(index, size) => {
                let Some((file, number)) = self.open.get(*index) else { return (Ok(()), Ok(())) };
                model.contents[*number].resize(*size, 0);
                (file.truncate(*size as u64), Ok(()))
            }
            Step::Unlink(path) => {
                let gone = match model.get(path) {
                    Ok(Some(Entry::File(_))) => model.take(path),
                    Ok(Some(Entry::Directory(_))) => Err(Errno::EISDIR),
                    Ok(None) => Err(Errno::ENOENT),
                    Err(errno) => Err(errno),
                };
                (tree.unlink(path), gone)
            }
            Step::Rmdir(path) => {
                let gone = match model.get(path) {
                    Ok(Some(Entry::Directory(names))) if names.is_empty() => model.take(path),
                    Ok(Some(Entry::Directory(_))) => Err(Errno::ENOTEMPTY),
                    Ok(Some(Entry::File(_))) => Err(Errno::ENOTDIR),
                    Ok(None) => Err(Errno::ENOENT),
                    Err(errno) => Err(errno),
                };
                (tree.rmdir(path), gone)
            }
            Step::Rename(old, new, replace) => {
                (tree.rename_with(old, new, *replace), model.rename(old, new, *replace))
            }
            Step::Link(old, new) => (tree.link(old, new), model.link(old, new)),
        }
    }

    /// Everything under `path` is as the model has it.
    fn compare(&self, path: &str, names: &Names) {
        let mut listed = self.tree.list(if path.is_empty() { "/" } else { path }).unwrap();
        listed.sort();
        assert_eq!(listed, names.keys().cloned().collect::<Vec<_>>(), "in {path}/");
        for (name, entry) in names {
            let path = format!("{path}/{name}");
            match entry {
                Entry::Directory(names) => {
                    assert_eq!(self.tree.vfs.path_of(&self.tree.node(&path)).unwrap(), path.as_bytes());
                    self.compare(&path, names);
                }
                Entry::File(file) => {
                    assert_eq!(self.tree.read(&path).unwrap(), self.model.contents[*file], "{path}");
                    let facts = self.tree.node(&path).metadata().unwrap();
                    assert_eq!(facts.nlink, Model::names_of(&self.model.root, *file), "names of {path}");
                }
            }
        }
    }

    fn compare_open(&self) {
        for (file, number) in &self.open {
            let mut content = vec![0; 400];
            let count = file.read_at(0, &mut content).unwrap();
            assert_eq!(content[..count], self.model.contents[*number]);
        }
    }

    /// Removes everything; nothing is charged any more then.
    fn empty(mut self) {
        remove_all(&*self.tree.fs.root());
        self.open.clear();
        assert_eq!(self.tree.fs.usage().used, 0, "an empty file system holds something");
    }
}

fn remove_all(dir: &dyn Vnode) {
    let mut names = Vec::new();
    dir.read_dir(0, &mut |entry| {
        names.push((entry.name.to_vec(), entry.kind));
        true
    })
    .unwrap();
    for (name, kind) in names {
        if kind == Kind::Directory {
            remove_all(&*dir.lookup(&name).unwrap());
            dir.rmdir(&name).unwrap();
        } else {
            dir.unlink(&name).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn the_file_system_in_memory_is_its_model(steps in prop::collection::vec(step(), 1..60)) {
        let mut both = Both { tree: tree(), model: Model::default(), open: Vec::new() };
        for step in &steps {
            let (got, wanted) = both.run(step);
            prop_assert_eq!(got, wanted, "{:?}", step);
            both.compare("", &both.model.root);
            both.compare_open();
        }
        both.empty();
    }
}

#[test]
fn ten_thousand_names_in_one_directory_are_no_burden() {
    let tree = crate::common::tree_of(64 << 20);
    for n in 0..10_000 {
        tree.write(&format!("/{n}"), b"").unwrap();
    }
    let root = tree.fs.root();
    // Resumed 10,000 times; were each a walk from the start, this would be fifty million steps.
    let (mut cursor, mut seen) = (0, 0);
    loop {
        let before = seen;
        root.read_dir(cursor, &mut |entry| {
            let first = seen == before;
            if first {
                cursor = entry.next;
                seen += 1;
            }
            first
        })
        .unwrap();
        if seen == before {
            break;
        }
    }
    assert_eq!(seen, 10_000);
    for n in 0..10_000 {
        tree.unlink(&format!("/{n}")).unwrap();
    }
    assert_eq!(tree.fs.usage().used, 0);
}
