//! The command line of the shell, and what `set` changes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use askr_userland::bytes::Bytes;

/// Letter, name and place of an option.
type Entry = (u8, &'static [u8], fn(&mut Options) -> &mut bool);

/// All options.
const OPTIONS: &[Entry] = &[
    (b'C', b"noclobber", |options| &mut options.no_clobber),
    (b'e', b"errexit", |options| &mut options.exit_on_error),
    (b'f', b"noglob", |options| &mut options.no_names),
    (b'n', b"noexec", |options| &mut options.no_commands),
    (b'u', b"nounset", |options| &mut options.no_unset),
    (b'x', b"xtrace", |options| &mut options.trace),
];

/// What `set` changes (XCU 2.14, `set`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// `-C`: `>` replaces no file.
    pub(crate) no_clobber: bool,
    /// `-e`: a failure that nothing tests ends the shell.
    pub(crate) exit_on_error: bool,
    /// `-f`: patterns stand for themselves.
    pub(crate) no_names: bool,
    /// `-n`: commands are checked and not run.
    pub(crate) no_commands: bool,
    /// `-u`: a variable without a value is an error.
    pub(crate) no_unset: bool,
    /// `-x`: commands are shown before they run.
    pub(crate) trace: bool,
}

impl Options {
    /// Sets or clears the option with this letter; false if there is none.
    pub(crate) fn set_letter(&mut self, letter: u8, on: bool) -> bool {
        self.set_where(|entry| entry.0 == letter, on)
    }

    /// Sets or clears the option with this name; false if there is none.
    pub(crate) fn set_name(&mut self, name: &[u8], on: bool) -> bool {
        self.set_where(|entry| entry.1 == name, on)
    }

    fn set_where(&mut self, is: impl Fn(&Entry) -> bool, on: bool) -> bool {
        let found = OPTIONS.iter().find(|entry| is(entry));
        found.map(|entry| *(entry.2)(self) = on).is_some()
    }

    /// The letters of the options that are set: `$-`.
    pub(crate) fn letters(mut self) -> Vec<u8> {
        OPTIONS.iter().filter(|entry| *(entry.2)(&mut self)).map(|entry| entry.0).collect()
    }

    /// Names of all options, and which are set.
    pub(crate) fn all(mut self) -> impl Iterator<Item = (&'static [u8], bool)> {
        OPTIONS.iter().map(move |entry| (entry.1, *(entry.2)(&mut self)))
    }
}

/// Where commands come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// `-c`
    Text(&'a [u8]),
    /// A file.
    File(&'a [u8]),
    /// Standard input.
    Input,
}

type Parsed<'a> = (Options, Source<'a>, &'a [&'a [u8]]);

/// The options, where the commands come from, and the words behind that.
pub(crate) fn parse<'a>(mut arguments: &'a [&'a [u8]]) -> Result<Parsed<'a>, String> {
    let mut options = Options::default();
    let (mut text, mut input) = (false, false);
    while let [first, rest @ ..] = arguments
        && let [sign @ (b'-' | b'+'), letters @ ..] = *first
        && !letters.is_empty()
    {
        arguments = rest;
        if *first == b"--" {
            break;
        }
        for letter in letters {
            match letter {
                b'c' if *sign == b'-' => text = true,
                b's' if *sign == b'-' => input = true,
                letter if options.set_letter(*letter, *sign == b'-') => {}
                _ => return Err(format!("{}: unknown option", Bytes(first))),
            }
        }
    }
    match arguments {
        [] if text => Err("-c: a text is missing".into()),
        [commands, rest @ ..] if text => Ok((options, Source::Text(commands), rest)),
        [path, rest @ ..] if !input => Ok((options, Source::File(path), rest)),
        rest => Ok((options, Source::Input, rest)),
    }
}
