//! Looking at what a person said: a command, a setting.

use super::super::plan::{Plan, Step};
use askr_abi::ConfKey;
use askr_abi::plan::Ending;

/// What only a shell understands, as a word or at the end of one.
const SHELL_SIGNS: [char; 10] = ['|', '>', '<', ';', '&', '$', '`', '*', '(', ')'];

/// A program with its arguments, which are taken as they stand.
pub(super) fn command(text: &str) -> Option<Plan> {
    let Some(words) = words(text) else {
        return Some(Plan::fail("There is a quote in that command that does not end."));
    };
    if text.contains(SHELL_SIGNS) {
        return Some(Plan::fail(
            "I run one program with its arguments as they stand: pipes, redirections, patterns and variables are the \
             shell's. Type that line without ai.",
        ));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (!words.is_empty()).then(|| Plan::run(&words))
}

/// Words with quotes around some of them; `None` if a quote does not end.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for symbol in text.chars() {
        match (quote, symbol) {
            (Some(open), symbol) if symbol == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(symbol);
                word.get_or_insert_default();
            }
            (None, symbol) if symbol.is_whitespace() => words.extend(word.take()),
            (_, symbol) => word.get_or_insert_default().push(symbol),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Names that people give the keys.
const KEYS: [(&str, ConfKey); 9] = [
    ("timeout", ConfKey::TimeoutMs),
    ("confirmation", ConfKey::Confirm),
    ("模型", ConfKey::Model),
    ("提供者", ConfKey::Provider),
    ("提供商", ConfKey::Provider),
    ("地址", ConfKey::Endpoint),
    ("端点", ConfKey::Endpoint),
    ("超时", ConfKey::TimeoutMs),
    ("确认", ConfKey::Confirm),
];

/// What people call things that are no file.
const NO_FILES: [&str; 20] = [
    "disk",
    "disks",
    "drive",
    "system",
    "machine",
    "computer",
    "memory",
    "data",
    "process",
    "processes",
    "program",
    "programs",
    "磁盘",
    "硬盘",
    "系统",
    "机器",
    "电脑",
    "内存",
    "数据",
    "进程",
];
/// Words of Chinese that lead from a place to what is there, or mean several things.
const SEVERAL: [&str; 10] = ["所有", "全部", "一切", "里的", "中的", "下的", "上的", "里面", "下面", "和"];

/// Deletes what was named, if it is one file: `None` if it may be something else. A name is as good as a path, but none that
/// has words in it which were not meant for one.
pub(super) fn delete(program: &str, path: &str) -> Option<Plan> {
    let is_file = !NO_FILES.iter().any(|word| path.eq_ignore_ascii_case(word));
    let is_one = !SEVERAL.iter().any(|words| path.contains(words));
    (is_file && is_one).then(|| Plan::run(&[program, path]))
}

/// Who answers; `None` if it is none of those that can.
pub(super) fn provider(name: &str) -> Option<Plan> {
    ConfKey::Provider.takes(&name.to_lowercase()).then(|| setting(ConfKey::Provider.name(), name))?
}

/// `None` if there is no such key: then something else was meant.
pub(super) fn setting(name: &str, value: &str) -> Option<Plan> {
    let name = name.to_lowercase();
    let key = ConfKey::from_name(&name).or_else(|| KEYS.iter().find(|key| key.0 == name).map(|key| key.1))?;
    // Words of ours, which people write as names.
    let lower = value.to_lowercase();
    let value = if matches!(key, ConfKey::Provider | ConfKey::Confirm) { &lower } else { value };
    if !key.takes(value) {
        return Some(Plan::fail(format!("{} must be {}. Nothing was changed.", key.name(), key.wants())));
    }
    Some(Plan { steps: vec![Step::Set(key.name().into(), value.into())], ending: Ending::Done })
}
