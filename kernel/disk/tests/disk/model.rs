//! Random operations, compared with what they should do: many names, directories that split, open files, reboots.

use std::collections::BTreeMap;
use std::sync::Arc;

use askr_vfs::{Errno, Vnode};
use fastrand::Rng;

use crate::device::Ram;
use crate::state::{State, Thing, content, state};

const SIZE: usize = 4 << 20;
const STEPS: usize = 1200;
const DIRS: [&str; 4] = ["", "/d", "/e", "/d/f"];

/// An open file, the path of its name, and its content if that name has gone.
type Open = (Arc<dyn Vnode>, String, Option<Vec<u8>>);

struct Model {
    files: State,
    /// Open files, with what is in them; the name may have gone.
    open: Vec<Open>,
    rng: Rng,
}

fn find(root: &Arc<dyn Vnode>, path: &str) -> Result<Arc<dyn Vnode>, Errno> {
    path.split('/')
        .filter(|name| !name.is_empty())
        .try_fold(root.clone(), |node, name| node.lookup(name.as_bytes()))
}

impl Model {
    fn path(&mut self) -> (String, String) {
        let dir = DIRS[self.rng.usize(..DIRS.len())];
        let long = if self.rng.u8(..4) == 0 { "x".repeat(self.rng.usize(1..180)) } else { String::new() };
        (dir.to_owned(), format!("{}{long}", self.rng.u8(..60)))
    }

    fn bytes(&mut self) -> Vec<u8> {
        let size = match self.rng.u8(..4) {
            0 => self.rng.usize(..40),
            1 => self.rng.usize(..700),
            2 => self.rng.usize(..6000),
            _ => self.rng.usize(..20_000),
        };
        (0..size).map(|_| self.rng.u8(..)).collect()
    }

    fn step(&mut self, root: &Arc<dyn Vnode>) {
        let (dir, name) = self.path();
        let path = format!("{dir}/{name}");
        let node = find(root, &dir).unwrap();
        match self.rng.u8(..10) {
            0..=2 => self.create(&node, &path, &name),
            3 => {
                let expected = match self.files.get(&path) {
                    None => Err(Errno::ENOENT),
                    Some(_) => Ok(()),
                };
                assert_eq!(node.unlink(name.as_bytes()), expected);
                if let Some(Thing::File(bytes)) = self.files.remove(&path) {
                    self.orphan(&path, &bytes);
                }
            }
            4 => self.rename(root, &node, &path, &name),
            5 => {
                let target = self.bytes();
                let target = &target[..target.len().min(300)];
                if !target.is_empty() && !self.files.contains_key(&path) {
                    node.symlink(name.as_bytes(), target).unwrap();
                    self.files.insert(path, Thing::Link(target.to_vec()));
                }
            }
            _ => self.change(),
        }
    }

    fn create(&mut self, dir: &Arc<dyn Vnode>, path: &str, name: &str) {
        if self.files.contains_key(path) {
            assert_eq!(dir.create(name.as_bytes(), 0o644).err(), Some(Errno::EEXIST));
            return;
        }
        let node = dir.create(name.as_bytes(), 0o600).unwrap();
        node.open().unwrap();
        self.files.insert(path.to_owned(), Thing::File(Vec::new()));
        self.open.push((node, path.to_owned(), None));
        if self.open.len() > 20 {
            let at = self.rng.usize(..self.open.len());
            self.open.swap_remove(at);
        }
    }

    /// The name of an open file goes; its content stays with those who have it open.
    fn orphan(&mut self, path: &str, bytes: &[u8]) {
        for (_, open, orphan) in
            self.open.iter_mut().filter(|(_, open, orphan)| open == path && orphan.is_none())
        {
            open.clear();
            *orphan = Some(bytes.to_vec());
        }
    }

    fn rename(&mut self, root: &Arc<dyn Vnode>, from: &Arc<dyn Vnode>, path: &str, name: &str) {
        let (dir, new) = self.path();
        let to = format!("{dir}/{new}");
        let moved = from.rename(name.as_bytes(), &*find(root, &dir).unwrap(), new.as_bytes(), true);
        let Some(thing) = self.files.get(path).cloned() else {
            assert_eq!(moved, Err(Errno::ENOENT));
            return;
        };
        moved.unwrap();
        if to == path {
            return;
        }
        if let Some(Thing::File(bytes)) = self.files.get(&to).cloned() {
            self.orphan(&to, &bytes);
        }
        self.files.remove(path);
        self.files.insert(to.clone(), thing);
        self.open
            .iter_mut()
            .filter(|(_, open, _)| open == path)
            .for_each(|(_, open, _)| open.clone_from(&to));
    }

    /// Writes to an open file, or cuts it.
    fn change(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let (at, bytes) = (self.rng.usize(..self.open.len()), self.bytes());
        let (act, place) = (self.rng.u8(..5), self.rng.usize(..12_000));
        let (node, path, orphan) = &mut self.open[at];
        let mut named = self.files.get_mut(path);
        let known = match (orphan, &mut named) {
            (Some(bytes), _) => bytes,
            (None, Some(Thing::File(bytes))) => bytes,
            other => panic!("{path}: {other:?}"),
        };
        match act {
            0 => {
                node.truncate(place as u64).unwrap();
                known.resize(place, 0);
            }
            1 => node.sync().unwrap(),
            2 => {
                let (count, end) = node.append(&bytes).unwrap();
                assert_eq!((count, end), (bytes.len(), (known.len() + bytes.len()) as u64));
                known.extend_from_slice(&bytes);
            }
            _ if !bytes.is_empty() => {
                assert_eq!(node.write_at(place as u64, &bytes).unwrap(), bytes.len());
                known.resize(known.len().max(place + bytes.len()), 0);
                known[place..place + bytes.len()].copy_from_slice(&bytes);
            }
            _ => {}
        }
        assert_eq!(content(node), *known);
    }
}

fn compare(root: &Arc<dyn Vnode>, expected: &State, seed: u64, step: usize) {
    let found = state(root);
    let names: Vec<_> = found.keys().chain(expected.keys()).collect();
    for name in names {
        assert!(found.get(name) == expected.get(name), "{name} differs, seed {seed}, step {step}");
    }
}

#[test]
fn random_operations_do_what_they_say() {
    for seed in 0..6 {
        let ram = Ram::formatted(SIZE);
        let mut model = Model { files: BTreeMap::new(), open: Vec::new(), rng: Rng::with_seed(seed) };
        let mut fs = ram.mount();
        for dir in &DIRS[1..] {
            let (parent, name) = dir.rsplit_once('/').unwrap();
            find(&fs.root(), parent).unwrap().mkdir(name.as_bytes(), 0o755).unwrap();
            model.files.insert((*dir).to_owned(), Thing::Directory);
        }
        for step in 0..STEPS {
            model.step(&fs.root());
            if step % 150 == 149 {
                compare(&fs.root(), &model.files, seed, step);
                for (node, path, orphan) in &model.open {
                    let known = match orphan {
                        Some(bytes) => bytes,
                        None => match &model.files[path] {
                            Thing::File(bytes) => bytes,
                            other => panic!("{other:?}"),
                        },
                    };
                    assert_eq!(content(node), *known, "{path}");
                }
            }
            if step % 300 == 299 {
                model.open.clear();
                fs.sync().unwrap();
                drop(fs);
                fs = ram.mount();
                compare(&fs.root(), &model.files, seed, step);
            }
        }
    }
}
