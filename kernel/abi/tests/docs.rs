//! `docs/syscalls.md` says what the code does: numbers, the table of handlers, the layout of `AskArgs`, its errors.
//! The bounds that `docs/architecture.md` lists are those of the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;
use std::path::{Path, PathBuf};

use askr_abi::{AskArgs, Decider, Errno, call_name};

const PAGE: &str = include_str!("../../../docs/syscalls.md");
const ARCHITECTURE: &str = include_str!("../../../docs/architecture.md");
const NUMBERS: &str = include_str!("../src/number.rs");

/// A call as `number.rs` has it.
#[derive(Debug)]
struct Call {
    number: u64,
    /// What its comment begins with, such as `close(fd)`.
    signature: &'static str,
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `pub const NAME: u64 = VALUE;`, where the value may be a sum with constants before it.
fn parse_constant(line: &'static str, known: &BTreeMap<&'static str, u64>) -> Option<(&'static str, u64)> {
    let (name, value) = line.strip_prefix("pub const ")?.strip_suffix(';')?.split_once(": u64 = ")?;
    let terms = value.split(" + ").map(|term| parse_number(term).or_else(|| known.get(term).copied()));
    Some((name, terms.sum::<Option<u64>>()?))
}

/// The calls of `number.rs` by name. A constant is a call if its comment begins with the call's signature.
fn calls() -> BTreeMap<String, Call> {
    let (mut known, mut calls, mut comment) = (BTreeMap::new(), BTreeMap::new(), "");
    for line in NUMBERS.lines() {
        if let Some(text) = line.strip_prefix("/// ") {
            comment = if comment.is_empty() { text } else { comment };
            continue;
        }
        if let Some((name, number)) = parse_constant(line, &known) {
            known.insert(name, number);
            let signature = comment.strip_prefix('`').and_then(|text| text.split('`').next()).unwrap_or("");
            if signature.split('(').next() == Some(&name.to_lowercase()) {
                calls.insert(name.to_lowercase(), Call { number, signature });
            }
        }
        comment = "";
    }
    assert_eq!(known.len(), NUMBERS.matches("pub const ").count(), "a constant was not understood");
    assert_eq!(calls.len() + 1, known.len(), "all constants but the base of Askr's own range are calls");
    calls
}

/// A section about calls: `### name (number), other (number)`, and the text up to the next heading.
struct Section {
    calls: Vec<(&'static str, u64)>,
    text: &'static str,
}

fn sections() -> Vec<Section> {
    let entry = |text: &'static str| {
        let (name, number) = text.strip_suffix(')')?.split_once(" (")?;
        Some((name, parse_number(number)?))
    };
    let section = |part: &'static str| {
        let (heading, rest) = part.split_once('\n').unwrap();
        let calls = heading.split(", ").map(entry).collect::<Option<_>>();
        let text = rest.split("\n## ").next().unwrap();
        Section { calls: calls.unwrap_or_else(|| panic!("heading {heading}")), text }
    };
    PAGE.split("\n### ").skip(1).map(section).collect()
}

#[test]
fn every_call_has_its_section_and_every_section_its_call() {
    let mut calls = calls();
    for Section { calls: entries, text } in sections() {
        for (name, number) in entries {
            let call =
                calls.remove(name).unwrap_or_else(|| panic!("{name} is not in number.rs, or twice here"));
            assert_eq!(number, call.number, "{name}");
            assert_eq!(call_name(number), Some(name), "the name that a trace line would have");
            assert!(text.contains(&format!("`{}`", call.signature)), "{name} is `{}`", call.signature);
        }
    }
    assert!(calls.is_empty(), "without a section: {calls:?}");
}

#[test]
fn the_kernel_serves_exactly_the_calls_that_have_a_number() {
    let source = std::fs::read_to_string(workspace().join("kernel/src/syscall/mod.rs")).unwrap();
    let table = source.split_once("const TABLE").unwrap().1.split_once("];").unwrap().0;
    let rows = table.lines().filter_map(|line| line.trim().strip_prefix("(nr::")?.split_once(','));
    let served: BTreeSet<String> = rows.map(|(name, _)| name.to_lowercase()).collect();
    assert_eq!(served, calls().into_keys().collect());
}

/// The cells of the table with this heading, without backticks.
fn table(page: &'static str, heading: &str) -> Vec<Vec<&'static str>> {
    let mut lines = page.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "no table {heading}");
    let cells =
        |line: &'static str| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`'));
    lines.skip(1).take_while(|line| line.starts_with('|')).map(|line| cells(line).collect()).collect()
}

/// Name, offset and size of each field. The pattern names all fields, so a new one does not compile here.
macro_rules! layout {
    ($($field:ident),*) => {{
        let AskArgs { $($field),* } = AskArgs::default();
        vec![$((stringify!($field), offset_of!(AskArgs, $field), size_of_val(&$field))),*]
    }};
}

#[test]
fn the_layout_of_the_ask_block_is_that_of_the_code() {
    let mut layout = layout!(
        intent,
        timeout_ms,
        question,
        question_len,
        answer,
        answer_cap,
        default,
        default_len,
        decider,
        reason,
        answer_len,
        answer_total,
        choices,
        choices_count,
        context,
        context_count
    );
    layout.sort_by_key(|&(_, offset, _)| offset);
    let rows = table(PAGE, "| offset | size | field | | meaning |");
    let number = |text: &str| text.parse::<usize>().unwrap();
    let documented: Vec<_> = rows.iter().map(|row| (row[2], number(row[0]), number(row[1]))).collect();
    assert_eq!(documented, layout);
    let last = layout.last().map(|&(_, offset, size)| offset + size);
    assert_eq!(last, Some(AskArgs::SIZE));
}

#[test]
fn the_deciders_are_those_of_the_code() {
    let rows = table(PAGE, "| decider | name | meaning |");
    for row in &rows {
        let decider = Decider::from_u32(row[0].parse().unwrap());
        assert_eq!(decider.map(Decider::name), Some(row[1]));
    }
    let next = u32::try_from(rows.len()).unwrap();
    assert!(next > 0 && Decider::from_u32(next).is_none(), "a decider is missing");
}

#[test]
fn the_errors_of_an_ask_have_their_numbers() {
    let rows = table(PAGE, "| number | error | when | with a default |");
    assert!(rows.len() > 5, "{rows:?}");
    for row in rows {
        let errno = Errno::from_i32(row[0].parse().unwrap());
        assert_eq!(errno.map(Errno::name), Some(row[1]));
    }
}

#[test]
fn every_bound_of_the_architecture_is_in_the_source_with_that_value() {
    let rows = table(ARCHITECTURE, "| name | value | where | what is bounded |");
    assert!(rows.len() > 40, "{}", rows.len());
    for row in rows {
        let path = workspace().join(row[2]);
        let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", row[2]));
        let constant = format!("const {}: ", row[0]);
        let value = |rest: &'static str| rest.split_once(" = ")?.1.split(';').next();
        let source: &'static str = source.leak();
        let values: Vec<_> = source.split(&constant).skip(1).filter_map(value).collect();
        assert_eq!(values, [row[1]], "{} in {}", row[0], row[2]);
    }
}
