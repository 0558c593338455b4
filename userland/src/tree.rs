//! Files and whole trees of files: copying, removing, and where `cp` and `mv` put them.

use crate::bytes::Bytes;
use crate::io::{self, File};
use crate::names::{base, join};
use crate::sys;
use crate::tool::Outcome;
use alloc_crate::format;
use alloc_crate::string::String;
use alloc_crate::vec;
use alloc_crate::vec::Vec;
use askr_abi::Errno;
use askr_abi::types::{O_CREAT, O_RDONLY, O_TRUNC, O_WRONLY, S_IFDIR, S_IFLNK, S_IFMT, S_IFREG, Stat};

/// Bytes copied at a time.
const PIECE: usize = 64 * 1024;
/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o7777;

/// What is known about `path`, whose link at the end is followed if `follow` says so.
///
/// # Errors
/// Those of `stat(2)`.
pub fn stat(path: &[u8], follow: bool) -> Result<Stat, Errno> {
    let path = io::c_path(path)?;
    if follow { sys::stat(&path) } else { sys::lstat(&path) }
}

/// Whether it is a directory.
#[must_use]
pub fn is_directory(stat: &Stat) -> bool {
    stat.mode & S_IFMT == S_IFDIR
}

fn is_same(a: &Stat, b: &Stat) -> bool {
    (a.dev, a.ino) == (b.dev, b.ino)
}

/// A file, and the path that its copy gets.
pub type Pair<'a> = (&'a [u8], Vec<u8>);

/// What `cp` and `mv` are told: each file with the path that it gets.
///
/// # Errors
/// What is wrong, for people.
pub fn destinations<'a>(operands: &[&'a [u8]]) -> Result<Vec<Pair<'a>>, String> {
    let (target, sources) = match operands {
        [] => return Err("missing file operand".into()),
        [one] => return Err(format!("missing destination file operand after '{}'", Bytes(one))),
        [sources @ .., target] => (*target, sources),
    };
    match stat(target, true) {
        Ok(found) if is_directory(&found) => {
            Ok(sources.iter().map(|source| (*source, join(target, base(source)))).collect())
        }
        _ if sources.len() == 1 => Ok(vec![(sources[0], target.to_vec())]),
        Ok(_) => Err(format!("target '{}': {}", Bytes(target), Errno::ENOTDIR)),
        Err(errno) => Err(format!("target '{}': {errno}", Bytes(target))),
    }
}

/// Removes `path` and, if it is a directory, everything in it. Complains about each file that it cannot remove, and
/// goes on. Directories are as deep as a path is long, so the recursion is bounded by `PATH_MAX`.
pub fn remove(path: &[u8], outcome: &Outcome, verbose: bool) {
    let refused = |errno| outcome.complain(format_args!("cannot remove '{}': {errno}", Bytes(path)));
    let found = match stat(path, false) {
        Ok(found) => found,
        Err(errno) => return refused(errno),
    };
    if is_directory(&found) {
        match io::list_directory(path) {
            Ok(names) => {
                let inside = names.iter().filter(|name| !matches!(&name[..], b"." | b".."));
                inside.for_each(|name| remove(&join(path, name), outcome, verbose));
            }
            Err(errno) => return refused(errno),
        }
    }
    match remove_one(path, is_directory(&found)) {
        Ok(()) if verbose => {
            let what = if is_directory(&found) { "removed directory" } else { "removed" };
            crate::println!("{what} '{}'", Bytes(path));
        }
        Ok(()) => {}
        // What could not be removed inside was told already.
        Err(Errno::ENOTEMPTY) if outcome.status() != 0 => {}
        Err(errno) => refused(errno),
    }
}

/// Removes a file or an empty directory.
///
/// # Errors
/// Those of `unlink(2)` and `rmdir(2)`.
pub fn remove_one(path: &[u8], directory: bool) -> Result<(), Errno> {
    let path = io::c_path(path)?;
    if directory { sys::rmdir(&path) } else { sys::unlink(&path) }
}

/// A copy of files that is under way.
#[derive(Debug)]
pub struct Copy<'a> {
    /// Whether directories are copied, and links as links.
    pub recursive: bool,
    /// Whether each file is told.
    pub verbose: bool,
    /// Where it is noted what went wrong.
    pub outcome: &'a Outcome,
}

