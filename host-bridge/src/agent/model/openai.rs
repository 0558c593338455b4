//! Chat completions, as OpenAI defined them and many have them.

use serde_json::{Value, json};

use super::super::request::Request;
use super::prompt;

/// Most tokens of an answer. A plan is shorter by far, but a model may think first; one that never ends has to be ended.
pub(super) const TOKENS_MAX: u32 = 4096;

/// What an endpoint knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAI itself: its newer models refuse a temperature, and the old name of the limit.
    OpenAi,
    /// Whoever speaks like it: llama.cpp, Ollama, vLLM and others.
    Others,
    /// The same, as long ago: what is not needed is left out.
    Plain,
}

/// The body of a request. Unless the dialect is plain, the answer is made to fit a plan.
pub(super) fn body(model: &str, request: &Request, dialect: Dialect) -> String {
    let mut messages = vec![json!({ "role": "system", "content": prompt::SYSTEM })];
    for (text, plan) in prompt::EXAMPLES {
        messages.push(json!({ "role": "user", "content": prompt::request(text) }));
        messages.push(json!({ "role": "assistant", "content": plan }));
    }
    messages.push(json!({ "role": "user", "content": prompt::user(request) }));
    let mut body = json!({ "model": model, "stream": false, "messages": messages });
    match dialect {
        Dialect::OpenAi => body["max_completion_tokens"] = TOKENS_MAX.into(),
        Dialect::Others => {
            body["max_tokens"] = TOKENS_MAX.into();
            body["temperature"] = 0.into();
        }
        Dialect::Plain => return body.to_string(),
    }
    let mut text = body.to_string();
    // The form is in an order of its own, which a value would lose.
    text.truncate(text.len() - 1);
    let schema = prompt::schema();
    text + r#","response_format":{"type":"json_schema","json_schema":{"name":"plan","schema":"#
        + &schema
        + "}}}"
}

/// What the model said.
pub(super) fn text(reply: &Value) -> Option<String> {
    Some(reply["choices"][0]["message"]["content"].as_str()?.to_owned())
}

/// Whether the model was ended before it had ended: by [`TOKENS_MAX`], or because its context was full.
pub(super) fn is_cut(reply: &Value) -> bool {
    reply["choices"][0]["finish_reason"] == "length"
}
