//! Signals by name, and how a process ended.

use core::fmt;

/// Number, name without `SIG`, and the description people know from `strsignal(3)`.
const SIGNALS: &[(u32, &str, &str)] = &[
    (1, "HUP", "Hangup"),
    (2, "INT", "Interrupt"),
    (3, "QUIT", "Quit"),
    (4, "ILL", "Illegal instruction"),
    (5, "TRAP", "Trace/breakpoint trap"),
    (6, "ABRT", "Aborted"),
    (7, "BUS", "Bus error"),
    (8, "FPE", "Floating point exception"),
    (9, "KILL", "Killed"),
    (10, "USR1", "User defined signal 1"),
    (11, "SEGV", "Segmentation fault"),
    (12, "USR2", "User defined signal 2"),
    (13, "PIPE", "Broken pipe"),
    (14, "ALRM", "Alarm clock"),
    (15, "TERM", "Terminated"),
    (17, "CHLD", "Child exited"),
    (18, "CONT", "Continued"),
    (19, "STOP", "Stopped (signal)"),
    (20, "TSTP", "Stopped"),
    (21, "TTIN", "Stopped (tty input)"),
    (22, "TTOU", "Stopped (tty output)"),
];

pub use askr_abi::signal::{SIGCONT, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};

/// All signals: number and name.
pub fn all() -> impl Iterator<Item = (u32, &'static str)> {
    SIGNALS.iter().map(|&(number, name, _)| (number, name))
}

/// Number and name of the signal that `text` means: its number, its name, or the exit status that it causes.
pub fn find(text: &[u8]) -> Option<(u32, &'static str)> {
    let number = match crate::clock::parse_u64(text) {
        Some(status @ 129..) => u32::try_from(status - 128).ok(),
        _ => parse(text),
    };
    all().find(|signal| Some(signal.0) == number)
}

/// The signal with this number or name (`9`, `KILL`, `SIGKILL`, `kill`); 0 only tests whether a process is there.
#[must_use]
pub fn parse(text: &[u8]) -> Option<u32> {
    if let Some(number) = crate::clock::parse_u64(text) {
        return u32::try_from(number).ok().filter(|&number| number < askr_abi::types::NSIG);
    }
    let bare = text
        .get(3..)
        .filter(|_| text.get(..3).is_some_and(|head| head.eq_ignore_ascii_case(b"SIG")))
        .unwrap_or(text);
    SIGNALS.iter().find(|entry| entry.1.as_bytes().eq_ignore_ascii_case(bare)).map(|entry| entry.0)
}

/// The description of a signal, "Unknown signal" if it has none.
#[must_use]
pub fn describe(number: u32) -> &'static str {
    SIGNALS.iter().find(|entry| entry.0 == number).map_or("Unknown signal", |entry| entry.2)
}

/// How a process ended, or that it stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code, 0 to 255.
    Exited(u8),
    /// By this signal.
    Signaled(u32),
    /// It has not ended: this signal stopped it.
    Stopped(u32),
}

impl Status {
    /// Decodes what `wait4(2)` stores: the signal in bits 0 to 6, else the code in bits 8 to 15. 0x7F in the low bits
    /// stands for a stop by the signal in bits 8 to 15.
    #[must_use]
    pub fn from_raw(raw: i32) -> Self {
        let bits = raw.cast_unsigned();
        match bits & 0x7F {
            0 => Self::Exited(bits.to_le_bytes()[1]),
            0x7F => Self::Stopped(u32::from(bits.to_le_bytes()[1])),
            signal => Self::Signaled(signal),
        }
    }

    /// The exit status that a shell reports: the code, or 128 + the signal.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Self::Exited(code) => i32::from(code),
            Self::Signaled(signal) | Self::Stopped(signal) => 128 + i32::try_from(signal).unwrap_or(0),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signaled(signal) => write!(f, "killed by signal {signal} ({})", describe(signal)),
            Self::Stopped(signal) => write!(f, "stopped by signal {signal} ({})", describe(signal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Status, find, parse};

    #[test]
    fn signals_by_number_and_name() {
        for text in ["9", "KILL", "SIGKILL", "kill", "sigKill"] {
            assert_eq!(parse(text.as_bytes()), Some(9), "{text}");
        }
        assert_eq!(parse(b"0"), Some(0));
        for text in ["", "SIG", "65", "99999999999", "-9", "NOPE"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn signals_by_exit_status() {
        for text in ["9", "137", "KILL"] {
            assert_eq!(find(text.as_bytes()), Some((9, "KILL")), "{text}");
        }
        for text in ["0", "128", "300", "99999999999", "NOPE", ""] {
            assert_eq!(find(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn wait_statuses() {
        assert_eq!(Status::from_raw(3 << 8), Status::Exited(3));
        assert_eq!(Status::from_raw(11), Status::Signaled(11));
        // A dumped core sets bit 7.
        assert_eq!(Status::from_raw(11 | 0x80), Status::Signaled(11));
        assert_eq!(Status::from_raw(11).code(), 139);
        assert_eq!(Status::from_raw(11).to_string(), "killed by signal 11 (Segmentation fault)");
        assert_eq!(Status::from_raw(20 << 8 | 0x7F), Status::Stopped(20));
        assert_eq!(Status::from_raw(0xFF00).to_string(), "exit code 255");
    }
}