impl Copy<'_> {
    /// Copies `from` to `to`. Complains about what cannot be copied, and goes on.
    pub fn copy(&self, from: &[u8], to: &[u8]) {
        self.copy_into(from, to, None);
    }

    /// `made`: the first directory that this copy made, which must not be copied into itself.
    fn copy_into(&self, from: &[u8], to: &[u8], made: Option<Stat>) {
        let source = match stat(from, !self.recursive) {
            Ok(source) => source,
            Err(errno) => return self.complain_of("cannot stat", from, errno),
        };
        let there = stat(to, true).ok();
        if there.is_some_and(|there| is_same(&source, &there)) {
            return self.outcome.complain(format_args!(
                "'{}' and '{}' are the same file",
                Bytes(from),
                Bytes(to)
            ));
        }
        match source.mode & S_IFMT {
            S_IFDIR if !self.recursive => {
                self.outcome.complain(format_args!("-r not specified; omitting directory '{}'", Bytes(from)));
            }
            S_IFDIR => self.copy_directory(from, to, &source, there, made),
            _ if there.as_ref().is_some_and(is_directory) => self.outcome.complain(format_args!(
                "cannot overwrite directory '{}' with non-directory '{}'",
                Bytes(to),
                Bytes(from)
            )),
            S_IFLNK => self.copy_link(from, to),
            kind if kind == S_IFREG || !self.recursive => self.copy_file(from, to, source.mode),
            _ => self.outcome.complain(format_args!("cannot copy '{}': a special file", Bytes(from))),
        }
    }

    fn copy_directory(&self, from: &[u8], to: &[u8], source: &Stat, there: Option<Stat>, made: Option<Stat>) {
        if made.is_some_and(|made| is_same(source, &made)) {
            return self
                .outcome
                .complain(format_args!("cannot copy a directory, '{}', into itself", Bytes(from)));
        }
        match there {
            Some(there) if is_directory(&there) => {}
            Some(_) => {
                return self.outcome.complain(format_args!(
                    "cannot overwrite non-directory '{}' with directory '{}'",
                    Bytes(to),
                    Bytes(from)
                ));
            }
            // Its owner may write into it until the copy is done.
            None => {
                match io::c_path(to).and_then(|path| sys::mkdir(&path, source.mode & PERMISSIONS | 0o700)) {
                    Ok(()) => self.tell(from, to),
                    Err(errno) => return self.complain_of("cannot create directory", to, errno),
                }
            }
        }
        let made = made.or_else(|| stat(to, true).ok());
        match io::list_directory(from) {
            Ok(names) => {
                for name in names.iter().filter(|name| !matches!(&name[..], b"." | b"..")) {
                    self.copy_into(&join(from, name), &join(to, name), made);
                }
            }
            Err(errno) => self.complain_of("cannot access", from, errno),
        }
    }

    fn copy_link(&self, from: &[u8], to: &[u8]) {
        let copied = io::c_path(from).and_then(|from| sys::readlink(&from)).and_then(|target| {
            let path = io::c_path(to)?;
            match sys::unlink(&path) {
                Ok(()) | Err(Errno::ENOENT) => sys::symlink(&io::c_path(&target)?, &path),
                Err(errno) => Err(errno),
            }
        });
        match copied {
            Ok(()) => self.tell(from, to),
            Err(errno) => self.complain_of("cannot create symbolic link", to, errno),
        }
    }

    fn copy_file(&self, from: &[u8], to: &[u8], mode: u32) {
        let source = match File::open_with(from, O_RDONLY, 0) {
            Ok(source) => source,
            Err(errno) => return self.complain_of("cannot open", from, errno),
        };
        let target = match File::open_with(to, O_WRONLY | O_CREAT | O_TRUNC, mode & PERMISSIONS) {
            Ok(target) => target,
            Err(errno) => return self.complain_of("cannot create regular file", to, errno),
        };
        let mut piece = vec![0; PIECE];
        loop {
            let count = match source.read(&mut piece) {
                Ok(0) => return self.tell(from, to),
                Ok(count) => count,
                Err(errno) => return self.complain_of("error reading", from, errno),
            };
            if let Err(errno) = io::write_all(target.fd(), &piece[..count]) {
                return self.complain_of("error writing", to, errno);
            }
        }
    }

    fn tell(&self, from: &[u8], to: &[u8]) {
        if self.verbose {
            crate::println!("'{}' -> '{}'", Bytes(from), Bytes(to));
        }
    }

    fn complain_of(&self, what: &str, path: &[u8], errno: Errno) {
        self.outcome.complain(format_args!("{what} '{}': {errno}", Bytes(path)));
    }
}
