//! The parts of a path, as bytes.

use alloc_crate::vec::Vec;

/// `path` without the slashes at its end; the root stays.
#[must_use]
pub fn trim(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|&byte| byte != b'/').map_or(path.len().min(1), |at| at + 1);
    &path[..end]
}

/// The last part of a path, as `basename` prints it.
#[must_use]
pub fn base(path: &[u8]) -> &[u8] {
    let path = trim(path);
    match path {
        b"/" => path,
        _ => path.rsplit(|&byte| byte == b'/').next().unwrap_or(path),
    }
}

/// What is before the last part, as `dirname` prints it.
#[must_use]
pub fn parent(path: &[u8]) -> &[u8] {
    let path = trim(path);
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => trim(&path[..=at]),
        None => b".",
    }
}

/// `name` inside of `folder`.
#[must_use]
pub fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if folder.ends_with(b"/") || folder.is_empty() { b"" } else { b"/" };
    [folder, slash, name].concat()
}

#[cfg(test)]
mod tests {
    use super::{base, join, parent, trim};
    use proptest::prelude::*;

    #[test]
    fn parts_of_paths() {
        for (path, folder, name) in [
            ("/a/b", "/a", "b"),
            ("/a/b//", "/a", "b"),
            ("a//b", "a", "b"),
            ("/a", "/", "a"),
            ("a", ".", "a"),
            ("a/", ".", "a"),
            ("/", "/", "/"),
            ("///", "/", "/"),
            ("", ".", ""),
            ("..", ".", ".."),
        ] {
            assert_eq!(base(path.as_bytes()), name.as_bytes(), "{path}");
            assert_eq!(parent(path.as_bytes()), folder.as_bytes(), "{path}");
        }
        assert_eq!(join(b"/", b"a"), b"/a");
        assert_eq!(join(b"a/", b"b"), b"a/b");
        assert_eq!(join(b"", b"b"), b"b");
    }

    proptest! {
        #[test]
        fn any_path_has_its_parts(path in "[a/.]{0,9}") {
            let bytes = path.as_bytes();
            prop_assert!(bytes.starts_with(trim(bytes)));
            let name = base(bytes);
            prop_assert!(!name.contains(&b'/') || name == b"/");
            if bytes.contains(&b'a') && name != b"/" {
                prop_assert!(trim(bytes).ends_with(name));
            }
        }
    }
}
