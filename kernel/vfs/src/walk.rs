//! Follows a path from the root to what it leads to (POSIX.1-2017 section 4.13, `path_resolution(7)`).

use alloc::sync::Arc;
use alloc::vec::Vec;

use askr_abi::Errno;
use askr_core::path::{self, PATH_MAX};

use crate::{Kind, Result, Vfs, Vnode};

/// Most symbolic links followed for one path (as in Linux); the next one is ELOOP.
pub const LINKS_MAX: usize = 40;
/// Most bytes still to walk: a path after the working directory or a link was put before it.
const PENDING_MAX: usize = 2 * PATH_MAX;

/// What a path leads to: an entry of a directory, whether it exists yet or not.
#[derive(Clone, Debug)]
pub struct Target {
    /// The directory that holds the entry (the root for the root itself).
    pub parent: Arc<dyn Vnode>,
    /// The name of the entry there; none when the path ends in `.`, `..` or is the root.
    pub name: Option<Vec<u8>>,
    /// The canonical path of the entry: absolute, no `.`, `..`, repeated slash or symbolic link before the
    /// last name.
    pub path: Vec<u8>,
    /// The node, if it exists.
    pub node: Option<Arc<dyn Vnode>>,
    /// Whether the path asked for a directory by a slash at its end.
    pub(crate) slash: bool,
    /// Whether the last name of the path was a symbolic link that has been followed.
    pub(crate) followed: bool,
}

impl Target {
    /// The node.
    ///
    /// # Errors
    /// ENOENT when it does not exist.
    pub fn existing(&self) -> Result<&Arc<dyn Vnode>> {
        self.node.as_ref().ok_or(Errno::ENOENT)
    }
}

/// Walks `path` from `cwd`, a canonical path. With `follow` a symbolic link at the end is followed; one before
/// the end, or with a slash after it, always is.
pub(crate) fn walk(vfs: &Vfs, cwd: &[u8], path: &[u8], follow: bool) -> Result<Target> {
    path::check(path)?;
    let mut walker = Walker {
        vfs,
        nodes: Vec::from([vfs.root()]),
        path: b"/".to_vec(),
        pending: path::join(cwd, path),
        at: 0,
        links: 0,
        followed: false,
    };
    let mut name = None;
    // Each round takes a component off `pending`, or adds at most PENDING_MAX bytes, LINKS_MAX times.
    while let Some(step) = walker.next_step() {
        match step {
            Step::Up => {
                walker.up()?;
                name = None;
            }
            Step::Stay => {
                walker.require_directory()?;
                name = None;
            }
            Step::Name(next) => match walker.enter(&next, follow)? {
                Entered::Link => name = None,
                Entered::Node => name = Some(next),
                Entered::Missing => return walker.missing(next),
            },
        }
    }
    walker.found(name)
}

enum Step {
    Up,
    Stay,
    Name(Vec<u8>),
}

enum Entered {
    Node,
    Link,
    Missing,
}

struct Walker<'v> {
    vfs: &'v Vfs,
    /// The nodes from the root to where we are; never empty.
    nodes: Vec<Arc<dyn Vnode>>,
    path: Vec<u8>,
    pending: Vec<u8>,
    at: usize,
    links: usize,
    followed: bool,
}

impl Walker<'_> {
    fn here(&self) -> Arc<dyn Vnode> {
        self.nodes.last().map_or_else(|| self.vfs.root(), Arc::clone)
    }

    fn next_step(&mut self) -> Option<Step> {
        let rest = &self.pending[self.at..];
        let start = self.at + rest.iter().position(|&byte| byte != b'/')?;
        let length = self.pending[start..].iter().position(|&byte| byte == b'/');
        self.at = length.map_or(self.pending.len(), |length| start + length);
        Some(match &self.pending[start..self.at] {
            b".." => Step::Up,
            b"." => Step::Stay,
            name => Step::Name(name.to_vec()),
        })
    }

    fn at_end(&self) -> bool {
        self.pending[self.at..].iter().all(|&byte| byte == b'/')
    }

    fn ends_in_slash(&self) -> bool {
        self.pending.ends_with(b"/")
    }

    fn require_directory(&self) -> Result<()> {
        match self.here().kind() {
            Kind::Directory => Ok(()),
            _ => Err(Errno::ENOTDIR),
        }
    }

    /// `..` of the root is the root; of the root of a mount, the directory that holds the mount point.
    fn up(&mut self) -> Result<()> {
        self.require_directory()?;
        if self.nodes.len() > 1 {
            self.nodes.pop();
            path::pop(&mut self.path);
        }
        Ok(())
    }

    fn enter(&mut self, name: &[u8], follow: bool) -> Result<Entered> {
        let node = match self.here().lookup(name) {
            Ok(node) => node,
            Err(Errno::ENOENT) if self.at_end() => return Ok(Entered::Missing),
            Err(errno) => return Err(errno),
        };
        let last = self.at_end();
        if node.kind() == Kind::Symlink && (follow || !last || self.ends_in_slash()) {
            self.followed |= last;
            self.expand(&node.read_link()?)?;
            return Ok(Entered::Link);
        }
        self.append(name)?;
        self.nodes.push(self.vfs.mounted_at(&self.path).unwrap_or(node));
        Ok(Entered::Node)
    }

    fn append(&mut self, name: &[u8]) -> Result<()> {
        path::push(&mut self.path, name);
        if self.path.len() >= PATH_MAX { Err(Errno::ENAMETOOLONG) } else { Ok(()) }
    }

    /// Puts the target of a link in front of what is still to walk.
    fn expand(&mut self, target: &[u8]) -> Result<()> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Errno::ELOOP);
        }
        path::check(target)?;
        let rest = self.pending.split_off(self.at);
        self.pending = [target, &rest].concat();
        self.at = 0;
        if self.pending.len() > PENDING_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        if path::is_absolute(target) {
            self.nodes.truncate(1);
            self.path.truncate(1);
        }
        Ok(())
    }

    fn missing(mut self, name: Vec<u8>) -> Result<Target> {
        self.append(&name)?;
        Ok(Target {
            parent: self.here(),
            name: Some(name),
            slash: self.ends_in_slash(),
            path: self.path,
            node: None,
            followed: self.followed,
        })
    }

    fn found(mut self, name: Option<Vec<u8>>) -> Result<Target> {
        let slash = self.ends_in_slash();
        if slash {
            self.require_directory()?;
        }
        let node = self.here();
        if self.nodes.len() > 1 {
            self.nodes.pop();
        }
        Ok(Target {
            parent: self.here(),
            name,
            path: self.path,
            node: Some(node),
            slash,
            followed: self.followed,
        })
    }
}
