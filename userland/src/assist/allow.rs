//! Which commands only look, so that they may run before anybody has said yes. Whatever is not known to be harmless
//! counts as a change.

use crate::names;
use alloc_crate::vec::Vec;

/// A program that only looks, with the options that keep it so.
struct Tool {
    name: &'static str,
    /// Letters without a value.
    flags: &'static str,
    /// Letters with one.
    valued: &'static str,
    /// Long names.
    long: &'static [&'static str],
    operands: Operands,
}

/// What the arguments beside options are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Text.
    Words,
    /// Files, which are read.
    Files,
    /// Directories and files, of which only names and facts are read.
    Names,
}

const fn tool(
    name: &'static str,
    flags: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
    operands: Operands,
) -> Tool {
    Tool { name, flags, valued, long, operands }
}

/// All of them. `-f` of `tail` and `events` is not here: it never ends.
const TOOLS: &[Tool] = &[
    tool("asks", "", "", &[], Operands::Words),
    tool("cat", "nu", "", &["number"], Operands::Files),
    tool("date", "uIR", "d", &["utc", "date"], Operands::Words),
    tool("df", "hk", "", &["human-readable"], Operands::Names),
    tool("dmesg", "", "", &[], Operands::Words),
    tool("echo", "n", "", &[], Operands::Words),
    tool("events", "x", "n", &["failures", "lines"], Operands::Words),
    tool("false", "", "", &[], Operands::Words),
    tool("find", "", "nt", &["name", "type"], Operands::Names),
    tool("free", "bhkm", "", &["bytes", "human", "kibi", "mebi"], Operands::Words),
    tool(
        "grep",
        "ivnclqHhowxsEFGrR",
        "e",
        &["recursive", "ignore-case", "line-number", "count"],
        Operands::Files,
    ),
    tool("head", "qv", "nc", &["lines", "bytes"], Operands::Files),
    tool("hexdump", "Cv", "ns", &["length", "skip"], Operands::Files),
    tool("ls", "aAlh1CdFiRrSt", "", &["all", "almost-all", "human-readable", "recursive"], Operands::Names),
    tool("ps", "feAaxu", "", &["forest"], Operands::Words),
    tool("readlink", "n", "", &["no-newline"], Operands::Names),
    tool("seq", "", "", &[], Operands::Words),
    tool("sort", "nru", "", &["numeric-sort", "reverse", "unique"], Operands::Files),
    tool("tail", "qv", "nc", &["lines", "bytes"], Operands::Files),
    tool("true", "", "", &[], Operands::Words),
    tool("uname", "amnoprsv", "", &[], Operands::Words),
    tool("uptime", "s", "", &["since"], Operands::Words),
    tool("wc", "lwc", "", &["lines", "words", "bytes"], Operands::Files),
];

/// Where reading may take something away, or never ends.
const NOT_READ: [&[u8]; 2] = [b"/dev", b"/proc/kmsg"];

/// Whether a command only looks: a program of `/bin` by its bare name, with options and files that keep it so.
#[must_use]
pub fn only_looks(arguments: &[&str], directory: &[u8]) -> bool {
    let Some((name, rest)) = arguments.split_first() else { return false };
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == *name) else { return false };
    let Some(Given { operands, recursive, pattern }) = tool.read(rest) else { return false };
    match tool.operands {
        Operands::Words | Operands::Names => true,
        Operands::Files => {
            // Without files `grep -r` reads the working directory. Its pattern is looked at as if it were one, unless an
            // option gives it.
            let here = recursive && operands.len() <= usize::from(!pattern);
            operands
                .into_iter()
                .chain(here.then_some("."))
                .all(|file| is_readable(file, directory, recursive))
        }
    }
}

/// What a command was given.
#[derive(Default)]
struct Given<'a> {
    /// The arguments beside options.
    operands: Vec<&'a str>,
    /// Directories are read to their depth.
    recursive: bool,
    /// An option has the pattern of `grep`.
    pattern: bool,
}

impl Tool {
    /// The arguments, taken apart. `None` if there is an option that is not known to be harmless.
    fn read<'a>(&self, arguments: &[&'a str]) -> Option<Given<'a>> {
        let mut given = Given::default();
        let mut rest = arguments.iter().copied();
        while let Some(argument) = rest.next() {
            if argument == "--" {
                given.operands.extend(rest.by_ref());
            } else if let Some(long) = argument.strip_prefix("--") {
                let name = long.split('=').next().unwrap_or(long);
                self.long.contains(&name).then_some(())?;
                given.recursive |= name == "recursive";
            } else if let Some(letters) = argument.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                self.read_letters(letters, &mut rest, &mut given)?;
            } else {
                given.operands.push(argument);
            }
        }
        Some(given)
    }

    /// Letters after one dash.
    fn read_letters<'a>(
        &self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'a str>,
        given: &mut Given<'a>,
    ) -> Option<()> {
        // The old way to say how many lines.
        if matches!(self.name, "head" | "tail") && letters.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(());
        }
        // A number or the pattern of `echo` and `seq`.
        if matches!(self.name, "echo" | "seq") && !self.flags.contains(letters) {
            return Some(());
        }
        for (index, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                if index + letter.len_utf8() == letters.len() {
                    rest.next()?;
                }
                given.pattern |= self.name == "grep" && letter == 'e';
                return Some(());
            }
            self.flags.contains(letter).then_some(())?;
            given.recursive |= self.name == "grep" && matches!(letter, 'r' | 'R');
        }
        Some(())
    }
}

