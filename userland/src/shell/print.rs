//! A syntax tree as text again. What is printed means the same.

use super::parse::is_reserved;
use super::tree::{
    Access, Chain, Command, Compound, Here, HereText, Item, Link, List, Operation, Parameter, Part, Pipeline,
    Redirect, Simple, Target, Word,
};
use super::word::Context;
use alloc_crate::format;
use alloc_crate::vec::Vec;
use core::mem::take;

/// The commands of a list as a script.
#[must_use]
pub fn script(list: &List) -> Vec<u8> {
    let mut printer = Printer::default();
    printer.list(list);
    printer.out
}

/// A chain on one line, for messages; here-documents without their text.
#[must_use]
pub fn summary(chain: &Chain) -> Vec<u8> {
    let mut printer = Printer::default();
    printer.chain(chain);
    printer.out
}

/// A simple command on one line, for messages; here-documents without their text.
#[must_use]
pub fn simple_summary(simple: &Simple) -> Vec<u8> {
    let mut printer = Printer::default();
    printer.simple(simple);
    printer.out
}

/// A command on one line, for messages; here-documents without their text.
#[must_use]
pub fn command_summary(command: &Command) -> Vec<u8> {
    let mut printer = Printer::default();
    printer.command(command);
    printer.out
}

/// Parts as they stand between double quotes, without the quotes that are around them.
pub(super) fn parts_text(parts: &[Part]) -> Vec<u8> {
    let mut printer = Printer::default();
    printer.parts(parts, Context::Here);
    printer.out
}

#[derive(Default)]
struct Printer {
    out: Vec<u8>,
    /// Here-documents of this line: delimiter and text.
    pending: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn list(&mut self, list: &List) {
        for Item { chain, background } in &list.0 {
            self.chain(chain);
            self.put(if *background { " &" } else { ";" });
            if self.pending.is_empty() {
                self.put(" ");
            } else {
                self.here_documents();
            }
        }
    }

    fn here_documents(&mut self) {
        self.put("\n");
        for (delimiter, text) in take(&mut self.pending) {
            self.out.extend(text);
            self.out.extend(delimiter);
            self.put("\n");
        }
    }

    fn chain(&mut self, chain: &Chain) {
        self.pipeline(&chain.first);
        for (link, pipeline) in &chain.rest {
            self.put(match link {
                Link::And => " && ",
                Link::Or => " || ",
            });
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if pipeline.negated {
            self.put("! ");
        }
        for (index, command) in pipeline.commands.iter().enumerate() {
            if index > 0 {
                self.put(" | ");
            }
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects, 0);
            }
            Command::Function(name, body) => {
                self.out.extend_from_slice(name);
                self.put("() ");
                self.command(body);
            }
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let start = self.out.len();
        // A reserved word is an ordinary one only behind something.
        let first = simple.words.first().and_then(Word::literal);
        let hides_first = simple.assignments.is_empty() && first.is_some_and(is_reserved);
        if hides_first {
            self.redirects(&simple.redirects, start);
        }
        for (name, value) in &simple.assignments {
            self.blank_after(start);
            self.out.extend_from_slice(name);
            self.put("=");
            self.word(value);
        }
        for word in &simple.words {
            self.blank_after(start);
            self.word(word);
        }
        if !hides_first {
            self.redirects(&simple.redirects, start);
        }
    }

    fn redirects(&mut self, redirects: &[Redirect], start: usize) {
        for redirect in redirects {
            self.blank_after(start);
            self.redirect(redirect);
        }
    }

    /// A blank, unless nothing was printed since `start`.
    fn blank_after(&mut self, start: usize) {
        if self.out.len() > start {
            self.put(" ");
        }
    }

    fn compound(&mut self, compound: &Compound) {
        match compound {
            Compound::Group(list) => self.between("{ ", list, "}"),
            Compound::Subshell(list) => self.between("( ", list, ")"),
            Compound::If { branches, otherwise } => {
                for (index, (condition, list)) in branches.iter().enumerate() {
                    self.between(if index == 0 { "if " } else { "elif " }, condition, "then ");
                    self.list(list);
                }
                if let Some(list) = otherwise {
                    self.between("else ", list, "");
                }
                self.put("fi");
            }
            Compound::Loop { until, condition, body } => {
                self.between(if *until { "until " } else { "while " }, condition, "do ");
                self.between("", body, "done");
            }
            Compound::For { name, words, body } => {
                self.put("for ");
                self.out.extend_from_slice(name);
                if let Some(words) = words {
                    self.put(" in");
                    for word in words {
                        self.put(" ");
                        self.word(word);
                    }
                }
                self.between("; do ", body, "done");
            }
            Compound::Case { word, arms } => self.case(word, arms),
        }
    }

