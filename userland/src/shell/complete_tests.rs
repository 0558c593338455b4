//! Which word is completed, and to what.

use super::super::{Parser, tree};
use super::*;
use proptest::prelude::*;

fn is(line: &str) -> (bool, String, String) {
    let target = target(line.as_bytes()).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (target.command, text(target.folder), text(target.start))
}

#[test]
fn the_word_at_the_end_is_found() {
    for (line, command, folder, start) in [
        ("", true, "", ""),
        ("l", true, "", "l"),
        ("ls ", false, "", ""),
        ("ls a/b/c", false, "a/b/", "c"),
        ("/bin/l", false, "/bin/", "l"),
        ("a; b", true, "", "b"),
        ("a | b", true, "", "b"),
        ("a && b", true, "", "b"),
        ("if t", true, "", "t"),
        ("A=1 b", true, "", "b"),
        ("a >b", false, "", "b"),
        (">x b", true, "", "b"),
        ("a 2> b", false, "", "b"),
        ("a $(b", true, "", "b"),
        ("a `b", true, "", "b"),
        ("(a", true, "", "a"),
        ("x $y z", false, "", "z"),
        ("cat 'a b/c", false, "a b/", "c"),
        ("cat \"a b/c", false, "a b/", "c"),
        ("cat a\\ b", false, "", "a b"),
        ("cat 'a'\"b\"c", false, "", "abc"),
        ("echo a#b", false, "", "a#b"),
    ] {
        assert_eq!(is(line), (command, folder.into(), start.into()), "{line}");
    }
    for line in ["# a", "a # b", "cat $x", "cat $x/y", "cat \"$x", "a \\"] {
        assert_eq!(target(line.as_bytes()), None, "{line}");
    }
}

fn tab(line: &str, names: &[&str]) -> (String, Vec<String>, usize) {
    let target = target(line.as_bytes()).unwrap();
    let candidate = |name: &&str| Candidate {
        name: name.trim_end_matches('/').as_bytes().to_vec(),
        folder: name.ends_with('/'),
    };
    let done = complete(&target, names.iter().map(candidate).collect());
    let list = done.list.into_iter().map(|candidate| String::from_utf8(candidate.name).unwrap());
    (String::from_utf8(done.insert).unwrap(), list.collect(), done.more)
}

#[test]
fn what_fits_is_inserted_or_listed() {
    let insert = |line, names: &[&str]| tab(line, names).0;
    assert_eq!(insert("cat fo", &["foot", "bar"]), "ot ");
    assert_eq!(insert("cat fo", &["folder/"]), "lder/");
    assert_eq!(insert("cat fo", &["foobar", "foobaz", "x"]), "oba");
    assert_eq!(insert("cat ", &["a b'c"]), "a\\ b\\'c ");
    assert_eq!(insert("cat 'a", &["a b'c"]), " b'\\''c' ");
    assert_eq!(insert("cat \"a", &["a $c"]), " \\$c\" ");
    assert_eq!(insert("cat ", &["~x"]), "\\~x ");
    assert_eq!(insert("cat g", &["grün", "grüß"]), "rü");
    assert_eq!(insert("cat ", &["é", "è"]), "");
    assert_eq!(insert("cat x", &["a"]), "");
    assert_eq!(tab("cat a", &["ab", "ac", "ab"]).1, ["ab", "ac"]);
    let many: Vec<String> = (0..LISTED_MAX + 7).map(|i| format!("{i:05}x")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (insert, list, more) = tab("cat 00", &many);
    assert_eq!((insert.as_str(), list.len(), more), ("", LISTED_MAX, 7));
}

#[test]
fn names_are_listed_in_columns() {
    let candidate = |name: &str, folder| Candidate { name: name.into(), folder };
    let list = vec![
        candidate("a", true),
        candidate("bcd", false),
        candidate("日本", false),
        candidate("e\u{1b}", false),
    ];
    let all = Completion { list, more: 3, ..Completion::default() };
    assert_eq!(listing(&all, 20), "a/       bcd\n日本     e\\u{1b}\n(3 more)\n");
    assert_eq!(listing(&all, 3), "a/\nbcd\n日本\ne\\u{1b}\n(3 more)\n");
    assert_eq!(listing(&Completion::default(), 0), "");
}

/// The words of a line that is one simple command, if it is one; the quotes removed.
fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let list = Parser::new(line).next_command().ok()??;
    let tree::Command::Simple(simple) = &list.0[0].chain.first.commands[0] else { return None };
    let text = |word: &tree::Word| {
        word.0.iter().try_fold(Vec::new(), |mut text, part| {
            match part {
                tree::Part::Literal(bytes) | tree::Part::Quoted(bytes) => text.extend_from_slice(bytes),
                tree::Part::Double(parts) => match parts.as_slice() {
                    [] => {}
                    [tree::Part::Literal(bytes)] => text.extend_from_slice(bytes),
                    _ => return None,
                },
                _ => return None,
            }
            Some(text)
        })
    };
    simple.words.iter().map(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Whatever a name holds, completing it gives a line whose last word is that name.
    #[test]
    fn a_completed_name_is_that_name(
        name in prop::collection::vec(any::<u8>().prop_filter("no name has it", |byte| *byte != 0 && *byte != b'/'), 1..12),
        quote in prop::sample::select(vec!["", "'", "\""]),
    ) {
        let line = [b"x ".as_slice(), quote.as_bytes()].concat();
        let target = target(&line).unwrap();
        let done = complete(&target, vec![Candidate { name: name.clone(), folder: false }]);
        let line = [line, done.insert].concat();
        prop_assert_eq!(words(&line), Some(vec![b"x".to_vec(), name]), "{:?}", String::from_utf8_lossy(&line));
    }

    #[test]
    fn any_line_has_a_word_or_none(line: Vec<u8>, names: Vec<Vec<u8>>) {
        if let Some(target) = target(&line) {
            let all = names.into_iter().map(|name| Candidate { name, folder: false }).collect();
            let done = complete(&target, all);
            prop_assert!(done.list.len() <= LISTED_MAX);
        }
    }
}
