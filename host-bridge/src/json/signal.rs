//! Names of signals (`signal(7)`, the numbers of Linux on x86-64).

use serde_json::Value;

use super::error::{Error, Problem};
use super::fields::Fields;
use super::name;

/// Names without `SIG`, from number 1 on.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];
/// Highest number of a signal.
const LAST: u8 = 64;
const TERM: u8 = 15;

/// The name of a signal, where it has one.
pub(super) fn name_of(number: u32) -> Option<&'static str> {
    usize::try_from(number).ok()?.checked_sub(1).and_then(|index| NAMES.get(index).copied())
}

/// The signal that a request names, by name or number; SIGTERM if it names none.
pub(super) fn take(fields: &mut Fields) -> Result<u8, Error> {
    let value = match fields.0.remove(name::SIGNAL) {
        None | Some(Value::Null) => return Ok(TERM),
        Some(value) => value,
    };
    let number = match &value {
        Value::String(text) => {
            let text = text.to_uppercase();
            let short = text.strip_prefix("SIG").unwrap_or(&text);
            NAMES.iter().position(|known| *known == short).and_then(|index| u8::try_from(index + 1).ok())
        }
        other => other.as_u64().and_then(|number| u8::try_from(number).ok()).filter(|&number| number <= LAST),
    };
    number.ok_or_else(|| {
        Error::new(Problem::BadRequest, format!("`{}`: there is no signal {value}", name::SIGNAL))
    })
}
