//! The whole of a file system, to compare.

use std::collections::BTreeMap;
use std::sync::Arc;

use askr_vfs::{Kind, Vnode};

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    Directory,
    File(Vec<u8>),
    Link(Vec<u8>),
}

/// Everything, by path.
pub(crate) type State = BTreeMap<String, Thing>;

/// Reads everything below `dir`.
pub(crate) fn state(dir: &Arc<dyn Vnode>) -> State {
    let mut state = State::new();
    walk(dir, "", &mut state);
    state
}

fn walk(dir: &Arc<dyn Vnode>, path: &str, state: &mut State) {
    let mut names = Vec::new();
    dir.read_dir(0, &mut |entry| {
        names.push((String::from_utf8(entry.name.to_vec()).unwrap(), entry.kind));
        true
    })
    .unwrap();
    for (name, listed) in names {
        let node = dir.lookup(name.as_bytes()).unwrap();
        let path = format!("{path}/{name}");
        let kind = node.metadata().unwrap().kind;
        assert_eq!(kind, listed, "{path}");
        let thing = match kind {
            Kind::Directory => {
                walk(&node, &path, state);
                Thing::Directory
            }
            Kind::Symlink => Thing::Link(node.read_link().unwrap()),
            _ => Thing::File(content(&node)),
        };
        assert_eq!(state.insert(path, thing), None, "listed twice");
    }
}

/// All of a file.
pub(crate) fn content(node: &Arc<dyn Vnode>) -> Vec<u8> {
    let size = usize::try_from(node.metadata().unwrap().size).unwrap();
    let mut content = vec![0; size + 1];
    let mut done = 0;
    loop {
        match node.read_at(done as u64, &mut content[done..]).unwrap() {
            0 => break,
            count => done += count,
        }
    }
    assert_eq!(done, size);
    content.truncate(done);
    content
}
