//! Chat completions, as OpenAI defined them and many have them.

use serde_json::{Value, json};

use super::super::request::Request;
use super::prompt;

/// The body of a request. With `schema` the answer is made to fit a plan.
pub(super) fn body(model: &str, request: &Request, schema: bool) -> Value {
    let mut body = json!({
        "model": model,
        "stream": false,
        "temperature": 0,
        "messages": [
            { "role": "system", "content": prompt::SYSTEM },
            { "role": "user", "content": prompt::user(request) },
        ],
    });
    if schema {
        body["response_format"] =
            json!({ "type": "json_schema", "json_schema": { "name": "plan", "schema": prompt::schema() } });
    }
    body
}

/// What the model said.
pub(super) fn text(reply: &Value) -> Option<String> {
    Some(reply["choices"][0]["message"]["content"].as_str()?.to_owned())
}
