//! `builtin`: understands the phrases of a table, in English and Chinese, without a language model.
//!
//! It plans over the guest's own commands. What it does not understand it says, and how to configure a model; what would
//! delete something it plans only for one file that was named.

mod looks;
mod phrases;
mod results;
mod template;
#[cfg(test)]
mod tests;

use super::plan::Plan;
use super::request::Request;
use phrases::PHRASES;
use template::Slots;

/// Words before a request that say nothing.
const POLITE: [&str; 12] = [
    "please ",
    "can you ",
    "could you ",
    "would you ",
    "hey ",
    "now ",
    "请帮我",
    "请",
    "帮我",
    "帮忙",
    "麻烦你",
    "麻烦",
];
/// Words that name no file in particular.
const VAGUE: [&str; 27] = [
    "it",
    "them",
    "this",
    "that",
    "these",
    "those",
    "all",
    "everything",
    "anything",
    "something",
    "stuff",
    "file",
    "files",
    "directory",
    "directories",
    "folder",
    "folders",
    "here",
    "the",
    "一切",
    "所有",
    "全部",
    "所有文件",
    "文件",
    "目录",
    "文件夹",
    "它",
];

/// The plan for a request, or for what its steps have brought so far.
pub(super) fn answer(request: &Request) -> Plan {
    let text = plain(&request.text);
    for phrase in PHRASES {
        let templates = phrase.english.iter().chain(phrase.chinese);
        for slots in templates.filter_map(|template| template::matches(template, text)) {
            let plan = match &request.result {
                None if slots.iter().all(is_named) => (phrase.plan)(&slots, request),
                None => None,
                Some(result) => phrase.then.map(|then| then(&slots, result)),
            };
            if let Some(plan) = plan {
                return plan;
            }
        }
    }
    if request.result.is_some() {
        Plan::say("That was all that I had planned.")
    } else {
        not_understood(text)
    }
}

/// The request without politeness before it and punctuation after it.
fn plain(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = POLITE.iter().find_map(|word| {
        let (head, rest) = text.split_at_checked(word.len())?;
        head.eq_ignore_ascii_case(word).then_some(rest)
    }) {
        text = rest.trim_start();
    }
    text = text.trim_end_matches(['?', '!', '。', '？', '！', ' ']);
    // A dot that ends a sentence, and no directory.
    match text.strip_suffix('.') {
        Some(sentence) if sentence.ends_with(char::is_alphanumeric) => sentence,
        _ => text,
    }
}

/// Whether what a slot took is what it is for.
fn is_named((name, value): &(&'static str, &str)) -> bool {
    let is_vague = VAGUE.iter().any(|word| value.eq_ignore_ascii_case(word));
    match *name {
        "number" => value.len() <= 9 && value.bytes().all(|byte| byte.is_ascii_digit()),
        "path" | "from" | "to" => {
            !is_vague && !value.starts_with('-') && !value.contains(['*', '?', '[', '|', ';', '&'])
        }
        "name" => !is_vague && !value.starts_with('-'),
        _ => true,
    }
}

/// The value of a slot that the phrase has.
fn slot<'t>(slots: &Slots<'t>, name: &str) -> &'t str {
    slots.iter().find(|slot| slot.0 == name).map_or("", |slot| slot.1)
}

/// What deletes, in whatever words.
const DELETES: [&str; 16] = [
    "delete",
    "remove",
    "erase",
    "wipe",
    "clean",
    "clear",
    "format",
    "purge",
    "destroy",
    "drop",
    "rm ",
    "删",
    "清空",
    "清理",
    "格式化",
    "移除",
];

fn not_understood(text: &str) -> Plan {
    let lower = text.to_lowercase();
    if DELETES.iter().any(|word| lower.starts_with(word) || lower.contains(&format!(" {word}")))
        || lower.contains('删')
    {
        return Plan::fail(
            "I do not guess at what to delete. Name one file, for example: ai delete /tmp/old.txt (or an empty \
             directory: ai delete the directory /tmp/old). Patterns and whole trees are for you to type: rm, rm -r.",
        );
    }
    Plan::fail(format!(
        "I am the built-in agent and have no language model, so I do not understand \"{}\". I know phrases such as \"list \
         files in /tmp\", \"what is using memory\" or \"what failed last and why\"; \"ai help\" lists more. To use a model: ai \
         config provider ollama, then ai config model NAME (or provider openai or anthropic, with the key in the host's \
         environment). Or answer yourself, on the host: cargo run -p host-bridge -- call asks.wait",
        quote(text)
    ))
}

/// The start of a text.
fn quote(text: &str) -> String {
    const QUOTE_MAX: usize = 120;
    let mut start: String = text.chars().take(QUOTE_MAX).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}
