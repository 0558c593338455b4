//! The rules of paths, in one place. A path is bytes: any but NUL, components separated by `/`
//! (POSIX.1-2017 sections 3.271 and 4.13). Nothing here looks at a file system.

use alloc::vec::Vec;

use askr_abi::Errno;

/// Longest name of one component in bytes.
pub const NAME_MAX: usize = 255;
/// Longest path in bytes with its terminating NUL, so a path has at most `PATH_MAX - 1`.
pub const PATH_MAX: usize = 4096;

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component<'a> {
    /// `.`: stay.
    Current,
    /// `..`: to the parent; at the root, stay.
    Parent,
    /// To the entry of this name.
    Name(&'a [u8]),
}

/// Whether the path starts at the root.
#[must_use]
pub fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/")
}

/// Whether the path ends in `/`, `/.` or `/..`, or is `.` or `..`: it can only mean a directory.
#[must_use]
pub fn must_be_directory(path: &[u8]) -> bool {
    let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    matches!(last, b"" | b"." | b"..") && !path.is_empty()
}

/// The steps of a path in order. Repeated and trailing slashes make none.
pub fn components(path: &[u8]) -> impl DoubleEndedIterator<Item = Component<'_>> + Clone {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).map(|part| match part {
        b"." => Component::Current,
        b".." => Component::Parent,
        name => Component::Name(name),
    })
}

/// Checks the form of a path.
///
/// # Errors
/// ENOENT when it is empty, ENAMETOOLONG when it or a component is too long, EINVAL when it holds a NUL byte.
pub fn check(path: &[u8]) -> Result<(), Errno> {
    if path.is_empty() {
        return Err(Errno::ENOENT);
    }
    if path.len() >= PATH_MAX || path.split(|&byte| byte == b'/').any(|part| part.len() > NAME_MAX) {
        return Err(Errno::ENAMETOOLONG);
    }
    if path.contains(&0) {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// Checks the name of a new entry.
///
/// # Errors
/// EINVAL when it is empty, `.`, `..` or holds `/` or NUL; ENAMETOOLONG when it is over [`NAME_MAX`].
pub fn check_name(name: &[u8]) -> Result<(), Errno> {
    if matches!(name, b"" | b"." | b"..") || name.iter().any(|&byte| byte == b'/' || byte == 0) {
        return Err(Errno::EINVAL);
    }
    if name.len() > NAME_MAX { Err(Errno::ENAMETOOLONG) } else { Ok(()) }
}

/// `path` seen from the directory `cwd`: itself when it is absolute, else the two joined. Steps are kept as
/// they are.
#[must_use]
pub fn join(cwd: &[u8], path: &[u8]) -> Vec<u8> {
    if is_absolute(path) {
        return path.to_vec();
    }
    let mut joined = Vec::with_capacity(cwd.len() + 1 + path.len());
    joined.extend_from_slice(cwd);
    if !cwd.ends_with(b"/") {
        joined.push(b'/');
    }
    joined.extend_from_slice(path);
    joined
}

/// The shortest absolute path with the same steps, `..` taken by its letters. Where symbolic links are about,
/// that may name another file than the path does: only a lookup in the file system tells.
#[must_use]
pub fn normalize_lexical(path: &[u8]) -> Vec<u8> {
    let mut normal = Vec::with_capacity(path.len() + 1);
    normal.push(b'/');
    for component in components(path) {
        match component {
            Component::Current => {}
            Component::Parent => pop(&mut normal),
            Component::Name(name) => push(&mut normal, name),
        }
    }
    normal
}

/// Appends a name to an absolute path in shortest form.
pub fn push(path: &mut Vec<u8>, name: &[u8]) {
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// Takes the last name off an absolute path in shortest form; the root stays.
pub fn pop(path: &mut Vec<u8>) {
    let slash = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    path.truncate(slash.max(1));
}

/// Whether `path` is `ancestor` or lies below it; both absolute in shortest form.
#[must_use]
pub fn is_within(path: &[u8], ancestor: &[u8]) -> bool {
    match path.strip_prefix(ancestor) {
        Some(rest) => rest.is_empty() || rest[0] == b'/' || ancestor == b"/",
        None => false,
    }
}
