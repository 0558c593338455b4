//! The command line of a tool: one way to declare what it takes, to read it, to explain it and to refuse the rest.
//! Short and long options, values in all their spellings, options after operands and `--` are as in the GNU
//! coreutils, and so are the messages.

use crate::bytes::Bytes;
use alloc_crate::vec::Vec;
use core::fmt;
use getargs::{Arg, Error, Opt, Options};

/// One option of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The letter of the short form. Also the name by which [`Given`] knows the option.
    pub letter: u8,
    /// The long form, empty if there is none.
    pub name: &'static str,
    /// What its value is called, empty if it takes none.
    pub value: &'static str,
    /// What it does, in a few words.
    pub help: &'static str,
}

/// A [`Flag`] without a value.
#[must_use]
pub const fn flag(letter: u8, name: &'static str, help: &'static str) -> Flag {
    Flag { letter, name, value: "", help }
}

/// A [`Flag`] with a value.
#[must_use]
pub const fn option(letter: u8, name: &'static str, value: &'static str, help: &'static str) -> Flag {
    Flag { letter, name, value, help }
}

/// The command line that a tool takes.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    /// Its name.
    pub name: &'static str,
    /// What follows the options, such as `[FILE]...`.
    pub operands: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// The options that it takes, besides `--help`.
    pub flags: &'static [Flag],
}

/// The options and operands of one call.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    options: Vec<(u8, &'a [u8])>,
    /// What is not an option, in its order.
    pub operands: Vec<&'a [u8]>,
}

impl<'a> Given<'a> {
    /// Whether the option is there.
    #[must_use]
    pub fn has(&self, letter: u8) -> bool {
        self.options.iter().any(|option| option.0 == letter)
    }

    /// The last value of the option.
    #[must_use]
    pub fn value(&self, letter: u8) -> Option<&'a [u8]> {
        self.options.iter().rev().find(|option| option.0 == letter).map(|option| option.1)
    }

    /// All values of the option.
    pub fn values(&self, letter: u8) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.options.iter().filter(move |option| option.0 == letter).map(|option| option.1)
    }

    /// That of the options that came last, with its value.
    #[must_use]
    pub fn last_of(&self, letters: &[u8]) -> Option<(u8, &'a [u8])> {
        self.options.iter().rev().find(|option| letters.contains(&option.0)).copied()
    }
}

/// Why a command line cannot be carried out as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem<'a> {
    /// `--help`: nothing is wrong, but the tool is to explain itself.
    Help,
    /// No such short option.
    UnknownLetter(u8),
    /// No such long option.
    UnknownName(&'a [u8]),
    /// The short option needs a value.
    LetterNeedsValue(u8),
    /// The long option needs a value.
    NameNeedsValue(&'a [u8]),
    /// The long option takes no value.
    NameTakesNoValue(&'a [u8]),
}

impl fmt::Display for Problem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Help => f.write_str("help"),
            Self::UnknownLetter(letter) => write!(f, "invalid option -- '{}'", Bytes(&[letter])),
            Self::UnknownName(name) => write!(f, "unrecognized option '--{}'", Bytes(name)),
            Self::LetterNeedsValue(letter) => {
                write!(f, "option requires an argument -- '{}'", Bytes(&[letter]))
            }
            Self::NameNeedsValue(name) => write!(f, "option '--{}' requires an argument", Bytes(name)),
            Self::NameTakesNoValue(name) => write!(f, "option '--{}' doesn't allow an argument", Bytes(name)),
        }
    }
}

impl Syntax {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// The first [`Problem`].
    pub fn read<'a>(&self, arguments: &[&'a [u8]]) -> Result<Given<'a>, Problem<'a>> {
        let mut given = Given::default();
        let mut options = Options::new(arguments.iter().copied());
        while let Some(argument) = options.next_arg().map_err(problem_of)? {
            let flag = match argument {
                Arg::Positional(operand) => {
                    given.operands.push(operand);
                    continue;
                }
                Arg::Long(b"help") => return Err(Problem::Help),
                Arg::Short(letter) => self
                    .flags
                    .iter()
                    .find(|flag| flag.letter == letter)
                    .ok_or(Problem::UnknownLetter(letter))?,
                Arg::Long(name) => self.by_name(name).ok_or(Problem::UnknownName(name))?,
            };
            let value = if flag.value.is_empty() { b"" } else { options.value().map_err(problem_of)? };
            given.options.push((flag.letter, value));
        }
        Ok(given)
    }

    fn by_name(&self, name: &[u8]) -> Option<&'static Flag> {
        self.flags.iter().find(|flag| !flag.name.is_empty() && flag.name.as_bytes() == name)
    }
}

