//! One request over HTTP, and what may go wrong with it.

use std::io;
use std::time::Duration;

use serde_json::Value;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, DefaultConnector};

use super::super::config::Provider;
use super::super::patience::Patience;
use super::target::Target;
use super::watch::Watch;

/// Longest answer, in bytes.
const REPLY_MAX: u64 = 1 << 20;
/// Most characters of an endpoint's own message that are passed on.
const MESSAGE_MAX: usize = 200;

/// A request.
pub(super) struct Post<'a> {
    pub(super) target: &'a Target,
    pub(super) body: &'a str,
    pub(super) patience: &'a Patience,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nobody listens there, or the connection broke.
    Unreachable(String),
    /// It took too long.
    TimedOut,
    /// It said no; the message is its own.
    Status { code: u16, message: String },
    /// It sent something else than it should.
    Nonsense(String),
}

impl Failure {
    /// Whether another try may do better.
    pub(super) const fn is_passing(&self) -> bool {
        matches!(self, Self::Status { code: 429 | 500 | 502 | 503 | 504, .. })
    }

    /// For people, with what to do. Never has the key.
    pub(super) fn tell(&self, target: &Target) -> String {
        let url = target.shown();
        let told = match self {
            Self::Unreachable(why) => {
                format!("{url} cannot be reached: {why}. Is the server running? (ai config endpoint)")
            }
            Self::TimedOut => format!("{url} did not answer in time. (ai config timeout_ms)"),
            // What they say of a key may repeat parts of it.
            Self::Status { code: code @ (401 | 403), .. } => match &target.key {
                Some(key) => {
                    format!("{url} refused the key (status {code}) that the host has in {}.", key.variable)
                }
                None => format!("{url} wants a key (status {code}). (ai config api_key_env)"),
            },
            Self::Status { code: code @ 300..=399, .. } => {
                format!("{url} leads elsewhere (status {code}), which is not followed. (ai config endpoint)")
            }
            Self::Status { code, message } if message.is_empty() => format!("{url} said no: status {code}."),
            Self::Status { code, message } => format!("{url} said no: status {code}, \"{message}\"."),
            Self::Nonsense(what) => format!("{url} talks nonsense: {what}. (ai config endpoint)"),
        };
        target.without_key(&told)
    }
}

/// Sends the request; the answer's JSON.
pub(super) fn post(request: &Post<'_>) -> Result<Value, Failure> {
    let config = config(request.target, request.patience.left())?;
    let connector = DefaultConnector::default().chain(Watch(request.patience.is_wanted.clone()));
    let agent = ureq::Agent::with_parts(config, connector, DefaultResolver::default());
    let mut call = agent.post(&request.target.url).header("content-type", "application/json");
    if request.target.provider == Provider::Anthropic {
        call = call.header("anthropic-version", "2023-06-01");
    }
    if let Some(key) = &request.target.key {
        call = match request.target.provider {
            Provider::Anthropic => call.header("x-api-key", key.value()),
            _ => call.header("authorization", format!("Bearer {}", key.value())),
        };
    }
    let mut reply = call.send(request.body).map_err(failure)?;
    let code = reply.status().as_u16();
    let body = reply.body_mut().with_config().limit(REPLY_MAX).read_to_vec().map_err(failure)?;
    let json: Result<Value, _> = serde_json::from_slice(&body);
    if code != 200 {
        return Err(Failure::Status { code, message: json.map(|json| message(&json)).unwrap_or_default() });
    }
    json.map_err(|_| Failure::Nonsense("its answer is no JSON".into()))
}

/// Whether something that speaks HTTP is there. Whatever it says is good; it is told no key.
pub(super) fn probe(target: &Target, timeout: Duration) -> Result<(), Failure> {
    let agent: ureq::Agent = config(target, timeout)?.into();
    agent.get(&target.url).call().map(drop).map_err(failure)
}

fn config(target: &Target, left: Duration) -> Result<ureq::config::Config, Failure> {
    if left.is_zero() {
        return Err(Failure::TimedOut);
    }
    let mut config = ureq::Agent::config_builder()
        .timeout_global(Some(left))
        .http_status_as_error(false)
        // A key must not follow to wherever an endpoint points.
        .max_redirects(0)
        .max_idle_connections(0);
    if target.is_local {
        config = config.proxy(None);
    }
    Ok(config.build())
}

fn failure(error: ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::TimedOut,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => Failure::TimedOut,
        ureq::Error::Io(error) => Failure::Unreachable(error.kind().to_string()),
        ureq::Error::HostNotFound => Failure::Unreachable("its name is not known".into()),
        ureq::Error::ConnectionFailed => Failure::Unreachable("the connection failed".into()),
        ureq::Error::BodyExceedsLimit(limit) => {
            Failure::Nonsense(format!("its answer has more than {limit} bytes"))
        }
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => Failure::Nonsense("its answer is no HTTP".into()),
        ureq::Error::Tls(what) => Failure::Unreachable(format!("TLS: {what}")),
        other => Failure::Unreachable(other.to_string()),
    }
}

/// The message in an endpoint's error, of whatever form.
fn message(json: &Value) -> String {
    let text = json["error"]["message"].as_str().or(json["error"].as_str()).or(json["message"].as_str());
    let visible = text.unwrap_or_default().chars().filter(|symbol| !askr_abi::is_hidden(*symbol));
    visible.take(MESSAGE_MAX).collect()
}
