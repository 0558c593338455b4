//! The agent's configuration, `key=value` lines: the guest edits it and obeys `confirm`, the bridge obeys the rest.
//!
//! A line that is blank or begins with `#` says nothing. Of several lines with one key the last good one counts. A line that
//! is wrong is reported with its number and ignored. No message repeats a value: somebody may have put a secret there.

use crate::plan::is_value;

/// Where it is.
pub const AGENT_CONF: &str = "/disk/etc/agent.conf";
/// Most of it that is read, in bytes.
pub const AGENT_CONF_MAX: usize = 16 * 1024;
/// The time that an answer may take if `timeout_ms` does not say, in milliseconds.
pub const TIMEOUT_DEFAULT_MS: u32 = 50_000;
/// Shortest and longest `timeout_ms`.
const TIMEOUT_MS: core::ops::RangeInclusive<u32> = 100..=600_000;

/// What can be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfKey {
    /// Who answers: `builtin`, `openai` (and whatever speaks its chat completions), `ollama`, `anthropic`.
    Provider,
    /// The address of its interface, `http://…` or `https://…`.
    Endpoint,
    /// The name of the model.
    Model,
    /// The variable in the environment of the bridge that holds the key: `…_API_KEY`.
    ApiKeyEnv,
    /// How long an answer may take, with all tries, in milliseconds.
    TimeoutMs,
    /// When the person is asked: `changes` (before anything that may change state), `always`, `never`.
    Confirm,
}

impl ConfKey {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Provider, Self::Endpoint, Self::Model, Self::ApiKeyEnv, Self::TimeoutMs, Self::Confirm];

    /// As it stands in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Endpoint => "endpoint",
            Self::Model => "model",
            Self::ApiKeyEnv => "api_key_env",
            Self::TimeoutMs => "timeout_ms",
            Self::Confirm => "confirm",
        }
    }

    /// The key with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// What a value of it looks like, for people.
    #[must_use]
    pub const fn wants(self) -> &'static str {
        match self {
            Self::Provider => "builtin, openai, ollama or anthropic",
            Self::Endpoint => "http://HOST… or https://HOST…, without a user, a query or blanks",
            Self::Model => "the name of a model",
            Self::ApiKeyEnv => {
                "the name of a variable on the host that ends in _API_KEY; the key itself never belongs here"
            }
            Self::TimeoutMs => "milliseconds, 100 to 600000",
            Self::Confirm => "changes, always or never",
        }
    }

    /// Whether it can have this value.
    #[must_use]
    pub fn takes(self, value: &str) -> bool {
        is_value(value)
            && match self {
                Self::Provider => matches!(value, "builtin" | "openai" | "ollama" | "anthropic"),
                Self::Endpoint => is_endpoint(value),
                Self::Model => !value.is_empty(),
                Self::ApiKeyEnv => {
                    let is_allowed =
                        |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
                    value.ends_with("_API_KEY")
                        && value.len() > "_API_KEY".len()
                        && value.bytes().all(is_allowed)
                }
                Self::TimeoutMs => timeout(value).is_some(),
                Self::Confirm => matches!(value, "changes" | "always" | "never"),
            }
    }
}

/// An address without a user, a query or anything after it.
fn is_endpoint(value: &str) -> bool {
    let rest = value.strip_prefix("http://").or_else(|| value.strip_prefix("https://"));
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !br#"@?#\"'<>{}|^`"#.contains(&byte);
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && rest.bytes().all(is_allowed))
}

fn timeout(value: &str) -> Option<u32> {
    let is_decimal = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|number| is_decimal && TIMEOUT_MS.contains(number))
}

/// Why a line says nothing that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLine {
    /// It is not UTF-8.
    NotUtf8,
    /// It has no `=`.
    NoValue,
    /// Nobody knows the key.
    UnknownKey,
    /// The key cannot have this value.
    BadValue(ConfKey),
}