fn problem_of(error: Error<&[u8]>) -> Problem<'_> {
    match error {
        Error::RequiresValue(Opt::Short(letter)) => Problem::LetterNeedsValue(letter),
        Error::RequiresValue(Opt::Long(name)) => Problem::NameNeedsValue(name),
        Error::DoesNotRequireValue(Opt::Long(name)) => Problem::NameTakesNoValue(name),
        // A letter cannot be given a value that it does not take, the rest are more letters; and there are no others.
        Error::DoesNotRequireValue(Opt::Short(letter)) => Problem::UnknownLetter(letter),
        _ => Problem::Help,
    }
}

/// What `--help` prints.
impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "usage: {} [OPTION]... {}\n{}\n", self.name, self.operands, self.about)?;
        for flag in self.flags {
            let comma = if flag.name.is_empty() { "  " } else { ", " };
            let long = if flag.name.is_empty() { 0 } else { flag.name.len() + 2 };
            let sign = match (flag.value.is_empty(), flag.name.is_empty()) {
                (true, _) => "",
                (false, true) => " ",
                (false, false) => "=",
            };
            let used = long + sign.len() + flag.value.len();
            let dashes = if flag.name.is_empty() { "" } else { "--" };
            write!(f, "  -{}{comma}{dashes}{}{sign}{}", char::from(flag.letter), flag.name, flag.value)?;
            writeln!(f, "{:width$}{}", "", flag.help, width = COLUMN.saturating_sub(used).max(1))?;
        }
        writeln!(f, "      --help{:width$}this text", "", width = COLUMN - "--help".len())
    }
}

/// Room for long option and value before the explanation.
const COLUMN: usize = 18;

#[cfg(test)]
mod tests {
    use super::{Problem, Syntax, flag, option};
    use proptest::prelude::*;

    const HEAD: Syntax = Syntax {
        name: "head",
        operands: "[FILE]...",
        about: "Prints the first lines of files.",
        flags: &[
            flag(b'q', "quiet", "no names"),
            option(b'n', "lines", "N", "how many lines"),
            option(b'c', "", "N", "bytes"),
        ],
    };

    fn read<'a>(arguments: &[&'a str]) -> Result<(String, Vec<&'a [u8]>), String> {
        let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
        let given = HEAD.read(&arguments).map_err(|problem| problem.to_string())?;
        let options = given.options.iter();
        let shown =
            options.map(|(letter, value)| format!("{}={} ", char::from(*letter), value.escape_ascii()));
        Ok((shown.collect(), given.operands))
    }

    #[test]
    fn every_spelling_of_an_option_is_understood() {
        let three: &[&[u8]] = &[b"a", b"b"];
        for arguments in [
            &["-q", "-n", "3", "a", "b"][..],
            &["-qn3", "a", "b"],
            &["--quiet", "--lines=3", "a", "b"],
            &["a", "-q", "b", "--lines", "3"],
            &["-q", "-n3", "--", "a", "b"],
        ] {
            let (options, operands) = read(arguments).unwrap();
            assert_eq!((options.as_str(), &operands[..]), ("q= n=3 ", three), "{arguments:?}");
        }
        assert_eq!(read(&["-", "--", "-q"]).unwrap(), (String::new(), vec![&b"-"[..], b"-q"]));
    }

    #[test]
    fn what_is_wrong_is_said_as_people_know_it() {
        for (arguments, said) in [
            (&["-x"][..], "invalid option -- 'x'"),
            (&["-qx"], "invalid option -- 'x'"),
            (&["--nope=3"], "unrecognized option '--nope'"),
            (&["-n"], "option requires an argument -- 'n'"),
            (&["--lines"], "option '--lines' requires an argument"),
            (&["--quiet=1"], "option '--quiet' doesn't allow an argument"),
            (&["-\u{1b}"], "invalid option -- '\\u{1b}'"),
        ] {
            assert_eq!(read(arguments), Err(said.to_owned()), "{arguments:?}");
        }
        assert_eq!(HEAD.read(&[b"a", b"--help"]).unwrap_err(), Problem::Help);
    }

    #[test]
    fn the_last_of_several_counts() {
        let given = HEAD.read(&[b"-n1", b"-c2", b"-n3"]).unwrap();
        assert_eq!(given.value(b'n'), Some(&b"3"[..]));
        assert_eq!(given.values(b'n').count(), 2);
        assert_eq!(given.last_of(b"cn"), Some((b'n', &b"3"[..])));
        assert!(given.has(b'c') && !given.has(b'q'));
    }

    #[test]
    fn help_lines_up() {
        assert_eq!(
            HEAD.to_string(),
            "usage: head [OPTION]... [FILE]...\nPrints the first lines of files.\n\n  \
             -q, --quiet           no names\n  \
             -n, --lines=N         how many lines\n  \
             -c   N                bytes\n      \
             --help            this text\n"
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_made_up(arguments: Vec<Vec<u8>>) {
            let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
            if let Ok(given) = HEAD.read(&arguments) {
                prop_assert!(given.operands.iter().all(|operand| arguments.contains(operand)));
            }
        }
    }
}
