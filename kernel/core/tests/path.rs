//! The rules of paths.

use askr_abi::Errno;
use askr_core::path::{
    Component, NAME_MAX, PATH_MAX, check, check_name, components, is_within, join, must_be_directory,
    normalize_lexical,
};
use proptest::prelude::*;

#[test]
fn paths_take_their_shortest_form() {
    for (path, normal) in [
        ("/", "/"),
        ("//", "/"),
        ("/a//b/", "/a/b"),
        ("/a/./b/.", "/a/b"),
        ("/a/../b", "/b"),
        ("/../../a", "/a"),
        ("/a/b/../..", "/"),
        ("/.../..a/a..", "/.../..a/a.."),
        ("a/b", "/a/b"),
    ] {
        assert_eq!(normalize_lexical(path.as_bytes()), normal.as_bytes(), "{path}");
    }
}

#[test]
fn relative_paths_start_at_the_working_directory() {
    assert_eq!(join(b"/home", b"a/b"), b"/home/a/b");
    assert_eq!(join(b"/", b"a"), b"/a");
    assert_eq!(join(b"/home", b"/etc"), b"/etc");
    assert_eq!(normalize_lexical(&join(b"/home/me", b"../you")), b"/home/you");
}

#[test]
fn components_name_their_steps() {
    let steps: Vec<_> = components(b"//a/./../b/").collect();
    assert_eq!(steps, [Component::Name(b"a"), Component::Current, Component::Parent, Component::Name(b"b")]);
}

#[test]
fn only_a_directory_can_end_like_one() {
    for path in ["/", "a/", "a/.", "a/..", ".", ".."] {
        assert!(must_be_directory(path.as_bytes()), "{path}");
    }
    for path in ["", "a", "/a", "a/b", "a..", "/.a"] {
        assert!(!must_be_directory(path.as_bytes()), "{path}");
    }
}

#[test]
fn the_limits_are_those_of_posix() {
    let name = vec![b'n'; NAME_MAX];
    let long_name = vec![b'n'; NAME_MAX + 1];
    assert_eq!(check(&name), Ok(()));
    assert_eq!(check(&long_name), Err(Errno::ENAMETOOLONG));
    assert_eq!(check_name(&name), Ok(()));
    assert_eq!(check_name(&long_name), Err(Errno::ENAMETOOLONG));
    assert_eq!(check(&b"/a".repeat(PATH_MAX / 2)[1..]), Ok(()));
    assert_eq!(check(&b"/a".repeat(PATH_MAX / 2)), Err(Errno::ENAMETOOLONG));
    assert_eq!(check(b""), Err(Errno::ENOENT));
    assert_eq!(check(b"/a\0b"), Err(Errno::EINVAL));
    for name in [&b""[..], b".", b"..", b"a/b", b"a\0"] {
        assert_eq!(check_name(name), Err(Errno::EINVAL));
    }
}

#[test]
fn being_within_goes_by_whole_names() {
    assert!(is_within(b"/a/b", b"/a") && is_within(b"/a", b"/a") && is_within(b"/a", b"/"));
    assert!(is_within(b"/", b"/"));
    assert!(!is_within(b"/ab", b"/a") && !is_within(b"/", b"/a"));
}

fn any_path() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b".".to_vec()),
        Just(b"..".to_vec()),
        Just(Vec::new()),
        prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.join(&b'/'))
}

proptest! {
    #[test]
    fn the_shortest_form_is_absolute_final_and_free_of_dots(path in any_path()) {
        let normal = normalize_lexical(&path);
        prop_assert!(normal.starts_with(b"/"));
        prop_assert!(normal == b"/" || !normal.ends_with(b"/"));
        prop_assert!(components(&normal).all(|step| matches!(step, Component::Name(_))));
        prop_assert_eq!(normalize_lexical(&normal), normal);
    }

    #[test]
    fn steps_may_be_taken_one_after_the_other(first in any_path(), second in any_path()) {
        let whole = normalize_lexical(&join(&normalize_lexical(&first), &second));
        let at_once = if second.starts_with(b"/") { second } else { [&first[..], b"/", &second].concat() };
        prop_assert_eq!(whole, normalize_lexical(&at_once));
    }

    #[test]
    fn nothing_leaves_the_root(path in any_path()) {
        prop_assert!(is_within(&normalize_lexical(&path), b"/"));
    }
}
