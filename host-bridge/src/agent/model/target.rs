//! Where a request goes and with which key. A guest chooses endpoint and variable, so neither is taken on trust: only known
//! hosts, this machine and what `ASKR_AGENT_HOSTS` names are reached, and a key never goes in the clear to another machine.

use super::super::config::{Config, Provider};

/// The variable of the bridge's environment that names more hosts, with commas between them.
pub(super) const HOSTS_VARIABLE: &str = "ASKR_AGENT_HOSTS";

/// Where a request goes, and with which key.
pub(super) struct Target {
    pub(super) provider: Provider,
    pub(super) url: String,
    pub(super) is_local: bool,
    pub(super) is_openai: bool,
    pub(super) key: Option<Key>,
}

/// A key, and where it is from. It is never shown.
pub(super) struct Key {
    pub(super) variable: String,
    value: String,
}

impl Key {
    /// For the head of the request.
    pub(super) fn value(&self) -> &str {
        &self.value
    }
}

/// What is known of a provider: endpoint, path behind it, variable of the key.
struct Known {
    endpoint: &'static str,
    path: &'static str,
    variable: Option<&'static str>,
}

const fn known(provider: Provider) -> Known {
    match provider {
        Provider::Anthropic => Known {
            endpoint: "https://api.anthropic.com",
            path: "/v1/messages",
            variable: Some("ANTHROPIC_API_KEY"),
        },
        Provider::Ollama => {
            Known { endpoint: "http://127.0.0.1:11434/v1", path: "/chat/completions", variable: None }
        }
        Provider::OpenAi | Provider::Builtin => Known {
            endpoint: "https://api.openai.com/v1",
            path: "/chat/completions",
            variable: Some("OPENAI_API_KEY"),
        },
    }
}

/// Hosts that may be reached without being named.
const HOSTS: [&str; 2] = [OPENAI, "api.anthropic.com"];
const OPENAI: &str = "api.openai.com";

impl Target {
    /// # Errors
    /// Why there is none, for people.
    pub(super) fn new(config: &Config, environment: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let known = known(config.provider);
        let endpoint = config.endpoint.as_deref().unwrap_or(known.endpoint).trim_end_matches('/');
        let (is_secure, rest) = match endpoint.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            _ => return Err("The endpoint is no address of HTTP.".into()),
        };
        if is_secure && !cfg!(feature = "tls") {
            return Err("This bridge was built without TLS. Start it with: cargo run --features tls (or use an endpoint \
                        with http:// on this machine)"
                .into());
        }
        let authority = authority_of(rest).to_ascii_lowercase();
        let host = host_of(&authority).to_owned();
        let is_local = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        let named = environment(HOSTS_VARIABLE).unwrap_or_default();
        let is_named = named.split(',').map(str::trim).any(|name| name == host || name == authority);
        if !is_local && !is_named && !HOSTS.contains(&host.as_str()) {
            return Err(format!(
                "The host does not let its guests reach {host}. Whoever runs the bridge can allow it: \
                 {HOSTS_VARIABLE}={host} in its environment"
            ));
        }
        // The key of a provider is for that provider; nobody else gets it unless whoever runs the bridge says so.
        let is_own = config.endpoint.is_none() || host == host_of(authority_of(known.endpoint));
        let variable = config.api_key_env.as_deref().or(known.variable.filter(|_| is_own));
        if let Some(owner) = variable.and_then(owner_of).filter(|&owner| owner != host && !is_named) {
            return Err(format!(
                "The key that is meant for {owner} does not go to {host}. Use another variable, or allow it: \
                 {HOSTS_VARIABLE}={host} in the environment of the bridge"
            ));
        }
        let key = variable.map(|name| key(name, &environment)).transpose()?;
        if key.is_some() && !is_secure && !is_local {
            return Err(format!("A key does not go to {host} in the clear; the endpoint must be https://"));
        }
        let url = format!("{endpoint}{}", known.path);
        Ok(Self { provider: config.provider, url, is_local, is_openai: host == OPENAI, key })
    }

    /// For messages.
    pub(super) fn shown(&self) -> &str {
        &self.url
    }

    /// `text`, where the key is no more.
    pub(super) fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) if !key.value.is_empty() => text.replace(&key.value, "[key]"),
            _ => text.to_owned(),
        }
    }
}

fn key(variable: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Key, String> {
    let value = environment(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let value = value.ok_or_else(|| {
        format!("The variable {variable} is not set in the environment of the bridge, on the host. Set it there and start \
                 again; the guest never has the key")
    })?;
    // With a quote it would not be found in JSON, where it is taken out of.
    if !value.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\')) {
        return Err(format!("What the variable {variable} of the bridge's environment holds is no key"));
    }
    Ok(Key { variable: variable.to_owned(), value })
}

/// The host that the key in this variable is meant for, if it is one of the providers' own.
fn owner_of(variable: &str) -> Option<&'static str> {
    let providers = [Provider::Anthropic, Provider::OpenAi].map(known);
    let own = providers.into_iter().find(|known| known.variable == Some(variable))?;
    Some(host_of(authority_of(own.endpoint)))
}

/// The authority of an address, with or without its scheme.
fn authority_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// The authority without its port.
fn host_of(authority: &str) -> &str {
    let end =
        if authority.starts_with('[') { authority.find(']').map(|at| at + 1) } else { authority.find(':') };
    &authority[..end.unwrap_or(authority.len())]
}
