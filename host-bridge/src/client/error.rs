//! Why a call brought nothing.

use std::time::Duration;
use std::{fmt, io};

use super::NoHub;
use crate::json::Answer;

/// Why a call brought nothing.
#[derive(Debug)]
pub enum Error {
    /// There is no hub to connect to.
    NoHub(NoHub),
    /// The connection broke. What a call was to change may have been changed.
    Lost(io::Error),
    /// The hub did not reply within this time. What a call was to change may have been changed, or may still be.
    NoReply(Duration),
    /// The hub or the guest said no.
    Refused(Refusal),
    /// The hub sent something that is no reply; the text says what. Hub and program may be of different versions.
    Protocol(String),
}

/// An error as the hub told it: `docs/host.md` lists the codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// For programs: the guest's status, such as `ENOENT`, or the hub's own, such as `not_ready`.
    pub code: String,
    /// What happened. It may quote names from the guest.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// The boot of the guest that it is of, 32 hex digits; `None` when no guest was seen yet.
    pub boot: Option<String>,
}

impl Error {
    /// The code of a refusal.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => Some(&refusal.code),
            _ => None,
        }
    }
}

impl Refusal {
    /// What an answer that is an error says, for those who have the hub's lines; `None` for another answer.
    #[must_use]
    pub fn of(answer: &Answer) -> Option<Self> {
        let Answer::Error { code, message, hint } = answer else { return None };
        Some(Self { code: code.clone(), message: message.clone(), hint: hint.clone(), boot: None })
    }
}

impl fmt::Display for Refusal {
    /// On one line, with nothing that a terminal obeys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}: {} ({})", self.code, self.message, self.hint);
        text.chars().try_for_each(|symbol| {
            let is_obeyed =
                symbol.is_control() || matches!(symbol, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            fmt::Write::write_char(f, if is_obeyed { char::REPLACEMENT_CHARACTER } else { symbol })
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHub(why) => why.fmt(f),
            Self::Lost(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("the hub ended before it replied: has the guest been stopped?")
            }
            Self::Lost(error) => write!(f, "the connection to the hub broke: {error}"),
            Self::NoReply(time) => write!(f, "the hub did not reply within {} seconds", time.as_secs_f32()),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Protocol(what) => write!(f, "{what}: are hub and program of different versions?"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoHub(why) => Some(why),
            Self::Lost(error) => Some(error),
            _ => None,
        }
    }
}

impl From<NoHub> for Error {
    fn from(why: NoHub) -> Self {
        Self::NoHub(why)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Lost(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_line_without_control_characters() {
        let refusal = Refusal {
            code: "ENOENT".into(),
            message: "/\u{1b}[2J\n\u{202e}: gone".into(),
            hint: "look".into(),
            boot: None,
        };
        let told = Error::Refused(refusal).to_string();
        assert_eq!(told, "ENOENT: /\u{fffd}[2J\u{fffd}\u{fffd}: gone (look)");
    }
}