/// Whether a file may be read. A path is taken as it is written: links are not followed, and a link leads to nothing that
/// reading would change.
fn is_readable(file: &str, directory: &[u8], recursive: bool) -> bool {
    let path = plain_path(file.as_bytes(), directory);
    let below =
        |path: &[u8], of: &[u8]| path == of || (path.starts_with(of) && path.get(of.len()) == Some(&b'/'));
    let reaches = recursive && NOT_READ.iter().any(|denied| path == b"/" || below(denied, &path));
    !reaches && !NOT_READ.iter().any(|denied| below(&path, denied))
}

/// The path from the root, without `.` and `..`.
fn plain_path(path: &[u8], directory: &[u8]) -> Vec<u8> {
    let whole = if path.starts_with(b"/") { path.to_vec() } else { names::join(directory, path) };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in whole.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    [b"/", &parts.join(&b'/')[..]].concat()
}

#[cfg(test)]
mod tests {
    use super::only_looks;
    use proptest::prelude::*;

    fn looks(line: &str) -> bool {
        only_looks(&line.split(' ').collect::<Vec<_>>(), b"/tmp")
    }

    #[test]
    fn what_only_looks_runs_at_once() {
        for line in [
            "ls",
            "ls -la /disk",
            "ls --all",
            "cat motd",
            "cat -- -x",
            "head -3 f",
            "head -n 3 f",
            "tail -n3 f",
            "wc -l f",
            "grep -rn text .",
            "grep -e a f",
            "free -h",
            "df",
            "ps aux",
            "ps -f",
            "echo hi",
            "echo -x",
            "events -x -n 3",
            "find /tmp --name x",
            "uname -a",
            "date +%s",
            "dmesg",
            "seq -1 3",
            "hexdump -C -n 16 f",
        ] {
            assert!(looks(line), "{line}");
        }
    }

    #[test]
    fn everything_else_is_asked_about() {
        for line in [
            "",
            "rm f",
            "/bin/ls",
            "./ls",
            "LS",
            "ls --unknown",
            "ls -Z",
            "tail -f f",
            "tail --follow f",
            "events -f",
            "cat /dev/console",
            "cat ../dev/zero",
            "cat /tmp/.././dev/tty",
            "cat /proc/kmsg",
            "grep -r x /",
            "grep -rn x ..",
            "grep -r x /dev",
            "grep -e x /dev/zero",
            "grep -r x /proc",
            "sh -c ls",
            "kill 1",
            "mv a b",
            "cp a b",
            "tee f",
            "poweroff",
            "answer 0 yes",
            "touch f",
            "mkdir d",
            "chmod 7 f",
            "ai x",
            "sort -o f f",
            "head -n",
            "date -s x",
            "sleep 1",
            "sync",
            "ask x",
            "hog",
            "spin",
        ] {
            assert!(!looks(line), "{line}");
        }
        assert!(!only_looks(&["grep", "-r", "x"], b"/"), "the whole tree");
        assert!(only_looks(&["grep", "-r", "x"], b"/tmp"));
        // With the pattern in an option all operands are files.
        assert!(only_looks(&["grep", "-rn", "-F", "-e", "x", "/tmp"], b"/"));
        assert!(!only_looks(&["grep", "-rn", "-F", "-e", "x"], b"/"), "the whole tree");
        assert!(!only_looks(&["grep", "-re", "x", "/tmp", "/"], b"/tmp"), "the whole tree");
        assert!(!only_looks(&[], b"/"));
    }

    proptest! {
        #[test]
        fn only_programs_of_the_table_ever_look(name in "[a-z/.]{0,8}", rest: Vec<String>) {
            let arguments: Vec<&str> =
                [name.as_str()].into_iter().chain(rest.iter().map(String::as_str)).collect();
            if only_looks(&arguments, b"/tmp") {
                prop_assert!(super::TOOLS.iter().any(|tool| tool.name == name));
            }
        }

        #[test]
        fn no_way_to_write_a_path_reaches_a_device(
            start in prop::collection::vec(prop::sample::select(vec!["..", ".", "", "tmp/.."]), 0..5),
        ) {
            let path = ["/tmp/..", &start.join("/"), "dev/zero"].join("/");
            prop_assert!(!only_looks(&["cat", &path], b"/tmp"), "{}", path);
        }
    }
}
