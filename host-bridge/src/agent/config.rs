//! `/disk/etc/agent.conf` of the guest, as the bridge obeys it. It is read for each request, so that a change counts at
//! once.

use std::time::Duration;

use askr_abi::{AGENT_CONF, AGENT_CONF_MAX, ConfKey, conf_lines, conf_timeout_ms, conf_value};
use askr_wire::status::Status;

use crate::ops::Operation;
use crate::session::{CallError, Session};

/// Longest time for the file to come.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Most lines that are reported as wrong.
const REPORTED_MAX: usize = 5;

/// Who answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Provider {
    /// The table of phrases.
    #[default]
    Builtin,
    /// Chat completions, as OpenAI, llama.cpp and vLLM have them.
    OpenAi,
    /// The same of an Ollama on this machine.
    Ollama,
    /// Messages, as Anthropic has them.
    Anthropic,
}

impl Provider {
    /// Its name in the file.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Anthropic => "anthropic",
        }
    }
}

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) provider: Provider,
    pub(super) endpoint: Option<String>,
    pub(super) model: Option<String>,
    pub(super) api_key_env: Option<String>,
    pub(super) timeout: Duration,
    /// What is wrong with the file, for people.
    pub(super) complaints: Vec<String>,
}

impl Config {
    /// From the guest; a file that cannot be read is told, and says nothing.
    pub(super) fn load(session: &Session) -> Self {
        let read = Operation::begin(session, READ_TIMEOUT)
            .and_then(|operation| operation.read(AGENT_CONF.as_bytes(), 0, Some(AGENT_CONF_MAX as u64 + 1)));
        match read {
            Ok(content) if content.data.len() > AGENT_CONF_MAX => {
                Self::unreadable(&format!("it has more than {AGENT_CONF_MAX} bytes"))
            }
            Ok(content) => Self::parse(&content.data),
            Err(CallError::Guest(Status::NoEnt)) => Self::parse(b""),
            Err(error) => Self::unreadable(&error.to_string()),
        }
    }

    fn unreadable(why: &str) -> Self {
        Self { complaints: vec![format!("{AGENT_CONF} is ignored: {why}")], ..Self::parse(b"") }
    }

    /// What a file with this text says.
    pub(super) fn parse(text: &[u8]) -> Self {
        let value = |key| conf_value(text, key).map(str::to_owned);
        let wrong: Vec<String> = conf_lines(text)
            .filter_map(|(number, line)| Some((number, line.err()?)))
            .map(|(number, why)| format!("{AGENT_CONF}: line {number} is ignored: {why}"))
            .collect();
        let unreported = wrong.len().saturating_sub(REPORTED_MAX);
        let mut complaints: Vec<String> = wrong.into_iter().take(REPORTED_MAX).collect();
        if unreported > 0 {
            complaints
                .push(format!("{AGENT_CONF}: {unreported} more lines are ignored: ai config shows them"));
        }
        let provider = match conf_value(text, ConfKey::Provider) {
            Some("openai") => Provider::OpenAi,
            Some("ollama") => Provider::Ollama,
            Some("anthropic") => Provider::Anthropic,
            _ => Provider::Builtin,
        };
        Self {
            provider,
            endpoint: value(ConfKey::Endpoint),
            model: value(ConfKey::Model),
            api_key_env: value(ConfKey::ApiKeyEnv),
            timeout: Duration::from_millis(conf_timeout_ms(text).into()),
            complaints,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_who_answers_and_what_is_wrong_with_it() {
        let config = Config::parse(b"provider=ollama\nmodel=m\ntimeout_ms=1000\nnonsense\nprovider=x\n");
        assert_eq!((config.provider, config.model.as_deref()), (Provider::Ollama, Some("m")));
        assert_eq!(config.timeout, Duration::from_secs(1));
        assert_eq!(config.complaints.len(), 2);
        assert_eq!(config.complaints[0], "/disk/etc/agent.conf: line 4 is ignored: it is no key=value");
        let many = Config::parse("x\n".repeat(9).as_bytes());
        assert_eq!(many.complaints.len(), REPORTED_MAX + 1);
        assert!(many.complaints[REPORTED_MAX].contains("4 more lines"), "{many:?}");
        assert_eq!(many.provider, Provider::Builtin);
    }
}
