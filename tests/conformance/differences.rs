//! What a family said on both systems, side by side, and where it may differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Where Askr differs, with the reasons: `family | check | linux | askr | reason`.
const DIFFERENCES: &str = include_str!("differences.txt");
/// The value of a check that was not reached.
const NOTHING: &str = "(nothing)";

/// One check: its name and its value.
type Line<'a> = (&'a str, &'a str);

/// The checks in what a program showed. Other lines, such as the echo of what is typed, are no checks.
pub(crate) fn lines<'a>(family: &str, shown: &'a str) -> Vec<Line<'a>> {
    let check = |line: &'a str| line.trim_end_matches('\r').split_once(':');
    let checks = shown.split('\n').filter_map(check).filter(|(name, _)| *name != "type");
    let checks: Vec<_> = checks.map(|(name, value)| (name, value.trim_start())).collect();
    let mut names = BTreeSet::new();
    let twice = checks.iter().find(|(name, _)| !names.insert(name));
    assert_eq!(twice, None, "{family}: a name that two checks have; all that was shown:\n{shown}");
    checks
}

/// Compares what both systems said; panics with every check that differs and should not, and the other way round.
pub(crate) fn compare(family: &str, linux: &[Line<'_>], askr: &[Line<'_>]) {
    assert!(linux.len() > 20, "{family} on Linux: {linux:?}");
    let allowed = allowed(family);
    let on_askr: BTreeMap<_, _> = askr.iter().copied().collect();
    let on_linux: BTreeMap<_, _> = linux.iter().copied().collect();
    let only_there =
        askr.iter().filter(|(name, _)| !on_linux.contains_key(name)).map(|&(name, _)| (name, NOTHING));
    let mut told = String::new();
    for (name, expected) in linux.iter().copied().chain(only_there) {
        let got = on_askr.get(name).copied().unwrap_or(NOTHING);
        let listed = allowed.get(name).copied();
        if listed == Some((expected, got)) || listed.is_none() && expected == got {
            continue;
        }
        let why = match listed {
            None => "differs",
            Some(_) if expected == got => "is listed in differences.txt and no longer differs",
            Some(_) => "is listed in differences.txt with other values",
        };
        write!(told, "\n{family} | {name} | {expected} | {got} |    <- {why}").expect("memory");
    }
    for name in allowed.keys().filter(|name| !on_linux.contains_key(*name) && !on_askr.contains_key(*name)) {
        write!(told, "\n{family} | {name} |    <- is listed in differences.txt, and there is no such check")
            .expect("memory");
    }
    let last = askr.last();
    assert!(told.is_empty(), "family | check | linux | askr{told}\n\nthe last check on Askr: {last:?}");
}

/// The differences of a family that are on purpose, as pairs of what Linux and what Askr says.
fn allowed(family: &str) -> BTreeMap<&'static str, (&'static str, &'static str)> {
    let mut all = BTreeMap::new();
    for line in DIFFERENCES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields: Vec<_> = line.split('|').map(str::trim).collect();
        let &[its_family, name, linux, askr, reason] = fields.as_slice() else {
            panic!("differences.txt: five fields, not {line:?}")
        };
        assert!(!reason.is_empty() && linux != askr, "differences.txt: {line:?}");
        if its_family == family {
            assert!(all.insert(name, (linux, askr)).is_none(), "differences.txt: twice: {line:?}");
        }
    }
    all
}
