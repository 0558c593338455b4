//! Files under `/proc` that consist of lines `Key:` blank value, as in Linux (`man 5 proc`).

use crate::number::parse_u64;

/// The value of `key` in `text`, without the blanks around it.
#[must_use]
pub fn field<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    text.split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(key).and_then(|rest| rest.strip_prefix(b":")))
        .map(<[u8]>::trim_ascii)
}

/// The number of bytes that a value such as `12 kB` says.
#[must_use]
pub fn bytes(value: &[u8]) -> Option<u64> {
    parse_u64(value.strip_suffix(b" kB")?.trim_ascii())?.checked_mul(1024)
}

/// What `/proc/<pid>/status` says about a process. What is missing there is `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process<'a> {
    /// Name of the program.
    pub name: &'a [u8],
    /// State, a letter and a word in brackets.
    pub state: &'a [u8],
    /// Number of the parent.
    pub parent: &'a [u8],
    /// Number of the process group.
    pub group: &'a [u8],
    /// Memory in use, with its unit.
    pub resident: &'a [u8],
    /// For whom it works: console, an agent's session, the kernel.
    pub origin: &'a [u8],
}

impl<'a> Process<'a> {
    /// Reads the content of `/proc/<pid>/status`.
    #[must_use]
    pub fn parse(text: &'a [u8]) -> Self {
        let value = |key| field(text, key).unwrap_or(b"?");
        Self {
            name: value(b"Name"),
            state: value(b"State"),
            parent: value(b"PPid"),
            group: value(b"NSpgid"),
            resident: value(b"VmRSS"),
            origin: value(b"Origin"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Process, bytes, field};

    #[test]
    fn a_status_file() {
        let text = b"Name:\tmy prog\nState:\tR (running)\nPid:\t12\nPPid:\t1\nNSpgid:\t2\nOrigin:\tconsole\nVmRSS:\t80 kB\n";
        let process = Process::parse(text);
        assert_eq!(process.name, b"my prog");
        assert_eq!(process.state, b"R (running)");
        assert_eq!(process.parent, b"1");
        assert_eq!((process.group, bytes(process.resident)), (&b"2"[..], Some(80 * 1024)));
        assert_eq!(process.origin, b"console");
    }

    #[test]
    fn what_is_missing_is_a_question_mark() {
        assert_eq!(Process::parse(b"Name:\tx\n").origin, b"?");
        assert_eq!(field(b"MemTotal:  65536 kB\nMemFree: 1 kB", b"MemFree"), Some(&b"1 kB"[..]));
        assert_eq!(field(b"MemTotal:  65536 kB", b"Mem"), None);
    }
}