    fn between(&mut self, before: &str, list: &List, after: &str) {
        self.put(before);
        self.list(list);
        self.put(after);
    }

    fn case(&mut self, word: &Word, arms: &[(Vec<Word>, List)]) {
        self.put("case ");
        self.word(word);
        self.put(" in ");
        for (patterns, list) in arms {
            for (index, pattern) in patterns.iter().enumerate() {
                self.put(if index == 0 { "(" } else { " | " });
                self.word(pattern);
            }
            self.between(") ", list, ";; ");
        }
        self.put("esac");
    }

    fn redirect(&mut self, redirect: &Redirect) {
        if let Some(descriptor) = redirect.descriptor {
            self.put(&format!("{descriptor}"));
        }
        match &redirect.target {
            Target::File(access, word) => {
                self.put(match access {
                    Access::Read => "<",
                    Access::Write => ">",
                    Access::Clobber => ">|",
                    Access::Append => ">>",
                    Access::ReadWrite => "<>",
                    Access::WriteBoth => "&>",
                    Access::AppendBoth => "&>>",
                });
                self.word(word);
            }
            Target::Duplicate(output, word) => {
                self.put(if *output { ">&" } else { "<&" });
                self.word(word);
            }
            Target::Here(here) => self.here(here),
        }
    }

    fn here(&mut self, Here(text): &Here) {
        let (plain, body) = match text.get() {
            Some(HereText::Plain(body)) => (true, body.clone()),
            Some(HereText::Parts(parts)) => (false, parts_text(parts)),
            None => (true, Vec::new()),
        };
        let mut delimiter = b"EOF".to_vec();
        // Ends: a line longer than the text is not in it.
        while body.split(|&byte| byte == b'\n').any(|line| line == delimiter) {
            delimiter.push(b'F');
        }
        self.put(if plain { "<<'" } else { "<<" });
        self.out.extend_from_slice(&delimiter);
        self.put(if plain { "'" } else { "" });
        self.pending.push((delimiter, body));
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.0, Context::Word);
    }

    fn parts(&mut self, parts: &[Part], context: Context) {
        for part in parts {
            match part {
                Part::Literal(text) => {
                    for &byte in text {
                        if context.escapes().contains(&byte) {
                            self.put("\\");
                        }
                        self.out.push(byte);
                    }
                }
                Part::Quoted(text) => self.quoted(text),
                Part::Double(parts) => {
                    self.put("\"");
                    self.parts(parts, Context::Double);
                    self.put("\"");
                }
                Part::Parameter(parameter) => self.parameter(parameter, context),
                Part::Command(list) => {
                    let pending = take(&mut self.pending);
                    self.between("$( ", list, ")");
                    self.pending = pending;
                }
                Part::Arithmetic(parts) => {
                    self.put("$((");
                    self.parts(parts, Context::Arithmetic);
                    self.put("))");
                }
            }
        }
    }

    fn quoted(&mut self, text: &[u8]) {
        for (index, piece) in text.split(|&byte| byte == b'\'').enumerate() {
            self.put(if index > 0 { "\\''" } else { "'" });
            self.out.extend_from_slice(piece);
            self.put("'");
        }
    }

    fn parameter(&mut self, parameter: &Parameter, context: Context) {
        self.put("${");
        if parameter.operation == Operation::Length {
            self.put("#");
        }
        self.out.extend_from_slice(&parameter.name);
        let (sign, word) = match &parameter.operation {
            Operation::Value | Operation::Length => return self.put("}"),
            Operation::Default(colon, word) => (if *colon { ":-" } else { "-" }, word),
            Operation::Assign(colon, word) => (if *colon { ":=" } else { "=" }, word),
            Operation::Require(colon, word) => (if *colon { ":?" } else { "?" }, word),
            Operation::Alternative(colon, word) => (if *colon { ":+" } else { "+" }, word),
            Operation::TrimStart(longest, word) => (if *longest { "##" } else { "#" }, word),
            Operation::TrimEnd(longest, word) => (if *longest { "%%" } else { "%" }, word),
        };
        let trims = matches!(parameter.operation, Operation::TrimStart(..) | Operation::TrimEnd(..));
        self.put(sign);
        self.parts(&word.0, Context::Brace(context.is_double() && !trims));
        self.put("}");
    }
}
