use super::{Kind, Matcher, Rules};
use proptest::prelude::*;

const WORDS: Rules = Rules { ignore_case: false, words: true, lines: false };
const LINES: Rules = Rules { ignore_case: false, words: false, lines: true };
const ANY_CASE: Rules = Rules { ignore_case: true, words: false, lines: false };

fn matches(pattern: &str, kind: Kind, rules: Rules, line: &str) -> bool {
    let matcher = Matcher::new(&[pattern.as_bytes()], kind, rules);
    matcher.unwrap_or_else(|error| panic!("{pattern}: {error}")).find(line.as_bytes()).is_some()
}

#[test]
fn basic_patterns() {
    for (pattern, yes, no) in [
        ("abc", "xabcx", "ab"),
        ("^a.c$", "abc", "xabc"),
        ("a.c", "aéc", "ac"),
        ("a*b", "b", "a"),
        ("*a", "*a", "a"),
        (r"\(ab\)\{2\}", "abab", "ab"),
        (r"a\|b", "b", "c"),
        ("a|b", "a|b", "a"),
        ("a+b", "a+b", "aab"),
        (r"a\+b", "aab", "b"),
        ("(a)", "(a)", "a"),
        ("a^b$c", "a^b$c", "abc"),
        ("[[:digit:]]x", "5x", "ax"),
        (r"[\n]", r"\", "m"),
        ("[]a]b", "]b", "cb"),
        ("[^]a]b", "cb", "]b"),
        ("[a&&b]", "&", "c"),
        (r"\<word\>", "a word.", "sword"),
        (r"\.", ".", "a"),
        (r"\(^a\)", "ab", "ba"),
        ("é*x", "ééx", "é"),
        ("[é]x", "éx", "ex"),
        (r"a\{,2\}b$", "aab", "a"),
        ("", "anything", "\u{0}never"),
    ] {
        assert!(matches(pattern, Kind::Basic, Rules::default(), yes), "{pattern} in {yes}");
        assert!(
            pattern.is_empty() || !matches(pattern, Kind::Basic, Rules::default(), no),
            "{pattern} in {no}"
        );
    }
}

#[test]
fn extended_patterns() {
    for (pattern, yes, no) in [
        ("a+b?c", "aac", "bc"),
        ("(ab|cd)+$", "xcdab", "ab c"),
        ("a{2,3}$", "aa", "ab"),
        (r"\(a\)", "(a)", "a"),
        ("a{x", "a{x", "ax"),
        ("a)", "a)", "a"),
        ("(?i)A", "?i)A", "a"),
        ("^(a|b)*$", "abba", "abc"),
        (r"\w+\s\w+", "two words", "one"),
    ] {
        if pattern == "(?i)A" {
            // A question mark after a bracket repeats nothing: it is itself.
            assert!(matches(pattern, Kind::Extended, Rules::default(), "?iA"));
            assert!(!matches(pattern, Kind::Extended, Rules::default(), "a"));
            continue;
        }
        assert!(matches(pattern, Kind::Extended, Rules::default(), yes), "{pattern} in {yes}");
        assert!(!matches(pattern, Kind::Extended, Rules::default(), no), "{pattern} in {no}");
    }
}

#[test]
fn rules_narrow_and_widen() {
    assert!(matches("ABC", Kind::Fixed, ANY_CASE, "xaBcx"));
    assert!(matches("[A-C]x", Kind::Basic, ANY_CASE, "bX"));
    assert!(
        matches("a.b", Kind::Fixed, Rules::default(), "xa.b") && !matches("a.b", Kind::Fixed, LINES, "xa.b")
    );
    assert!(!matches("a.b", Kind::Fixed, Rules::default(), "axb"));
    assert!(
        matches("cat", Kind::Basic, WORDS, "a cat!") && !matches("cat", Kind::Basic, WORDS, "concat cats")
    );
    assert!(matches("ca", Kind::Basic, WORDS, "cat ca"));
    assert!(matches("a*", Kind::Basic, LINES, "aaa") && !matches("a*", Kind::Basic, LINES, "aab"));
}

#[test]
fn bad_patterns_are_told() {
    for (pattern, kind, part) in [
        (r"\(a", Kind::Basic, "unmatched ("),
        (r"a\)", Kind::Basic, "unmatched )"),
        ("(a", Kind::Extended, "unmatched ("),
        ("[a", Kind::Basic, "unmatched ["),
        ("a\\", Kind::Basic, "trailing backslash"),
        (r"\(a\)\1", Kind::Basic, "back-references"),
        ("[[:nothing:]]", Kind::Basic, "unknown class"),
        ("(((a{1000}){1000}){1000})", Kind::Extended, ""),
    ] {
        let error = Matcher::new(&[pattern.as_bytes()], kind, Rules::default()).unwrap_err();
        assert!(error.contains(part) && !error.contains('\n'), "{pattern}: {error}");
    }
}

#[test]
fn bytes_that_are_no_text_match_themselves() {
    let mut matcher = Matcher::new(&[b"\xff.\\xfe*"], Kind::Basic, Rules::default()).unwrap();
    assert_eq!(matcher.find(b"a\xff\x00xfe"), Some(1..6));
    let mut matcher = Matcher::new(&[b"one\ntwo", b"three"], Kind::Basic, Rules::default()).unwrap();
    for line in [&b"a two"[..], b"three \xff", b"one"] {
        assert!(matcher.find(line).is_some());
    }
    assert_eq!(matcher.find(b"four"), None);
}

proptest! {
    #[test]
    fn any_pattern_is_refused_or_searched(pattern: Vec<u8>, line: Vec<u8>, kind in 0..3, case: bool, words: bool, lines: bool) {
        let kind = [Kind::Basic, Kind::Extended, Kind::Fixed][kind as usize];
        let rules = Rules { ignore_case: case, words, lines };
        if let Ok(mut matcher) = Matcher::new(&[&pattern], kind, rules)
            && let Some(range) = matcher.find(&line)
        {
            prop_assert!(range.end <= line.len());
        }
    }

    #[test]
    fn every_text_finds_itself(text in "[^\n]{0,20}", before: String) {
        let line = before.replace('\n', "") + &text;
        for rules in [Rules::default(), ANY_CASE] {
            prop_assert!(matches(&text, Kind::Fixed, rules, &line));
        }
    }

    #[test]
    fn patterns_of_special_letters_do_no_harm(pattern in r"[\\(){}|+*?.^$\[\]ab1,:<>]{0,12}", kind in 0..2) {
        let kind = [Kind::Basic, Kind::Extended][kind as usize];
        if let Ok(mut matcher) = Matcher::new(&[pattern.as_bytes()], kind, Rules::default()) {
            matcher.find(b"ab1(a)");
        }
    }
}