impl core::fmt::Display for BadLine {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("it is not UTF-8"),
            Self::NoValue => f.write_str("it is no key=value"),
            Self::UnknownKey => f.write_str("the key is not known"),
            Self::BadValue(key) => write!(f, "{} must be {}", key.name(), key.wants()),
        }
    }
}

/// The lines that say something: their number, counted from 1, and the key and value or what is wrong.
pub fn conf_lines(text: &[u8]) -> impl Iterator<Item = (usize, Result<(ConfKey, &str), BadLine>)> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    (1..).zip(lines).filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#")).map(|(number, line)| {
        let setting = str::from_utf8(line).map_err(|_| BadLine::NotUtf8).and_then(|line| {
            let (name, value) = line.split_once('=').ok_or(BadLine::NoValue)?;
            let key = ConfKey::from_name(name.trim()).ok_or(BadLine::UnknownKey)?;
            let value = value.trim();
            if key.takes(value) { Ok((key, value)) } else { Err(BadLine::BadValue(key)) }
        });
        (number, setting)
    })
}

/// The value of `key`, if a good line gives it one.
#[must_use]
pub fn conf_value(text: &[u8], key: ConfKey) -> Option<&str> {
    conf_lines(text).filter_map(|(_, line)| line.ok()).filter(|line| line.0 == key).last().map(|line| line.1)
}

/// `timeout_ms`, or the default.
#[must_use]
pub fn conf_timeout_ms(text: &[u8]) -> u32 {
    conf_value(text, ConfKey::TimeoutMs).and_then(timeout).unwrap_or(TIMEOUT_DEFAULT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn the_last_good_line_counts_and_bad_ones_have_their_number() {
        let text = b"# mine\nprovider = ollama\n\nmodel=a=b\r\nprovider=nobody\nnonsense\ncolour=red\n\xff=1\nmodel=c\n";
        let bad: Vec<_> =
            conf_lines(text).filter_map(|(number, line)| line.err().map(|why| (number, why))).collect();
        let provider = ConfKey::Provider;
        let expected = [
            (5, BadLine::BadValue(provider)),
            (6, BadLine::NoValue),
            (7, BadLine::UnknownKey),
            (8, BadLine::NotUtf8),
        ];
        assert_eq!(bad, expected);
        assert_eq!(conf_value(text, provider), Some("ollama"));
        assert_eq!(conf_value(text, ConfKey::Model), Some("c"));
        assert_eq!(conf_value(text, ConfKey::Endpoint), None);
        assert_eq!(conf_timeout_ms(text), TIMEOUT_DEFAULT_MS);
        assert_eq!(conf_timeout_ms(b"timeout_ms=100"), 100);
    }

    #[test]
    fn values_are_checked_and_never_repeated() {
        for (key, good, bad) in [
            (ConfKey::Endpoint, "http://127.0.0.1:11434/v1", "ftp://x"),
            (ConfKey::Endpoint, "https://[::1]:8080", "http://user:secret@host"),
            (ConfKey::Endpoint, "https://api.openai.com/v1", "https://host/?key=secret"),
            (ConfKey::ApiKeyEnv, "MY_2_API_KEY", "sk-secret"),
            (ConfKey::ApiKeyEnv, "X_API_KEY", "AWS_SECRET_ACCESS_KEY"),
            (ConfKey::ApiKeyEnv, "X_API_KEY", "_API_KEY"),
            (ConfKey::TimeoutMs, "600000", "+100"),
            (ConfKey::TimeoutMs, "100", "600001"),
            (ConfKey::Model, "llama3.2:1b", ""),
            (ConfKey::Confirm, "never", "sometimes"),
        ] {
            assert!(key.takes(good) && !key.takes(bad), "{} {good} {bad}", key.name());
        }
        let line = conf_lines(b"api_key_env=sk-secret").next().unwrap().1.unwrap_err();
        assert!(!line.to_string().contains("secret"), "{line}");
        for key in ConfKey::ALL {
            assert_eq!(ConfKey::from_name(key.name()), Some(key));
        }
    }
}
