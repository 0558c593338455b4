//! Language models behind an interface of HTTP.
//!
//! The guest says which; the host decides what it may reach and which key goes there: [`target`]. The key is in the
//! environment of the bridge and in the request's head, and nowhere else. What comes back is checked like anything from
//! outside: [`reading`].

mod anthropic;
mod http;
mod openai;
mod prompt;
mod reading;
mod target;
#[cfg(test)]
mod tests;
mod watch;

use std::time::{Duration, Instant};

use serde_json::Value;

use super::config::{Config, Provider};
use super::patience::Patience;
use super::plan::Plan;
use super::request::Request;
use http::{Failure, Post};
use openai::Dialect;
use target::Target;

/// Most tries of one request.
const TRIES_MAX: u32 = 3;
/// Pause before the second try; before the third it is twice as long.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Longest time that an endpoint has to say something when it is only looked for.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// What is to be said of a configuration with a model.
pub(super) struct Checked {
    pub(super) endpoint: Option<String>,
    pub(super) key_variable: Option<String>,
    /// Why it could not answer now.
    pub(super) problem: Option<String>,
}

/// Whether requests could be sent: there is a model, a key if one is needed, and an endpoint that says something. It gets
/// no request and no key.
pub(super) fn check(config: &Config) -> Checked {
    let target = match Target::new(config, |name| std::env::var(name).ok()) {
        Ok(target) => target,
        Err(problem) => {
            return Checked { endpoint: config.endpoint.clone(), key_variable: None, problem: Some(problem) };
        }
    };
    let probe = || http::probe(&target, PROBE_TIMEOUT).map_err(|failure| failure.tell(&target));
    let problem = model(config).and_then(|_| probe()).err();
    let key_variable = target.key.as_ref().map(|key| key.variable.clone());
    Checked { endpoint: Some(target.shown().to_owned()), key_variable, problem }
}

fn model(config: &Config) -> Result<&str, String> {
    config.model.as_deref().ok_or_else(|| "No model is set. Set one with: ai config model NAME".into())
}

/// The plan of the model, or one that says why there is none.
pub(super) fn answer(config: &Config, request: &Request, patience: &Patience) -> Plan {
    let environment = |name: &str| std::env::var(name).ok();
    try_answer(config, request, patience, environment).unwrap_or_else(Plan::fail)
}

fn try_answer(
    config: &Config,
    request: &Request,
    patience: &Patience,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Plan, String> {
    let target = Target::new(config, environment)?;
    let model = model(config)?;
    let deadline = patience.deadline.min(Instant::now() + config.timeout);
    let patience = &Patience { deadline, ..patience.clone() };
    let text = match config.provider {
        Provider::Anthropic => {
            let reply = post(&target, &anthropic::body(model, request), patience)?;
            anthropic::text(&reply)
        }
        _ => {
            let dialect = if target.is_openai { Dialect::OpenAi } else { Dialect::Others };
            let reply = match post_once_more(&target, &openai::body(model, request, dialect), patience) {
                // Some servers know no schema.
                Err(Failure::Status { code: 400 | 422, .. }) => {
                    post(&target, &openai::body(model, request, Dialect::Plain), patience)?
                }
                other => other.map_err(|failure| failure.tell(&target))?,
            };
            if openai::is_cut(&reply) {
                return Err(format!(
                    "The answer of the model was cut: it has more than {} tokens, or the model's context is full. \
                     Nothing was done.",
                    openai::TOKENS_MAX
                ));
            }
            openai::text(&reply)
        }
    };
    let text = text.ok_or_else(|| format!("{} sent an answer without any text.", target.shown()))?;
    // A model may have been made to repeat what it was sent; the key is not for the guest.
    let plan = reading::plan(&text, |text| target.without_key(text));
    plan.map_err(|why| format!("The answer of the model cannot be used: {why}. Nothing was done."))
}

fn post(target: &Target, body: &str, patience: &Patience) -> Result<Value, String> {
    post_once_more(target, body, patience).map_err(|failure| failure.tell(target))
}

/// Tries again when the endpoint says that it is busy, as long as there is time.
fn post_once_more(target: &Target, body: &str, patience: &Patience) -> Result<Value, Failure> {
    let mut tries = 1;
    loop {
        let failure = match http::post(&Post { target, body, patience }) {
            Err(failure) if failure.is_passing() && tries < TRIES_MAX => failure,
            result => return result,
        };
        let pause = RETRY_PAUSE * tries;
        if patience.left() <= pause {
            return Err(failure);
        }
        std::thread::sleep(pause);
        tries += 1;
    }
}
