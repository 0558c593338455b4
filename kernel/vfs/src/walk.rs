//! Follows a path from a directory to what it leads to (POSIX.1-2017 section 4.13, `path_resolution(7)`).

use alloc::sync::Arc;
use alloc::vec::Vec;

use askr_abi::Errno;
use askr_core::path::{self, PATH_MAX};

use crate::{Kind, Place, Result, Vfs, Vnode};

/// Most symbolic links followed for one path (as in Linux); the next one is ELOOP.
pub const LINKS_MAX: usize = 40;
/// Most bytes still to walk: a path after a link was put before it.
const PENDING_MAX: usize = 2 * PATH_MAX;

/// What a path leads to: an entry of a directory, whether it exists yet or not.
#[derive(Clone, Debug)]
pub struct Target {
    /// The directory that holds the entry (the root for the root itself).
    pub parent: Arc<dyn Vnode>,
    /// How the path ends.
    pub(crate) last: Last,
    /// The canonical path of the entry: absolute, no `.`, `..`, repeated slash or symbolic link before the
    /// last name. Empty for a directory that has been removed: no path leads to it any more.
    pub path: Vec<u8>,
    /// The node, if it exists.
    pub node: Option<Arc<dyn Vnode>>,
    /// Whether the path asked for a directory by a slash at its end.
    pub(crate) slash: bool,
    /// Whether the last name of the path was a symbolic link that has been followed.
    pub(crate) followed: bool,
}

/// How a path ends, symbolic links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    Name(Vec<u8>),
    Dot,
    DotDot,
    /// Nothing but slashes.
    Root,
}

impl Target {
    /// The node.
    ///
    /// # Errors
    /// ENOENT when it does not exist.
    pub fn existing(&self) -> Result<&Arc<dyn Vnode>> {
        self.node.as_ref().ok_or(Errno::ENOENT)
    }

    /// The name of the entry in its directory; none when the path ends in `.`, `..` or is the root.
    #[must_use]
    pub fn name(&self) -> Option<&[u8]> {
        match &self.last {
            Last::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// Walks `path` from the directory `from`. With `follow` a symbolic link at the end is followed; one before the end, or
/// with a slash after it, always is.
pub(crate) fn walk(vfs: &Vfs, from: &Arc<dyn Vnode>, path: &[u8], follow: bool) -> Result<Target> {
    path::check(path)?;
    let mut walker = Walker::start(vfs, from, path)?;
    let mut last = Last::Root;
    // Each round takes a component off `pending`, or adds at most PENDING_MAX bytes, LINKS_MAX times.
    while let Some(step) = walker.next_step() {
        last = match step {
            Step::Up => {
                walker.up()?;
                Last::DotDot
            }
            Step::Stay => {
                walker.require_directory()?;
                Last::Dot
            }
            Step::Name(next) => match walker.enter(&next, follow)? {
                Entered::Link => Last::Root,
                Entered::Node => Last::Name(next),
                Entered::Missing => return walker.missing(next),
            },
        };
    }
    walker.found(last)
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
    /// Where we are.
    here: Arc<dyn Vnode>,
    /// The directory through which we came here by name.
    above: Arc<dyn Vnode>,
    /// The canonical path of `here`; empty when it has been removed.
    path: Vec<u8>,
    pending: Vec<u8>,
    at: usize,
    links: usize,
    followed: bool,
}

impl<'v> Walker<'v> {
    fn start(vfs: &'v Vfs, from: &Arc<dyn Vnode>, path: &[u8]) -> Result<Self> {
        let (here, at) = if path::is_absolute(path) {
            (vfs.root(), b"/".to_vec())
        } else {
            let at = match vfs.path_of(from) {
                Err(Errno::ENOENT) => Vec::new(),
                other => other?,
            };
            (Arc::clone(from), at)
        };
        let above = Arc::clone(&here);
        Ok(Self { vfs, here, above, path: at, pending: path.to_vec(), at: 0, links: 0, followed: false })
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
        if self.here.kind() == Kind::Directory { Ok(()) } else { Err(Errno::ENOTDIR) }
    }

    /// `..` of the root is the root; of the root of a mount, the directory that holds the mount point.
    fn up(&mut self) -> Result<()> {
        self.require_directory()?;
        self.here = parent(self.vfs, &self.here)?;
        path::pop(&mut self.path);
        Ok(())
    }

    fn enter(&mut self, name: &[u8], follow: bool) -> Result<Entered> {
        let last = self.at_end();
        if self.path.is_empty() {
            return Err(Errno::ENOENT); // nothing is in a directory that has been removed, nor will be
        }
        let node = match self.here.lookup(name) {
            Ok(node) => node,
            Err(Errno::ENOENT) if last => return Ok(Entered::Missing),
            Err(errno) => return Err(errno),
        };
        if node.kind() == Kind::Symlink && (follow || !last || self.ends_in_slash()) {
            self.followed |= last;
            self.expand(&node.read_link()?)?;
            return Ok(Entered::Link);
        }
        self.append(name)?;
        let node = self.vfs.mounted_at(&self.path).unwrap_or(node);
        self.above = core::mem::replace(&mut self.here, node);
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
            self.here = self.vfs.root();
            self.path.truncate(1);
        }
        Ok(())
    }

    fn missing(mut self, name: Vec<u8>) -> Result<Target> {
        self.append(&name)?;
        Ok(Target {
            slash: self.ends_in_slash(),
            parent: self.here,
            last: Last::Name(name),
            path: self.path,
            node: None,
            followed: self.followed,
        })
    }

    fn found(self, last: Last) -> Result<Target> {
        let slash = self.ends_in_slash();
        if slash {
            self.require_directory()?;
        }
        let parent = match last {
            Last::Name(_) => self.above,
            // A directory that has been removed stands for its parent, which only its listing shows.
            _ => parent(self.vfs, &self.here).unwrap_or_else(|_| Arc::clone(&self.here)),
        };
        Ok(Target { parent, last, path: self.path, node: Some(self.here), slash, followed: self.followed })
    }
}

/// The directory above a directory.
fn parent(vfs: &Vfs, directory: &Arc<dyn Vnode>) -> Result<Arc<dyn Vnode>> {
    match directory.place()? {
        Place::In { parent, .. } => Ok(parent),
        Place::Root => Ok(vfs.above(directory)?.unwrap_or_else(|| vfs.root())),
    }
}
