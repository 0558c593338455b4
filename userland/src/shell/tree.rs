//! What a script says: the syntax tree (POSIX.1-2017, XCU 2.9 and 2.10).

use alloc_crate::boxed::Box;
use alloc_crate::rc::Rc;
use alloc_crate::vec::Vec;
use core::cell::OnceCell;

/// Commands, each ended by `;`, `&` or a line end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List(
    /// The commands, in order.
    pub Vec<Item>,
);

/// An AND-OR list with its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What is run.
    pub chain: Chain,
    /// Ended by `&`: the shell goes on without waiting.
    pub background: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The first pipeline.
    pub first: Pipeline,
    /// The others, each with when it runs.
    pub rest: Vec<(Link, Pipeline)>,
}

/// When a pipeline of a chain runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// If what came before succeeded.
    And,
    /// If what came before failed.
    Or,
}

/// Commands joined by `|`; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// `!`: success and failure change places.
    pub negated: bool,
    /// The commands, in order.
    pub commands: Vec<Command>,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A program, builtin or function with its arguments.
    Simple(Simple),
    /// A compound command.
    Compound(Compound, Vec<Redirect>),
    /// `NAME() BODY`
    Function(Vec<u8>, Rc<Command>),
}

/// Assignments, words and redirections; at least one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// `NAME=WORD` before the first word.
    pub assignments: Vec<(Vec<u8>, Word)>,
    /// The name of the command and its arguments.
    pub words: Vec<Word>,
    /// Where its descriptors lead.
    pub redirects: Vec<Redirect>,
}

/// A command made of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compound {
    /// `{ …; }`
    Group(List),
    /// `( … )`
    Subshell(List),
    /// `if …; then …; elif …; then …; else …; fi`
    If {
        /// Each condition with what follows if it holds; at least one.
        branches: Vec<(List, List)>,
        /// What follows if none holds.
        otherwise: Option<List>,
    },
    /// `while …; do …; done` and `until …; do …; done`
    Loop {
        /// `until`: as long as the condition fails.
        until: bool,
        /// Tested before each round.
        condition: List,
        /// One round.
        body: List,
    },
    /// `for NAME in …; do …; done`
    For {
        /// The variable.
        name: Vec<u8>,
        /// The words; without `in` the positional parameters.
        words: Option<Vec<Word>>,
        /// One round.
        body: List,
    },
    /// `case WORD in PATTERN) …;; esac`
    Case {
        /// What is compared.
        word: Word,
        /// Patterns and what follows if one matches.
        arms: Vec<(Vec<Word>, List)>,
    },
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor; 0 or 1 by the kind if it is not written.
    pub descriptor: Option<u32>,
    /// Where it leads.
    pub target: Target,
}

/// Where a redirection leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file.
    File(Access, Word),
    /// `<&` and `>&`: what another descriptor leads to, or `-` to close. The flag is set for `>&`.
    Duplicate(bool, Word),
    /// `<<`: text of the script.
    Here(Here),
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`: also where `set -C` forbids `>`.
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `&>`: standard output and standard error.
    WriteBoth,
    /// `&>>`
    AppendBoth,
}

/// A here-document. Its text follows the line that it is on, so it is filled in later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here(
    /// The text; empty only while the line is being read.
    pub Rc<OnceCell<HereText>>,
);

/// The text of a here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HereText {
    /// The delimiter was quoted: as it stands.
    Plain(Vec<u8>),
    /// To be expanded like what is between double quotes.
    Parts(Vec<Part>),
}

/// A word before it is expanded. No two neighbouring parts are both [`Part::Literal`] or both [`Part::Quoted`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word(
    /// Its parts, in order.
    pub Vec<Part>,
);

impl Word {
    /// The text of a word without any quoting or expansion.
    #[must_use]
    pub fn literal(&self) -> Option<&[u8]> {
        match self.0.as_slice() {
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text without quotes; between double quotes, text that stands for itself.
    Literal(Vec<u8>),
    /// Text that a backslash or single quotes protect.
    Quoted(Vec<u8>),
    /// `"…"`
    Double(Vec<Part>),
    /// `$NAME` and `${…}`
    Parameter(Box<Parameter>),
    /// `$(…)` and `` `…` ``
    Command(List),
    /// `$((…))`
    Arithmetic(Vec<Part>),
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// A name, a number, or one of `@*#?-$!`.
    pub name: Vec<u8>,
    /// What is done with its value.
    pub operation: Operation,
}

/// What a parameter expansion does with the value (XCU 2.6.2). The flag of the first four is set with a colon: an
/// empty value counts as none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `${x}`
    Value,
    /// `${#x}`
    Length,
    /// `${x-word}`: the word if there is no value.
    Default(bool, Word),
    /// `${x=word}`: the same, and the variable gets it.
    Assign(bool, Word),
    /// `${x?word}`: an error if there is no value.
    Require(bool, Word),
    /// `${x+word}`: the word if there is a value.
    Alternative(bool, Word),
    /// `${x#pattern}`, `${x##pattern}`: without the shortest or longest match at the start.
    TrimStart(bool, Word),
    /// `${x%pattern}`, `${x%%pattern}`: without the shortest or longest match at the end.
    TrimEnd(bool, Word),
}
