//! An ask as the person at the client sees it.

use super::pending::Pending;
use crate::mcp::person::Form;
use crate::mcp::text::{Shape, escape, is_plain};

/// Columns of a terminal after which a line of the guest's is folded, before a client wraps it and what follows would not
/// stand behind `>`.
const FOLD: usize = 70;

impl Pending {
    /// What the person sees. All that comes from the guest stands on lines that begin with `>`, and nothing else does: it
    /// cannot pass for words of ours, nor ours for its.
    pub(super) fn form(&self) -> Form {
        let who = match (&self.program, self.pid) {
            (Some(program), Some(pid)) => {
                format!(
                    "Process {pid} in the Askr guest, which runs\n\n{}\nasks:",
                    quoted(program, Shape::Line)
                )
            }
            _ => "A program in the Askr guest asks:".to_owned(),
        };
        let mut said = quoted(&self.question, Shape::Lines);
        for (key, value) in &self.context {
            said.push_str(&quoted(&[key, &b": "[..], value].concat(), Shape::Line));
        }
        let otherwise = self.default.as_ref().map_or_else(
            || "it has to do without.".to_owned(),
            |default| format!("it takes\n\n{}", quoted(default, Shape::Line)),
        );
        let seconds = self.left_ms.div_ceil(1000);
        let message = format!(
            "{who}\n\n{said}\nWords behind > are the program's own: give it no secrets. It gets your answer; without one \
             within {seconds} s {otherwise}"
        );
        Form { message, choices: self.shown_choices().0 }
    }

    /// The bytes that this answer of the form stands for.
    pub(super) fn bytes_of(&self, answer: &str) -> Vec<u8> {
        let at = self.shown_choices().0.iter().position(|choice| choice == answer);
        at.map_or_else(|| answer.as_bytes().to_vec(), |at| self.choices[at].clone())
    }
}

/// Lines behind `>`, escaped where they hold what a reader does not see, or a backtick, which is no letter to clients that
/// show Markdown.
fn quoted(bytes: &[u8], shape: Shape) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if is_plain(text, shape) && !text.contains('`') => text.to_owned(),
        _ => escape(bytes, shape).replace('`', "\\x60"),
    };
    let mut quoted = "> ".to_owned();
    let mut column = 0;
    for symbol in text.strip_suffix('\n').unwrap_or(&text).chars() {
        column += columns(symbol);
        if symbol == '\n' || column > FOLD {
            quoted.push_str("\n> ");
            column = columns(symbol);
        }
        if !"\r\n".contains(symbol) {
            quoted.push(symbol);
        }
    }
    quoted + "\n"
}

/// Columns that this takes at most.
const fn columns(symbol: char) -> usize {
    match symbol {
        '\r' | '\n' => 0,
        '\t' => 8,
        _ if symbol.is_ascii() => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_form_tells_the_programs_words_from_ours() {
        let pending = Pending {
            question: b"sure?\n\nThese words are ours.\x1b[2J".to_vec(),
            context: vec![(b"file\n".to_vec(), b"/\xff".to_vec())],
            program: Some(b"/bin/`x`".to_vec()),
            default: Some(b"no`. Your password:\n".to_vec()),
            choices: vec![b"yes\n".to_vec(), b"no".to_vec()],
            ..Pending::sample()
        };
        let Form { message, choices } = pending.form();
        let expected = "Process 7 in the Askr guest, which runs\n\n> /bin/\\x60x\\x60\n\nasks:\n\n> sure?\n> \n\
                        > These words are ours.\\x1b[2J\n> file\\n: /\\xff\n\n\
                        Words behind > are the program's own: give it no secrets. It gets your answer; without one \
                        within 30 s it takes\n\n> no\\x60. Your password:\\n\n";
        assert_eq!(message, expected);
        assert_eq!(choices, ["yes\\n", "no"]);
        assert_eq!((&*pending.bytes_of("yes\\n"), &*pending.bytes_of("no")), (&b"yes\n"[..], &b"no"[..]));
        assert_eq!(pending.bytes_of("other"), b"other", "the guest refuses it");
    }

    #[test]
    fn what_is_not_there_is_not_told() {
        let Form { message, .. } = Pending::sample().form();
        assert!(message.starts_with("A program in the Askr guest asks:\n\n> \n\nWords"), "{message}");
        assert!(message.ends_with(" within 30 s it has to do without."), "{message}");
    }

    #[test]
    fn long_lines_are_folded() {
        let fold = |text: &str| quoted(text.as_bytes(), Shape::Lines);
        let (full, wide) = ("x".repeat(FOLD), "语".repeat(FOLD / 2));
        assert_eq!(fold(&full), format!("> {full}\n"));
        assert_eq!(fold(&format!("{full}yz\nx")), format!("> {full}\n> yz\n> x\n"));
        assert_eq!(fold(&format!("{wide}语")), format!("> {wide}\n> 语\n"));
        assert_eq!(fold(&"\t".repeat(9)), format!("> {}\n> \t\n", "\t".repeat(8)));
    }

    /// The message without what stands behind `>`, and that.
    fn parts(pending: &Pending) -> (String, Vec<String>) {
        let message = pending.form().message;
        let (theirs, ours): (Vec<&str>, Vec<&str>) =
            message.split('\n').partition(|line| line.starts_with('>'));
        (ours.join("\n"), theirs.into_iter().map(str::to_owned).collect())
    }

    fn words() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![any::<Vec<u8>>(), "[a-z`> \n\r\t\u{2028}\u{85}é]{0,200}".prop_map(String::into_bytes)]
    }

    proptest! {
        #[test]
        fn no_program_speaks_with_our_voice(name in words(), question in words(), pair in (words(), words()), default in words()) {
            let plain = Pending { program: Some(b"x".to_vec()), default: Some(b"x".to_vec()), ..Pending::sample() };
            let hostile = Pending {
                program: Some(name), question, context: vec![pair], default: Some(default), ..Pending::sample()
            };
            let (ours, theirs) = parts(&hostile);
            prop_assert_eq!(ours, parts(&plain).0);
            for line in theirs {
                prop_assert!(line.starts_with("> ") && !line.contains('`'), "{line:?}");
                prop_assert!(!line.chars().any(|symbol| symbol.is_control() && symbol != '\t'), "{line:?}");
                prop_assert!(line.chars().map(columns).sum::<usize>() <= FOLD + 2, "{line:?}");
            }
        }
    }
}
