//! Matching a request against a phrase with slots.
//!
//! A template is words with blanks between: `a|b` is one of several, `[a|b]` may be left out, `_` in a word is a blank,
//! `{name}` is a slot. A slot takes one word, or several between quotes; `{command}` takes all that is left. In a template
//! with Chinese characters there need be no blanks between the parts.

/// What the slots took, by name.
pub(super) type Slots<'t> = Vec<(&'static str, &'t str)>;

/// Quotes around what a slot takes.
const QUOTES: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('“', '”'), ('「', '」'), ('《', '》')];
/// The slot that takes all that is left.
const ALL_THAT_IS_LEFT: &str = "command";

/// What a template consists of.
#[derive(Clone, Debug)]
enum Part {
    Words { any_of: Vec<String>, optional: bool },
    Slot(&'static str),
}

/// The slots of `text`, if it is said as `template` says.
pub(super) fn matches<'t>(template: &'static str, text: &'t str) -> Option<Slots<'t>> {
    let parts: Vec<Part> = template.split(' ').map(part).collect();
    let mut slots = Vec::new();
    let loose = !template.is_ascii();
    walk(&parts, text, true, loose, &mut slots).then_some(slots)
}

fn part(word: &'static str) -> Part {
    if let Some(name) = word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
        return Part::Slot(name);
    }
    let inner = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
    let any_of = inner.unwrap_or(word).split('|').map(|word| word.replace('_', " ")).collect();
    Part::Words { any_of, optional: inner.is_some() }
}

/// Whether the parts match all of the text from here on. `at_gap`: a part may begin here without a blank.
fn walk<'t>(parts: &[Part], text: &'t str, at_gap: bool, loose: bool, slots: &mut Slots<'t>) -> bool {
    let trimmed = text.trim_start();
    let at_gap = at_gap || loose || trimmed.len() < text.len();
    let Some((part, rest)) = parts.split_first() else { return trimmed.is_empty() };
    match part {
        Part::Words { any_of, optional } => {
            let found = at_gap
                && any_of.iter().any(|word| {
                    let after = after_word(trimmed, word);
                    after.is_some_and(|after| walk(rest, after, false, loose, slots))
                });
            found || (*optional && walk(rest, text, at_gap, loose, slots))
        }
        Part::Slot(name) if at_gap => {
            let ends = if *name == ALL_THAT_IS_LEFT { all(trimmed) } else { ends(trimmed, loose) };
            ends.into_iter().any(|(value, after)| {
                slots.push((name, value));
                let found = walk(rest, after, false, loose, slots);
                if !found {
                    slots.pop();
                }
                found
            })
        }
        Part::Slot(_) => false,
    }
}

/// What is after `word` at the start of the text, in large or small letters.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

fn all(text: &str) -> Vec<(&str, &str)> {
    if text.is_empty() { Vec::new() } else { vec![(text, "")] }
}

/// What a slot may take at the start of the text, and what is after it.
fn ends(text: &str, loose: bool) -> Vec<(&str, &str)> {
    for (open, close) in QUOTES {
        if let Some((value, after)) = text.strip_prefix(open).and_then(|text| text.split_once(close)) {
            return if value.is_empty() { Vec::new() } else { vec![(value, after)] };
        }
    }
    let word = text.find(char::is_whitespace).unwrap_or(text.len());
    if loose {
        // The shortest first: what follows may be the next part.
        let cuts = text[..word].char_indices().map(|(at, symbol)| at + symbol.len_utf8());
        cuts.map(|at| text.split_at(at)).collect()
    } else if word > 0 {
        vec![text.split_at(word)]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn words_may_be_left_out_and_slots_are_filled() {
        let template = "show|print [me] [the] file {path}";
        assert_eq!(matches(template, "Show me the file  /a"), Some(vec![("path", "/a")]));
        assert_eq!(matches(template, "print file \"a b\""), Some(vec![("path", "a b")]));
        assert_eq!(matches(template, "show me"), None);
        assert_eq!(matches(template, "show file a b"), None);
        assert_eq!(matches(template, "showfile a"), None);
        assert_eq!(matches("what_is here", "what is here"), Some(vec![]));
        assert_eq!(matches("run {command}", "run ls -l  x"), Some(vec![("command", "ls -l  x")]));
    }

    #[test]
    fn chinese_needs_no_blanks() {
        let template = "把 {from} 复制|拷贝 到 {to}";
        for text in ["把/a复制到/b", "把 /a 拷贝到 /b"] {
            assert_eq!(matches(template, text), Some(vec![("from", "/a"), ("to", "/b")]), "{text}");
        }
        assert_eq!(matches("显示 {path} [的] [内容]", "显示motd的内容"), Some(vec![("path", "motd")]));
        assert_eq!(matches("显示 {path} [的] [内容]", "显示「甲 乙」"), Some(vec![("path", "甲 乙")]));
    }
}
